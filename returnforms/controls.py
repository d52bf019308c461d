"""The field table: which control takes each type, and how what was typed stands in it again."""

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Final

from django.utils.formats import number_format

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType
from handoff.contract.limits import MULTILINE_MAX, VALUE_MAX
from handoff.contract.text import visible

PREFIX: Final = "value."
"""Of the name of every field's input: an agent may call a field `note` or `outcome`."""

RADIOS_MAX: Final = 7
"""Above that an enum is a select."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choice:
    value: str
    label: str
    id: str
    chosen: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Control:
    """One field as its template draws it; texts of the agent are ready for display."""

    template: str
    name: str
    """Of the input."""
    id: str
    title: str
    description: str
    example: str
    required: bool
    type: FieldType
    value: str
    choices: tuple[Choice, ...]
    limit: int | None
    problem: str

    @property
    def limit_words(self) -> str:
        return number_format(self.limit, force_grouping=True) if self.limit else ""

    @property
    def focus_id(self) -> str:
        """What a link in the list of problems leads to: the first thing that takes focus."""
        return self.choices[0].id if self.choices and "choices" in self.template else self.id

    @property
    def described_by(self) -> str:
        """Ids of the texts that explain this control, in reading order."""
        parts = {
            "description": self.description,
            "hint": self.example or self.limit or self.type is FieldType.DATE,
            "problem": self.problem,
        }
        return " ".join(f"{self.id}-{part}" for part, there in parts.items() if there)


_TEMPLATES: Final[Mapping[FieldType, str]] = {
    FieldType.STRING: "string",
    FieldType.MULTILINE: "multiline",
    FieldType.NUMBER: "number",
    FieldType.BOOLEAN: "choices",
    FieldType.ENUM: "choices",
    FieldType.DATE: "date",
    FieldType.URL: "url",
}
_LIMITS: Final[Mapping[FieldType, int]] = {
    FieldType.STRING: VALUE_MAX,
    FieldType.MULTILINE: MULTILINE_MAX,
}


def controls(
    fields: Sequence[ReturnField], *, entries: Mapping[str, str], problems: Mapping[str, str]
) -> tuple[Control, ...]:
    """The controls in schema order; `entries` and `problems` are keyed by field name."""
    return tuple(
        _control(field, entry=entries.get(field.name, ""), problem=problems.get(field.name, ""))
        for field in fields
    )


def _control(field: ReturnField, *, entry: str, problem: str) -> Control:
    id_ = f"value-{field.name}"
    return Control(
        template=f"returnforms/controls/{_template(field, entry=entry)}.html",
        name=PREFIX + field.name,
        id=id_,
        title=visible(field.title),
        description=visible(field.description),
        example=visible(field.placeholder),
        required=field.required,
        type=field.type,
        value=entry,
        choices=_choices(field, id_=id_, entry=entry.strip()),
        limit=_LIMITS.get(field.type),
        problem=problem,
    )


def _template(field: ReturnField, *, entry: str) -> str:
    if field.type is FieldType.ENUM and len(field.enum_values) > RADIOS_MAX:
        return "select"
    if field.type is FieldType.DATE and entry and not _is_iso(entry):
        return "date_text"
    return _TEMPLATES[field.type]


def _is_iso(entry: str) -> bool:
    """Does a native date input show it? It drops anything else, and typing would be lost."""
    try:
        return dt.date.fromisoformat(entry).isoformat() == entry
    except ValueError:
        return False


def _choices(field: ReturnField, *, id_: str, entry: str) -> tuple[Choice, ...]:
    """Labels of a boolean, and of no answer, are words of the template: they stay empty here."""
    if field.type is FieldType.BOOLEAN:
        values: tuple[str, ...] = ("true", "false")
    else:
        values = field.enum_values
    if values and not field.required and _template(field, entry=entry) == "choices":
        values = (*values, "")
    return tuple(
        Choice(
            value=value,
            label=visible(value) if field.type is FieldType.ENUM else "",
            id=f"{id_}-{number}",
            chosen=entry == value and value != "",
        )
        for number, value in enumerate(values, start=1)
    )
