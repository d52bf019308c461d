"""The tools that every agent has, for the moments in which the desk can't be asked for them.

A schema protects nothing: the desk checks every call again. What it lists itself is better, since
it names the channels that are there now.
"""

from typing import Any, Final, Literal

Format = Literal["mcp", "openai", "openai_responses", "anthropic"]
Schema = dict[str, Any]

_SESSION: Final[Schema] = {"type": "string", "description": "The handoff's id, hs_…"}
_FIELD: Final[Schema] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Letters, digits and _"},
        "type": {"enum": ["string", "multiline", "number", "boolean", "enum", "date", "url"]},
        "enum_values": {"type": "array", "items": {"type": "string"}},
        "label": {"type": "string"},
        "description": {"type": "string"},
        "required": {"type": "boolean"},
        "placeholder": {"type": "string"},
    },
    "required": ["name", "type"],
    "additionalProperties": False,
}


def _tool(name: str, description: str, required: list[str], **properties: Schema) -> Schema:
    return {
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }


TOOLS: Final = (
    _tool(
        "handoff_request",
        "Hands the conversation to a person through one of your channels. Call it when you are "
        "stuck. A refusal names the channels that are available.",
        ["channel_id", "summary", "expected_action"],
        channel_id={"type": "integer"},
        summary={
            "type": "string",
            "description": "20 to 2000 characters: what is happening, who the person is, what "
            "they need.",
        },
        expected_action={
            "type": "string",
            "description": "10 to 1000 characters: the concrete next step that you want.",
        },
        urgency={"enum": ["low", "normal", "high"]},
        contact_back_email={"type": "string"},
        include_transcript={"type": "boolean"},
        extra_context={"type": "object", "additionalProperties": {"type": "string"}},
        expected_return={
            "type": "array",
            "items": _FIELD,
            "description": "The values that you need back, at most 20.",
        },
    ),
    _tool(
        "handoff_status",
        "How a handoff stands, with the returned values once it was released.",
        ["handoff_session_id"],
        handoff_session_id=_SESSION,
    ),
    _tool(
        "handoff_cancel",
        "Ends a handoff that you asked for. Its recipient is told.",
        ["handoff_session_id"],
        handoff_session_id=_SESSION,
        reason={"type": "string"},
    ),
    _tool(
        "ask_a_person",
        "The last resort: puts one question to whoever is there for it. The answer says to whom, "
        "or that nobody could be asked.",
        ["question"],
        question={"type": "string", "description": "10 to 1000 characters."},
    ),
)


def everybodys(format: Format) -> list[Schema]:  # noqa: A002  (the name in the query)
    """Those tools as a framework wants them. Raises ValueError for an unknown format."""
    return [_shaped(tool, format) for tool in TOOLS]


def completed(listed: list[Schema]) -> list[Schema]:
    """What the desk lists, and those that it does not list yet: an agent that is built once has
    no handoff to look at then, but will have one.
    """
    names = {tool.get("name") for tool in listed}
    return [*listed, *(tool for tool in everybodys("mcp") if tool["name"] not in names)]


def _shaped(tool: Schema, format: Format) -> Schema:  # noqa: A002
    named = {"name": tool["name"], "description": tool["description"]}
    schema = tool["inputSchema"]
    if format == "mcp":
        return {**named, "inputSchema": schema}
    if format == "openai":
        return {"type": "function", "function": {**named, "parameters": schema}}
    if format == "openai_responses":
        return {"type": "function", **named, "parameters": schema}
    if format == "anthropic":
        return {**named, "input_schema": schema}
    raise ValueError("format is one of mcp, openai, openai_responses and anthropic")
