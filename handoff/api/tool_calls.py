"""`POST /api/v1/tool-calls`: the one door of the tools."""

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from handoff.actions.calls import Arrival, call_tool
from handoff.api import bodies
from handoff.api.openapi import REFUSALS
from handoff.contract.payloads import ToolAnswer
from handoff.contract.turns import ToolCall
from handoff.errors import Malformed
from handoff.selectors.tokens import Caller


class ToolCalls(APIView):
    """Runs one tool for the agent whose token it is; the answer holds a sentence for the model."""

    is_tool_call = True

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        bodies.check_size(request)
        super().initial(request, *args, **kwargs)

    @extend_schema(
        operation_id="call_tool",
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
        examples=[
            OpenApiExample(
                "Hand over to a person",
                request_only=True,
                value={
                    "name": "handoff_request",
                    "conversation": {"external_id": "visitor-1234"},
                    "args": {
                        "channel_id": 1,
                        "summary": "The visitor asks where order 1234 is; I cannot see orders.",
                        "expected_action": "Look up order 1234 and fill in its status.",
                        "expected_return": [
                            {
                                "name": "order_status",
                                "type": "enum",
                                "enum_values": ["shipped", "delayed"],
                                "required": True,
                            }
                        ],
                    },
                },
            )
        ],
    )
    def post(self, request: Request) -> Response:
        value = bodies.json_object(request)
        name = value.get("name")
        if not isinstance(name, str) or not name.strip():
            raise Malformed("A tool is required.")
        call = bodies.parsed(ToolCall, {**value, "name": name.strip()})
        caller = request.auth
        assert isinstance(caller, Caller)  # noqa: S101  (HasToken has let it in)
        answer = call_tool(
            caller, Arrival(call=call, key=request.headers.get("idempotency-key", "").strip())
        )
        view = ToolAnswer(text=answer.text, is_error=answer.is_error, result=answer.result)
        response = Response(view.body())
        if answer.replayed:
            response["Idempotent-Replayed"] = "true"
        return response
