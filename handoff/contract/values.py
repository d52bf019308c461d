"""The values that come back: best-effort cleaning against the fields that were asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType
from handoff.contract.limits import MULTILINE_MAX, VALUE_MAX
from handoff.contract.literals import Json, storable, storable_name
from handoff.contract.scalars import (
    Scalar,
    Unusable,
    boolean,
    day,
    member,
    number,
    prose,
    url,
)


@dataclass(frozen=True)
class Missing:
    """A field that nobody filled."""

    name: str
    required: bool


@dataclass(frozen=True)
class Invalid:
    """A field whose value its type cannot take: what was sent, and why not."""

    name: str
    raw: Json
    reason: str


@dataclass(frozen=True)
class Returned:
    """What came back. Each field asked for is in exactly one of values, missing and invalid.

    All three are in the order of the fields; `unknown` holds what nobody asked for.
    """

    values: dict[str, Scalar] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    invalid: tuple[Invalid, ...] = ()
    unknown: dict[str, Json] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """`{values: {name: typed}, missing: [{name, required}], invalid: [{name, raw, reason}],
        unknown: {name: raw}}`: the same shape in rows, events and answers."""
        return {
            "values": dict(self.values),
            "missing": [asdict(item) for item in self.missing],
            "invalid": [asdict(item) for item in self.invalid],
            "unknown": dict(self.unknown),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The reverse of as_json(); absent parts are empty."""
        return cls(
            values=dict(data.get("values") or {}),
            missing=tuple(Missing(**item) for item in data.get("missing") or ()),
            invalid=tuple(Invalid(**item) for item in data.get("invalid") or ()),
            unknown=dict(data.get("unknown") or {}),
        )


def clean_values(
    fields: Sequence[ReturnField], raw: Mapping[str, object], *, locale: str = "en"
) -> Returned:
    """Sort what was sent into values, missing, invalid and unknown; never raises.

    `locale` (a BCP 47 tag) is that of the page on which it was typed: numbers and dates are read
    in its form as well as in the plain one.
    """
    values: dict[str, Scalar] = {}
    missing: list[Missing] = []
    invalid: list[Invalid] = []
    for asked in fields:
        sent = storable(raw.get(asked.name))
        if _is_blank(sent):
            missing.append(Missing(asked.name, required=asked.required))
            continue
        try:
            values[asked.name] = _read(asked, sent, locale=locale)
        except Unusable as problem:
            invalid.append(Invalid(asked.name, raw=sent, reason=problem.reason.value))
    names = {asked.name for asked in fields}
    unknown = {
        storable_name(name): storable(value) for name, value in raw.items() if name not in names
    }
    return Returned(values, tuple(missing), tuple(invalid), unknown)


def _is_blank(sent: Json) -> bool:
    return not sent.strip() if isinstance(sent, str) else sent is None or sent in ([], {})


def _read(asked: ReturnField, sent: Json, *, locale: str) -> Scalar:
    match asked.type:
        case FieldType.STRING:
            return prose(sent, most=VALUE_MAX)
        case FieldType.MULTILINE:
            return prose(sent, most=MULTILINE_MAX)
        case FieldType.NUMBER:
            return number(sent, locale=locale)
        case FieldType.BOOLEAN:
            return boolean(sent)
        case FieldType.ENUM:
            return member(sent, choices=asked.enum_values)
        case FieldType.DATE:
            return day(sent, locale=locale)
        case FieldType.URL:
            return url(sent)
