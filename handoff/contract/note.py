"""The resume note: its first line for reading, its data lines for reading and parsing.

No value, label or message can open a bullet, a block, a line or a second note.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from handoff.contract.fields import NAME_PATTERN, ReturnField
from handoff.contract.kinds import FieldType, Outcome, ReleaseKind
from handoff.contract.limits import IDLE_MINUTES, LISTED_ITEM_CHARS_MAX, LISTED_ITEMS_MAX
from handoff.contract.literals import Json, bare_or_literal, compact, literal, plain_number
from handoff.contract.scalars import Scalar
from handoff.contract.text import one_line
from handoff.contract.values import Returned

_BULLET: Final = "  • "
_HEADING: Final = "Returned data:"
_TAIL: Final = ("Not filled: ", "Not usable: ", "Also sent: ")


def first_line(
    kind: ReleaseKind,
    *,
    label: str,
    outcome: Outcome | None,
    message: str,
    idle_minutes: int | None = None,
    open_until: datetime | None = None,
    unreachable: bool = False,
) -> str:
    """The first line of the note for one kind of release.

    `label` is the channel's; without an outcome it is `resolved`. `message` is the recipient's
    message or the reason of a cancel. `idle_minutes` is the channel's clock and `open_until`
    (aware) the end of a live link, both for `idle_timeout`; `unreachable` is for `lost`.
    """
    channel = one_line(label)
    back = f"has handed control back. {_outcome(outcome)}"
    match kind:
        case ReleaseKind.AGENT:
            return _bracketed("Bot resumed", f"the sibling agent {back}", message)
        case ReleaseKind.FORM | ReleaseKind.TOKEN:
            return _bracketed("Bot resumed", f"the recipient ({channel}) {back}", message)
        case ReleaseKind.OWNER:
            return _bracketed("Bot resumed", f"the owner {back}", message)
        case ReleaseKind.SUBSCRIBER:
            said = "the visitor asked to be back with the bot."
        case ReleaseKind.IDLE_TIMEOUT:
            said = _idle(channel, idle_minutes or IDLE_MINUTES, open_until)
        case ReleaseKind.CANCELLED:
            return _bracketed("Bot resumed", "the handoff was cancelled.", message)
        case ReleaseKind.UNDELIVERABLE:
            said = f"the message to {channel} could not be delivered."
        case ReleaseKind.LOST if unreachable:
            said = "the sibling agent can no longer be reached."
        case ReleaseKind.LOST:
            said = "the sibling agent never answered."
        case ReleaseKind.EXPIRED:
            said = "the form closed without an answer."
    return _bracketed("Bot resumed", said)


def late_first_line(*, label: str, outcome: Outcome | None, message: str, was_unknown: bool) -> str:
    """The first line of a late return; `was_unknown` when the session was `unknown` until now."""
    answered = (
        "answered; it had not been known whether they were reached."
        if was_unknown
        else "answered after control was handed back."
    )
    said = f"the recipient ({one_line(label)}) {answered} {_outcome(outcome)}"
    return _bracketed("Late return", said, message)


def data_lines(fields: Sequence[ReturnField], returned: Returned) -> str:
    """The lines after the first, in the order of the fields; empty when there is nothing to say.

    At most 20 items stand after `Not usable` and `Also sent`, each cut at 200 characters; the
    typed JSON of the same answer has all of it.
    """
    lines = [
        f"{_BULLET}{asked.name}: {_value(returned.values[asked.name])}"
        for asked in fields
        if asked.name in returned.values
    ]
    if lines:
        lines.insert(0, _HEADING)
    rest = remarks(fields, returned)
    return "\n".join([*lines, rest] if rest else lines)


def remarks(fields: Sequence[ReturnField], returned: Returned) -> str:
    """What was not filled, not usable and also sent; empty when there is nothing to say."""
    place = {asked.name: number for number, asked in enumerate(fields)}
    last = len(place)
    missing = sorted(returned.missing, key=lambda item: place.get(item.name, last))
    invalid = sorted(returned.invalid, key=lambda item: place.get(item.name, last))
    listed = (
        [f"{_name(item.name)}{' (required)' * item.required}" for item in missing],
        [f"{_name(item.name)} {_raw(item.raw)} ({item.reason})" for item in invalid],
        [f"{_name(name)} {_raw(raw)}" for name, raw in returned.unknown.items()],
    )
    return "\n".join(
        f"{opening}{', '.join(items[:LISTED_ITEMS_MAX])}."
        for opening, items in zip(_TAIL, listed, strict=True)
        if items
    )


def parse_data(fields: Sequence[ReturnField], text: str) -> dict[str, Scalar]:
    """Read the values back from data_lines(); raises ValueError on any line that is not its own."""
    types = {asked.name: asked.type for asked in fields}
    values: dict[str, Scalar] = {}
    lines = text.split("\n") if text else []
    for line in lines:
        name, colon, said = line.removeprefix(_BULLET).partition(": ")
        if line == _HEADING or line.startswith(_TAIL):
            continue
        if not (line.startswith(_BULLET) and colon and name in types and name not in values):
            raise ValueError(f"not a line of returned data: {line[:80]!r}")
        values[name] = _typed(types[name], said)
    return values


def expected_return_block(fields: Sequence[ReturnField]) -> str:
    """The `[EXPECTED RETURN SCHEMA]` block for a sibling agent; empty without fields."""
    if not fields:
        return ""
    shape = ", ".join(f'"{asked.name}": …' for asked in fields)
    return "\n".join(
        [
            "[EXPECTED RETURN SCHEMA]",
            *(_described(asked) for asked in fields),
            f"To answer, call handoff_release with return_values: {{{shape}}}",
        ]
    )


def _described(asked: ReturnField) -> str:
    required = ", required" if asked.required else ""
    prose = " — ".join(_part(text) for text in (asked.label, asked.description) if text)
    choices = " | ".join(_part(choice) for choice in asked.enum_values)
    parts = [text for text in (prose, f"one of {choices}" if choices else "") if text]
    described = f": {'; '.join(parts)}" if parts else ""
    return f"{asked.name} ({asked.type}{required}){described}"


def _part(text: str) -> str:
    return bare_or_literal(text, also="|;")


def _outcome(outcome: Outcome | None) -> str:
    return f"Outcome: {outcome or Outcome.RESOLVED}."


def _idle(channel: str, minutes: int, open_until: datetime | None) -> str:
    unit = "minute" if minutes == 1 else "minutes"
    said = f"nothing was heard from the recipient ({channel}) for {minutes} {unit}."
    if open_until is None:
        return said
    return f"{said} The form stays open until {open_until.astimezone(UTC):%Y-%m-%d %H:%M} UTC."


def _bracketed(opening: str, said: str, message: str = "") -> str:
    return f"[{opening} — {f'{said} {one_line(message)}'.strip()}]"


def _value(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return bare_or_literal(value) if isinstance(value, str) else plain_number(value)


def _name(name: str) -> str:
    return name if NAME_PATTERN.fullmatch(name) else literal(_cut(name))


def _raw(raw: Json) -> str:
    if isinstance(raw, str):
        return literal(_cut(raw))
    text = compact(raw)
    return text if len(text) <= LISTED_ITEM_CHARS_MAX else literal(_cut(text))


def _cut(text: str) -> str:
    whole = len(text) <= LISTED_ITEM_CHARS_MAX
    return text if whole else text[: LISTED_ITEM_CHARS_MAX - 1] + "…"


def _typed(kind: FieldType, said: str) -> Scalar:
    text: str = json.loads(said) if said.startswith('"') else said
    if kind is FieldType.BOOLEAN and text in {"true", "false"}:
        return text == "true"
    if kind is FieldType.BOOLEAN:
        raise ValueError(f"not true or false: {text[:80]!r}")
    if kind is FieldType.NUMBER:
        return float(text) if "." in text else int(text)
    return text
