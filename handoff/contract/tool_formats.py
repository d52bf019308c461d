"""The tools in the shapes that agent frameworks take, and in the strict form of some of them."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

from handoff.contract.tools import Schema, Tool

_UNSUPPORTED: Final = frozenset({"minLength", "maxLength", "maxItems", "pattern", "format"})
"""Keywords that not every strict mode takes; the server checks what they say anyway."""
_RESULT: Final[Schema] = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "handoff_session_id": {"type": "string"},
        "handoff_event_id": {"type": "string"},
        "human_notified": {"type": "boolean"},
        "handoff": {"type": "object"},
        "error": {"type": "string"},
        "code": {"type": "string"},
        "details": {"type": "object"},
    },
}
"""What `result` of an answer may hold; other members may stand beside these."""


class ToolFormat(StrEnum):
    MCP = "mcp"
    OPENAI = "openai"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC = "anthropic"


def formatted(tools: Sequence[Tool], shape: ToolFormat, *, strict: bool) -> list[dict[str, Any]]:
    """Each tool as one framework takes it.

    In the strict form every property is required and nothing else is allowed; what may be absent
    may be null, and a record is a list of `{key, value}` (OpenAI, structured outputs).
    """
    return [_one(tool, shape, strict=strict) for tool in tools]


def _one(tool: Tool, shape: ToolFormat, *, strict: bool) -> dict[str, Any]:
    parameters = strictly(tool.parameters) if strict else tool.parameters
    named = {"name": tool.name, "description": tool.description}
    match shape:
        case ToolFormat.MCP:
            return {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": parameters,
                "outputSchema": _RESULT,
                "annotations": {
                    "title": tool.title,
                    "readOnlyHint": tool.read_only,
                    "destructiveHint": False,
                    "idempotentHint": tool.repeats_safely,
                    "openWorldHint": not tool.read_only,
                },
            }
        case ToolFormat.OPENAI:
            function = {**named, "parameters": parameters, "strict": strict}
            return {"type": "function", "function": function}
        case ToolFormat.OPENAI_RESPONSES:
            return {"type": "function", **named, "parameters": parameters, "strict": strict}
        case ToolFormat.ANTHROPIC:
            return {**named, "input_schema": parameters}


def strictly(schema: Schema) -> Schema:
    """The strict form of a schema of ours."""
    kept = {key: value for key, value in schema.items() if key not in _UNSUPPORTED}
    if schema.get("type") == "array":
        return {**kept, "items": strictly(schema["items"])}
    if schema.get("type") != "object":
        return kept
    if "properties" not in schema:
        return _pairs(kept)
    required = set(schema.get("required", ()))
    properties = {
        name: strictly(part) if name in required else _nullable(strictly(part))
        for name, part in schema["properties"].items()
    }
    return {
        **kept,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _pairs(record: Schema) -> Schema:
    value = record["additionalProperties"]
    pair = {
        "type": "object",
        "properties": {"key": {"type": "string"}, "value": value},
        "required": ["key", "value"],
        "additionalProperties": False,
    }
    rest = {key: said for key, said in record.items() if key == "description"}
    return {"type": "array", "items": pair, **rest}


def _nullable(schema: Schema) -> Schema:
    found = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        found["enum"] = [*schema["enum"], None]
    return found
