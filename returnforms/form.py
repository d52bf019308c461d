"""The return form: what a browser posted, what is wrong with it, what it comes to."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Final

from django.http import QueryDict

from handoff import links
from handoff.actions.answer import FormEntries
from handoff.contract.fields import ReturnField
from handoff.contract.kinds import Outcome
from handoff.contract.limits import MESSAGE_MAX, NAME_MAX
from handoff.contract.literals import storable_name
from handoff.contract.text import one_line, readable, scrub
from handoff.contract.values import Returned, clean_values
from returnforms.controls import PREFIX

SUBMISSION_ID_MAX: Final = 40
TICKED: Final = "1"
"""What `templates/returnforms` give the box and the button as their value."""
NEEDS_VALUES: Final = frozenset({Outcome.RESOLVED})
"""Outcomes for which an empty required field is a problem: who could not do it has no values."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Posted:
    """A posted form, as typed but storable."""

    render_id: str
    """Random, made for each rendering of an empty form and kept while it is corrected."""
    entries: dict[str, str]
    """Keyed by field name; names that nobody asked for stay in."""
    outcome: Outcome
    note: str
    answered_by: str
    send_anyway: bool
    confirmed: bool
    """The box that an untouched form asks for is ticked."""

    @property
    def submission_id(self) -> str:
        """The same for the same form with the same entries, and only then.

        A form that was sent, changed after Back and sent again is another submission: its entries
        must not pass for a repeat.
        """
        told = [self.render_id, sorted(self.entries.items()), self.outcome]
        return links.digest(json.dumps([*told, self.note, self.answered_by]))[:SUBMISSION_ID_MAX]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Checked:
    """What a posted form comes to."""

    returned: Returned
    missing: tuple[str, ...]
    """Names of required fields that nobody filled, when the outcome needs them."""
    invalid: dict[str, str]
    """Name of the field -> the contract's reason."""
    note_too_long: bool
    name_too_long: bool
    untouched: bool

    @property
    def has_problems(self) -> bool:
        return bool(self.missing or self.invalid or self.note_too_long or self.name_too_long)


def blank(*, render_id: str, answered_by: str = "") -> Posted:
    """The form as it is first shown."""
    return Posted(
        render_id=render_id,
        entries={},
        outcome=Outcome.RESOLVED,
        note="",
        answered_by=answered_by,
        send_anyway=False,
        confirmed=False,
    )


def read(post: QueryDict) -> Posted:
    """Anything a browser or a robot may post; never raises on its content."""
    named = {key.removeprefix(PREFIX): key for key in post if key.startswith(PREFIX)}
    outcome = post.get("outcome", "")
    return Posted(
        render_id=readable(post.get("submission_id", "")),
        entries={storable_name(name): _entry(post, key) for name, key in named.items()},
        outcome=Outcome(outcome) if outcome in set(Outcome) else Outcome.RESOLVED,
        note=_entry(post, "note"),
        answered_by=_entry(post, "answered_by"),
        send_anyway=_is_set(post, "send_anyway"),
        confirmed=_is_set(post, "confirmed"),
    )


def _is_set(post: QueryDict, key: str) -> bool:
    """As our own box and button send it: a robot that fills in every name knows no value."""
    return post.get(key) == TICKED


def _entry(post: QueryDict, key: str) -> str:
    return readable(post.get(key, ""))


def check(
    fields: Sequence[ReturnField], posted: Posted, *, locale: str, known_name: str = ""
) -> Checked:
    """`known_name` is the name that the empty form came with."""
    returned = clean_values(fields, posted.entries, locale=locale)
    needed = posted.outcome in NEEDS_VALUES
    return Checked(
        returned=returned,
        missing=tuple(item.name for item in returned.missing if item.required and needed),
        invalid={item.name: item.reason for item in returned.invalid},
        note_too_long=len(scrub(posted.note)) > MESSAGE_MAX,
        name_too_long=len(one_line(posted.answered_by)) > NAME_MAX,
        untouched=_is_untouched(posted, known_name=known_name),
    )


def _is_untouched(posted: Posted, *, known_name: str) -> bool:
    return (
        not any(entry.strip() for entry in posted.entries.values())
        and not posted.note.strip()
        and posted.answered_by.strip() in ("", known_name.strip())
        and posted.outcome is Outcome.RESOLVED
    )


def to_send(posted: Posted, checked: Checked) -> FormEntries:
    """What the action takes. A name over its limit is cut; the note is kept whole."""
    return FormEntries(
        submission_id=posted.submission_id,
        entries=dict(posted.entries),
        outcome=posted.outcome,
        note=scrub(posted.note),
        answered_by=one_line(scrub(posted.answered_by))[:NAME_MAX].strip(),
        returned=checked.returned,
    )


def answered_count(fields: Sequence[ReturnField], entries: Mapping[str, str]) -> int:
    """How many of the fields hold something."""
    return sum(bool(entries.get(field.name, "").strip()) for field in fields)
