"""`POST /mcp`: the tools for any MCP client, as a stateless JSON-RPC endpoint (Streamable HTTP)."""

from collections.abc import Mapping
from typing import Any, Final

from django.db import Error as DatabaseError
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from handoff.actions import throttle
from handoff.api.agentview import AgentView
from handoff.api.problems import noted
from handoff.contract import answers
from handoff.contract.answers import Answer
from handoff.errors import HandoffError, NotAuthorised, NotYours, TooLarge
from handoff.mcp import messages, methods
from handoff.mcp.messages import INTERNAL_ERROR, Message, RpcError
from handoff.realtime.origins import may_call

_AT_THE_DOOR: Final = (NotAuthorised, TooLarge)
"""What has an HTTP answer of its own; every other refusal of a call is an answer to the model."""


@extend_schema(exclude=True)
class Mcp(AgentView):
    """One JSON-RPC message in, one JSON answer out; a notification gets 202 and no body."""

    http_method_names = ["post"]
    has_limits = frozenset({"POST"})
    is_tool_call = True
    tool = ""

    def post(self, request: Request) -> Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self._check_origin(headers)
        try:
            message = messages.read(request._request.body, headers)
            if message.is_notification:
                return Response(status=202)
            return Response(messages.result_of(message, self._answer(message, headers)))
        except RpcError as error:
            throttle.take_call(self.known)
            return Response(messages.error_of(error), status=error.status)

    def _answer(self, message: Message, headers: Mapping[str, str]) -> dict[str, Any]:
        if message.method != "tools/call":
            throttle.take_call(self.known)
            return methods.answer(message, self.known, headers)
        self.tool = str(message.params.get("name") or "")
        try:
            return methods.answer(message, self.known, headers)
        except (RpcError, *_AT_THE_DOOR):
            raise
        except (HandoffError, DatabaseError) as error:
            return methods.content(self._told(error))

    def handle_exception(self, exc: Exception) -> Response:
        """As of every view; what the desk broke on its own is an error of JSON-RPC, too."""
        response = super().handle_exception(exc)
        if response.status_code == 200:  # the answer of a tool call, which this is not
            response.data = messages.error_of(RpcError(INTERNAL_ERROR, response.data["text"]))
        return response

    def _told(self, error: Exception) -> Answer:
        """What a call met at the door of the desk, as an answer to the model."""
        known = noted(error, {"view": self, "request": self.request})
        if known is None:
            return answers.desk_fault()
        said = {"error": known.sentence, "code": known.code}
        text = known.sentence if known.status >= 500 else f"Refused. {known.sentence}"
        return Answer(text=text, is_error=True, result={**said, "details": known.details})

    def _check_origin(self, headers: Mapping[str, str]) -> None:
        """Raises NotYours for a page that is neither ours nor on the agent's list."""
        if not may_call(headers.get("origin", ""), self.agent.allowed_origins):
            raise NotYours
