"""How data stands in a line of text: bare, or as a literal that can neither end the line nor
pass for something else (contract of the resume note).

A literal is a JSON string (RFC 8259) in which only the quote, the backslash and the control,
format, surrogate and separator characters are escaped.
"""

import unicodedata
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Final

from handoff.contract.limits import BARE_VALUE_MAX, JSON_DEPTH
from handoff.contract.text import readable

type Json = bool | int | float | str | list[Json] | dict[str, Json] | None

_ESCAPED: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_OPENERS: Final = ('"', "[", "•")
_INT_BITS_MAX: Final = 3000
"""Longer whole numbers are named, not kept: str() of them can raise (CPython, 4,300 digits)."""


def literal(text: str) -> str:
    r"""The text as a JSON string on one line: `"`, `\` and unsafe characters escaped."""
    return '"' + "".join(_escape(char) for char in text) + '"'


def bare_or_literal(text: str, *, also: str = "") -> str:
    """The text itself where that is safe, else a literal; `also` names more unsafe characters."""
    unsafe = (
        not text
        or len(text) > BARE_VALUE_MAX
        or text != text.strip()
        or text.startswith(_OPENERS)
        or any(char in also or unicodedata.category(char) in _ESCAPED for char in text)
    )
    return literal(text) if unsafe else text


def plain_number(number: float) -> str:
    """A plain decimal: no exponent, no trailing zeros, no negative zero."""
    text = f"{Decimal(repr(number)):f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def storable(raw: object, *, depth: int = JSON_DEPTH) -> Json:
    """Anything at all as plain JSON that every database takes; never raises.

    Text keeps its spaces and loses only what cannot be stored; NaN and infinities become their
    names; what is nested deeper than `depth` becomes an ellipsis.
    """
    match raw:
        case None | bool():
            return raw
        case str():
            return readable(raw)
        case int():
            return int(raw) if raw.bit_length() <= _INT_BITS_MAX else "a number too long to keep"
        case float():
            return float(raw) if abs(raw) < float("inf") else str(raw)
        case list() | tuple() | Mapping() if depth <= 0:
            return "…"
        case list() | tuple():
            return [storable(item, depth=depth - 1) for item in raw]
        case Mapping():
            return {storable_name(key): storable(raw[key], depth=depth - 1) for key in raw}
        case date() | Decimal():
            return str(raw)
        case _:
            return type(raw).__name__


def storable_name(key: object) -> str:
    """The name of a member, storable; anything but text is named by its type."""
    return readable(key) if isinstance(key, str) else type(key).__name__


def compact(raw: Json) -> str:
    """Compact JSON on one line; its strings are literals."""
    match raw:
        case None:
            return "null"
        case bool():
            return "true" if raw else "false"
        case str():
            return literal(raw)
        case int() | float():
            return plain_number(raw)
        case list():
            return "[" + ",".join(compact(item) for item in raw) + "]"
        case dict():
            members = (f"{literal(key)}:{compact(item)}" for key, item in raw.items())
            return "{" + ",".join(members) + "}"


def as_text(raw: Json) -> str:
    """A raw value as the text somebody would have typed for it."""
    return raw if isinstance(raw, str) else compact(raw)


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if unicodedata.category(char) not in _ESCAPED:
        return char
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
