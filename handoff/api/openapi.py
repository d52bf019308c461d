"""What every operation of the OpenAPI document shares, and the routes that are not DRF views."""

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from handoff.api.auth import TokenAuthentication
from handoff.contract import limits
from handoff.contract.payloads import Problem, ProblemDetails

_REFUSED: Final = {
    400: "Not readable, or not usable: all problems at once.",
    401: "Not authorised.",
    403: "Another agent's thing.",
    404: "There is no such thing.",
    405: "Not a method of this resource.",
    413: "The body is too large.",
    429: "Too many calls: `Retry-After` says when to call.",
    500: "The desk broke. A tool call says so in a 200 instead.",
    503: "The desk can't work now: nobody was contacted.",
}


def _refusals(words: Mapping[int, str]) -> dict[tuple[int, str], OpenApiResponse]:
    return {
        (status, media_type): OpenApiResponse(shape, description=said)
        for status, said in words.items()
        for media_type, shape in (
            ("application/json", Problem),
            ("application/problem+json", ProblemDetails),
        )
    }


REFUSALS: Final = _refusals(_REFUSED)
REUSED: Final = _refusals({409: "The client_id was used for another turn."})
OPENBOT_CALLS: Final = "/api/agent-tools/call"
PAGE_PARAMETERS = [
    OpenApiParameter(
        "after",
        {"type": "integer", "minimum": 0, "maximum": limits.EVENT_ID_MAX, "default": 0},
        description="Only what comes after this number.",
    ),
    OpenApiParameter(
        "limit",
        {
            "type": "integer",
            "minimum": 1,
            "maximum": limits.PAGE_MAX,
            "default": limits.PAGE_DEFAULT,
        },
        description="How many at most.",
    ),
]


def add_waiting_routes(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """The waiting routes run outside Django's handlers, so they are described here."""
    result.setdefault("paths", {}).update(_waiting())
    return result


def add_openbot_token(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """The header that a token may come in beside the usual one, at the door of OpenBot's bots."""
    result["components"]["securitySchemes"]["openbotToken"] = {
        "type": "apiKey",
        "in": "header",
        "name": "x-openbot-agent-token",
        "description": "An agent's API token, as bots written for OpenBot send it.",
    }
    result["paths"][OPENBOT_CALLS]["post"]["security"].append({"openbotToken": []})
    return result


def _number() -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": limits.EVENT_ID_MAX}


def _waiting() -> dict[str, Any]:
    after = {
        "name": "after",
        "in": "query",
        "schema": {**_number(), "default": 0},
        "description": "The last event number you have.",
    }
    seconds = {
        "name": "seconds",
        "in": "query",
        "schema": {
            "type": "number",
            "minimum": 0,
            "maximum": limits.WAIT_SECONDS_MAX,
            "default": limits.WAIT_SECONDS_MAX,
        },
        "description": "How long to wait at most.",
    }
    handoff_id = {
        "name": "public_id",
        "in": "path",
        "required": True,
        "schema": {"type": "string"},
    }
    last_event = {
        "name": "Last-Event-ID",
        "in": "header",
        "schema": {"type": "integer", "minimum": 0, "maximum": limits.EVENT_ID_MAX},
        "description": "As EventSource sends it after a reconnect; goes before `after`.",
    }
    return {
        "/api/v1/wait/events": _get(
            "wait_events",
            "Wait for events",
            "The same page as /api/v1/events, as soon as there is something; empty at the end.",
            [after, seconds],
            _json("EventPage"),
        ),
        "/api/v1/wait/handoffs/{public_id}": _get(
            "wait_handoff",
            "Wait for a handoff",
            "As soon as an event about it comes after `after`, or as it is at the end; without "
            "`after`, as soon as the next one comes. An ended one is answered at once.",
            [handoff_id, {**after, "schema": _number()}, seconds],
            _json("HandoffView"),
        ),
        "/api/v1/wait/stream": _get(
            "stream_events",
            "Stream the event log",
            "As server-sent events: `id` is the event's number, `data` the event. A comment line "
            "comes every 15 seconds.",
            [after, last_event],
            {"text/event-stream": {"schema": _server_sent()}},
        ),
    }


def _server_sent() -> dict[str, Any]:
    """One event of a stream, as its fields are read."""
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"$ref": "#/components/schemas/EventView"},
    }
    number = {"type": "string", "pattern": "^[0-9]+$"}
    return {
        "type": "object",
        "properties": {"id": number, "event": {"type": "string"}, "data": data},
        "required": ["id", "event", "data"],
    }


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _get(
    operation: str,
    summary: str,
    description: str,
    parameters: list[dict[str, Any]],
    content: dict[str, Any],
) -> dict[str, Any]:
    refusals = {
        str(status): {"description": words, "content": _json("Problem")}
        for status, words in (
            (400, "A parameter can't be used."),
            (401, "Not authorised."),
            (403, "Another agent's handoff."),
            (404, "There is no such handoff."),
            (405, "Only GET is answered here."),
            (429, "Too many calls with a wrong token."),
            (500, "The desk broke."),
            (503, "The desk can't work now."),
        )
    }
    return {
        "get": {
            "operationId": operation,
            "tags": ["waiting"],
            "summary": summary,
            "description": description,
            "parameters": parameters,
            "security": [{"agentToken": []}],
            "responses": {"200": {"description": "", "content": content}, **refusals},
        }
    }


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "agentToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "An agent's API token."}
