"""A strict JSON reader for bodies from outside (RFC 8259 with the I-JSON limits of RFC 7493).

The standard reader takes duplicate names, NaN, `1e400` and lone surrogates in silence, and ends
deep nesting with a RecursionError.
"""

import json
import math
import re
from typing import Any, Final

from handoff.contract.limits import JSON_DEPTH
from handoff.contract.text import one_line

_DIGITS_MAX: Final = 400
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A whole string, closed or not, or a bracket: possessive, so that no body takes long."""

_UNKEPT: Final = re.compile("[\x00\ud800-\udfff]")
_KEY_SHOWN: Final = 64


class JSONProblem(ValueError):
    """A body that is not readable; the message is one sentence that says why."""


def loads(body: bytes, *, depth: int = JSON_DEPTH) -> object:
    """The value of a JSON body.

    Raises JSONProblem unless it is UTF-8, nested at most `depth` levels (checked before
    decoding), free of repeated names, of numbers that JSON or a float cannot hold, and of NUL and
    lone surrogates in names and texts.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JSONProblem(f"The body is not UTF-8: byte {error.start} cannot be read.") from error
    _check_depth(text, depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_float=_decimal,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise JSONProblem(
            f"The body is not JSON: line {error.lineno}, column {error.colno} cannot be read."
        ) from error
    except RecursionError as error:
        raise JSONProblem("The body is nested too deeply.") from error
    _check_text(value, where="")
    return value


def _check_depth(text: str, most: int) -> None:
    depth = 0
    for token in _TOKEN.finditer(text):
        mark = token.group()
        depth += (mark in "[{") - (mark in "]}")
        if depth > most:
            raise JSONProblem(f"The body is nested more than {most} levels deep.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise JSONProblem(f"The name {_shown(key)} stands twice in one object.")
        seen.add(key)
    return members


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise JSONProblem(f"A number has more than {_DIGITS_MAX} digits.")
    return int(digits)


def _decimal(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise JSONProblem("A number is too large.")
    return value


def _constant(name: str) -> object:
    raise JSONProblem(f"{name} is not a JSON number.")


def _check_text(value: object, *, where: str) -> None:
    if isinstance(value, str):
        if found := _UNKEPT.search(value):
            kind = "a NUL character" if found.group() == "\x00" else "half of a surrogate pair"
            raise JSONProblem(f"The text at {where or 'the top'} holds {kind}.")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_text(item, where=f"{where}.{place}".lstrip("."))
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = f"{where}.{_shown(key)}".lstrip(".")
            if _UNKEPT.search(key):
                raise JSONProblem(f"The name {inner} holds a character that cannot be stored.")
            _check_text(item, where=inner)


def _shown(key: str) -> str:
    return one_line(key)[:_KEY_SHOWN]
