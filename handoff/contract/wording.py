"""What a validation error says, in our words: each continues the name of the field."""

from typing import Any, Final

import pydantic

_WORDS: Final = {
    "missing": "is required",
    "extra_forbidden": "is not known here",
    "string_type": "must be a text",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "literal_error": "must be one of {expected}",
    "enum": "must be one of {expected}",
    "string_pattern_mismatch": "has a form that can't be used",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "datetime_parsing": "must be a time such as 2026-06-10T12:00:00Z",
    "datetime_from_date_parsing": "must be a time such as 2026-06-10T12:00:00Z",
    "datetime_type": "must be a time such as 2026-06-10T12:00:00Z",
    "timezone_aware": "must be a time with its zone, such as 2026-06-10T12:00:00Z",
}


def problems_of(error: pydantic.ValidationError) -> list[dict[str, str]]:
    """Every problem as `{field, problem}`; the value itself is never repeated."""
    return [
        {
            "field": ".".join(str(part) for part in item["loc"]) or "body",
            "problem": _problem(item["type"], item.get("ctx", {}), item["msg"]),
        }
        for item in error.errors(include_url=False, include_input=False)
    ]


def _problem(kind: str, context: dict[str, Any], message: str) -> str:
    least, most = context.get("min_length"), context.get("max_length")
    # A length after a validator of ours is told as that of a collection.
    text = kind.startswith("string_") or context.get("field_type") == "Value"
    what = "characters" if text else "entries"
    if kind.endswith("too_short"):
        return "must not be blank" if least == 1 else f"must have at least {least} {what}"
    if kind.endswith("too_long"):
        return f"must have at most {most} {what}"
    if kind in _WORDS:
        return _WORDS[kind].format(**context)
    return message.removeprefix("Value error, ")
