"""JSON Schemas as words: what a field may be, in pieces that a page can link and set as code."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

type Schema = Mapping[str, Any]

_PLACE: Final = "#/components/schemas/"
_TYPES: Final = {"integer": "whole number", "boolean": "true or false"}
_FORMATS: Final = {
    "date-time": "time",
    "date": "date",
    "email": "email address",
    "uri": "address",
    "binary": "bytes",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Piece:
    """Some words; `schema` names what they link to."""

    text: str
    is_code: bool = False
    schema: str = ""


type Words = tuple[Piece, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Field:
    name: str
    kind: Words
    is_required: bool
    limits: str
    said: Words
    place: str = ""
    """Of a parameter: path, query or header."""


def prose(text: str) -> Words:
    """A description, in which backticks stand around code and a blank line is a space."""
    parts = " ".join(text.split()).split("`")
    return tuple(
        Piece(text=part, is_code=number % 2 == 1) for number, part in enumerate(parts) if part
    )


def fields(schema: Schema) -> tuple[Field, ...]:
    """The members of an object."""
    required = set(schema.get("required", ()))
    return tuple(
        Field(
            name=name,
            kind=kind(part),
            is_required=name in required,
            limits=limits(part),
            said=prose(part.get("description", "")),
        )
        for name, part in schema.get("properties", {}).items()
    )


def name_of(schema: Schema) -> str:
    """The name of a schema that is only pointed at; "" for one that stands here."""
    return str(schema.get("$ref", "")).removeprefix(_PLACE)


def kind(schema: Schema) -> Words:
    """`list of EventView`, `text or null`, `one of low, high`."""
    if name := name_of(schema):
        return (Piece(text=name, schema=name),)
    if choices := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return tuple(_joined([kind(choice) for choice in choices], " or "))
    if "const" in schema:
        return (Piece(text=str(schema["const"]), is_code=True),)
    if "enum" in schema:
        members = [(Piece(text=str(member), is_code=True),) for member in schema["enum"]]
        return (Piece(text="one of "), *_joined(members, ", "))
    return _plain(schema)


def _plain(schema: Schema) -> Words:
    named = schema.get("type", "anything")
    if isinstance(named, list):
        return tuple(_joined([_plain({**schema, "type": one}) for one in named], " or "))
    if named == "array":
        return (Piece(text="list of "), *kind(schema.get("items", {})))
    if named == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return (Piece(text="record of "), *kind(schema["additionalProperties"]))
    if named == "string":
        return (Piece(text=_FORMATS.get(schema.get("format", ""), "text")),)
    return (Piece(text=_TYPES.get(named, str(named))),)


def _joined(parts: Sequence[Words], between: str) -> Iterator[Piece]:
    for number, part in enumerate(parts):
        if number:
            yield Piece(text=between)
        yield from part


def limits(schema: Schema) -> str:
    """`1 to 64 characters`, `0 to 200, default 50`; "" when there are none worth a word."""
    said: list[str] = []
    for part in (schema, *schema.get("anyOf", ())):
        said += _range(part, "minLength", "maxLength", " characters")
        said += _range(part, "minItems", "maxItems", " items")
        said += _range(part, "minimum", "maximum", "")
    if schema.get("default") not in (None, {}, []):
        said.append(f"default {schema['default']}")
    return ", ".join(said)


def _range(schema: Schema, least: str, most: str, unit: str) -> Iterator[str]:
    low, high = schema.get(least), schema.get(most)
    if high is not None and low:
        yield f"{low} to {high}{unit}"
    elif high is not None and high < 10**12:  # more is every number that there is
        yield f"at most {high}{unit}"
    elif low:
        yield f"at least {low}{unit}"
