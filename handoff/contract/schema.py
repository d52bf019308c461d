"""The JSON Schema of an answer: flat, so that MCP elicitation and AG-UI take it as it is.

MCP allows one level of primitive properties with `type`, `title`, `description`, `enum`,
`format` and lengths (modelcontextprotocol.io, client/elicitation).
"""

from collections.abc import Sequence
from typing import Any

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType
from handoff.contract.limits import MULTILINE_MAX, URL_MAX, VALUE_MAX


def return_schema(fields: Sequence[ReturnField]) -> dict[str, Any]:
    """`{type: object, properties: {…in the order of the fields}, required: […]}`."""
    return {
        "type": "object",
        "properties": {asked.name: _property(asked) for asked in fields},
        "required": [asked.name for asked in fields if asked.required],
    }


def _property(asked: ReturnField) -> dict[str, Any]:
    described = {"title": asked.label, "description": _description(asked)}
    return _kind(asked) | {key: text for key, text in described.items() if text}


def _kind(asked: ReturnField) -> dict[str, Any]:
    match asked.type:
        case FieldType.STRING:
            return {"type": "string", "maxLength": VALUE_MAX}
        case FieldType.MULTILINE:
            return {"type": "string", "maxLength": MULTILINE_MAX}
        case FieldType.NUMBER:
            return {"type": "number"}
        case FieldType.BOOLEAN:
            return {"type": "boolean"}
        case FieldType.ENUM:
            return {"type": "string", "enum": list(asked.enum_values)}
        case FieldType.DATE:
            return {"type": "string", "format": "date"}
        case FieldType.URL:
            return {"type": "string", "format": "uri", "maxLength": URL_MAX}


def _description(asked: ReturnField) -> str:
    example = f"For example, {asked.placeholder}" if asked.placeholder else ""
    return "\n".join(text for text in (asked.description, example) if text)
