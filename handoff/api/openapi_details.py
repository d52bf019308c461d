"""What makes the OpenAPI document worth reading: groups, examples, headers, and the health routes.

These are hooks of drf-spectacular; they run after the document was made from the views.
"""

from typing import Any, Final

from handoff.api import examples
from handoff.api.field_words import FIELDS

TAGS: Final = {
    "tools": "What your model may do now, and the one call that does it.",
    "conversations": "A visitor's lines, and whose turn it is.",
    "handoffs": "What you asked people for, and what came back.",
    "events": "Everything that happened, in one order.",
    "waiting": "The same, as soon as there is something. None of these keeps a thread of the desk.",
    "files": "What visitors and people attach.",
    "inbox": "What other agents handed to you.",
    "webhooks": "The same events, posted to you.",
    "agent": "Who you are, and whom you can reach.",
    "operating": "For load balancers; no token needed.",
}
"""The groups, in the order of reading; one without an operation is left out."""
_DONE: Final = {
    "200": "Done.",
    "201": "Made.",
    "202": "Taken on.",
    "204": "Gone.",
    "304": "What you have still holds.",
}
_UNSAID: Final = frozenset({"", "No response body"})
_HEADERS: Final = {
    "401": {"WWW-Authenticate": "Always `Bearer`."},
    "405": {"Allow": "The methods of this address."},
    "429": {"Retry-After": "Whole seconds."},
    "503": {"Retry-After": "Whole seconds."},
}
_OWN_HEADERS: Final = {
    ("call_tool", "200"): {"Idempotent-Replayed": "`true`: this key was answered before."},
    ("list_tools", "200"): {"ETag": "For `If-None-Match`."},
    ("list_tools", "304"): {"ETag": "For `If-None-Match`."},
}
_IDS: Final = {
    "/conversations/": ("A conversation's id, `c_…`.", examples.CONVERSATION_ID),
    "/handoffs/": ("A handoff's id, `hs_…`.", examples.HANDOFF_ID),
    "/webhooks/": ("A webhook's id, `wh_…`.", "wh_5rhupq5bmtg5sptfjj3e2roq5m"),
    "/files/": ("A file's id, `f_…`.", "f_ci45l2es6kywie253qknzrcfoe"),
    "/inbox/": ("The id of a handoff that was given to you, `hs_…`.", examples.GIVEN_ID),
}
_TOOL_CALLS: Final = frozenset({"call_tool", "call_tool_openbot"})
PROBLEM: Final = "application/problem+json"
_PHRASES: Final = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Content Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


def add_details(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """Every operation with its examples and the headers of its answers, in groups."""
    result["paths"].update(_health())
    used = set()
    for path, methods in result["paths"].items():
        for operation in methods.values():
            used.update(operation["tags"])
            _describe(operation)
            _name_ids(path, operation)
    result["tags"] = [
        {"name": name, "description": said} for name, said in TAGS.items() if name in used
    ]
    result["components"]["examples"] = _shared()
    for name, fields in FIELDS.items():
        for field, said in fields.items():
            result["components"]["schemas"][name]["properties"][field]["description"] = said
    return result


def _describe(operation: dict[str, Any]) -> None:
    name = operation["operationId"]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        _show(content, examples.REQUESTS.get(name))
    for status, answer in operation["responses"].items():
        if answer["description"] in _UNSAID:
            answer["description"] = _DONE.get(status, "")
        headers = _OWN_HEADERS.get((name, status)) or _HEADERS.get(status, {})
        if headers:
            answer["headers"] = {
                header: {"description": said, "schema": {"type": "string"}}
                for header, said in headers.items()
            }
        own = examples.ANSWERS.get(name, {}).get(int(status))
        for media_type, content in answer.get("content", {}).items():
            if own is not None:
                _show(content, own)
            elif int(status) in examples.PROBLEMS:
                content["examples"] = _refused(name, status, media_type)


def _name_ids(path: str, operation: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            for place, (said, example) in _IDS.items():
                if place in path:
                    parameter.update(description=said, example=example)


def _show(content: dict[str, Any], value: object) -> None:
    if value is not None:
        content["examples"] = {"example": {"value": value}}


def _refused(operation: str, status: str, media_type: str) -> dict[str, Any]:
    kind = "problem" if media_type == PROBLEM else "refusal"
    named = {f"{kind}{status}": {"$ref": f"#/components/examples/{kind}{status}"}}
    if operation in _TOOL_CALLS and status == "503":
        lost = f"{kind}Unrecorded"
        named[lost] = {"$ref": f"#/components/examples/{lost}"}
    return named


def _shared() -> dict[str, Any]:
    """The refusals, once for all operations, in both media types."""
    said = {str(status): (status, body) for status, body in examples.PROBLEMS.items()}
    said["Unrecorded"] = (503, examples.UNRECORDED)
    shared = {}
    for name, (status, body) in said.items():
        shared[f"refusal{name}"] = {"value": body}
        shared[f"problem{name}"] = {
            "value": {
                **body,
                "type": "about:blank",
                "title": _PHRASES[status],
                "status": status,
                "detail": body["error"],
            }
        }
    return shared


def _health() -> dict[str, Any]:
    return {
        "/healthz": _status(
            "healthz", "Is the process alive", "Answered even while every thread is busy.", {}
        ),
        "/readyz": _status(
            "readyz",
            "Can it work",
            "Not before what a killed process left behind was taken up, nor while the database "
            "or the trail is down, nor while it stops.",
            {"503": "Not now; `status` says why."},
        ),
    }


def _status(operation: str, summary: str, description: str, more: dict[str, str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"status": {"type": "string"}},
        "required": ["status"],
        "additionalProperties": False,
    }
    answered = {"200": "Yes.", **more}
    return {
        "get": {
            "operationId": operation,
            "tags": ["operating"],
            "summary": summary,
            "description": description,
            "security": [],
            "responses": {
                status: {"description": said, "content": {"application/json": {"schema": schema}}}
                for status, said in answered.items()
            },
        }
    }
