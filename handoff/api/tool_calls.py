"""`POST /api/v1/tool-calls`, and `POST /api/agent-tools/call` for bots written for OpenBot."""

from typing import Any

from drf_spectacular.utils import (
    OpenApiParameter,
    extend_schema,
    extend_schema_view,
)
from rest_framework.request import Request
from rest_framework.response import Response

from handoff.actions import throttle
from handoff.actions.calls import call_value
from handoff.api import bodies
from handoff.api.agentview import AgentView
from handoff.api.openapi import REFUSALS
from handoff.contract.payloads import ToolAnswer
from handoff.contract.turns import ToolCall
from handoff.errors import Malformed


class ToolCalls(AgentView):
    """Runs one tool for the agent whose token it is; the answer holds a sentence for the model."""

    is_tool_call = True
    tool = ""
    """The name of the called tool, once it was read."""
    has_limits = frozenset({"POST"})

    @extend_schema(
        operation_id="call_tool",
        summary="Call a tool",
        description="Show `text` to your model as it is; `result` is for your program. A refusal "
        "starts with `Refused.` and names all problems at once; it is a 200, since the desk "
        "understood the call. Without a `conversation` a handoff is detached: nobody's messages "
        "are redirected, and the answer comes back to you.",
        tags=["tools"],
        request=ToolCall,
        parameters=[
            OpenApiParameter(
                "Idempotency-Key",
                str,
                OpenApiParameter.HEADER,
                description="At most 255 characters. The same key contacts a person once.",
            )
        ],
        responses={200: ToolAnswer, **REFUSALS},
    )
    def post(self, request: Request) -> Response:
        with throttle.counting(self.known, has_limit=True):
            value = _named(bodies.json_object(request))
        self.tool = value["name"]
        key = request.headers.get("idempotency-key", "").strip()
        answer = call_value(self.known, value, key=key)
        view = ToolAnswer(text=answer.text, is_error=answer.is_error, result=answer.result)
        response = Response(view.body())
        if answer.replayed:
            response["Idempotent-Replayed"] = "true"
        return response


def _named(value: dict[str, Any]) -> dict[str, Any]:
    """The call with its name trimmed; raises Malformed when there is none."""
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        raise Malformed("A tool is required.")
    return {**value, "name": name.strip()}


@extend_schema_view(
    post=extend_schema(
        operation_id="call_tool_openbot",
        summary="Call a tool, as bots written for OpenBot do",
        description="The same for bots written for OpenBot: `{name, args, run}`, and the token "
        "also as `x-openbot-agent-token`.",
    )
)
class OpenBotCalls(ToolCalls):
    """The address that bots written for OpenBot post to."""
