"""Rows 11 and 12: what is typed into a form comes back as typed, and forges no line of a note."""

import time
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, note
from hypothesis import settings as examples
from pytest_django import Settings

from handoff.contract.kinds import FieldType
from handoff.contract.limits import MULTILINE_MAX, VALUE_MAX
from handoff.contract.note import data_lines, parse_data
from handoff.contract.text import scrub
from handoff.contract.values import Returned
from handoff.models import Session
from handoff.selectors import handoffs, payloads
from tests.contract.test_note_properties import FIRST, Renderer, forgeries, plain_template
from tests.reliability.figures import report
from tests.reliability.logs import errors_logged
from tests.reliability.quick import unsynced
from tests.reliability.returns import Desk, Story, as_read, stories
from tests.reliability.sizes import sizes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]

LONGEST: Final = {FieldType.STRING: VALUE_MAX, FieldType.MULTILINE: MULTILINE_MAX}


def run(check: Any, *, size: int) -> None:
    """`check` on so many stories: always the same ones in the quick size."""
    given(stories())(
        examples(
            max_examples=size,
            derandomize=size < 1000,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )(check)
    )()


def check_values(story: Story, view: dict[str, Any]) -> None:
    """H has each field once, the certain values typed, texts as typed, and nothing is lost."""
    values, missing = view["values"], [item["name"] for item in view["missing"]]
    invalid = {item["name"]: item["raw"] for item in view["invalid"]}
    names = [field["name"] for field in story.fields]
    assert sorted([*values, *missing, *invalid]) == sorted(names)
    for name, value in story.expected.items():
        assert (values[name], type(values[name])) == (value, type(value))
    for field in story.fields:
        name, typed = field["name"], as_read(story.typed.get(field["name"], ""))
        if not typed.strip():
            assert name in missing
        elif name in invalid:
            assert invalid[name] == typed
        elif field["type"] in LONGEST:
            assert values[name] == scrub(typed)
        if field["type"] in LONGEST and name in invalid:
            assert len(scrub(typed)) > LONGEST[field["type"]]
    assert view["unknown"] == {as_read(k): as_read(text) for k, text in story.unknown.items()}
    assert view["note"] == scrub(as_read(story.note))


def check_note(session: Session, said: str, view: dict[str, Any]) -> None:
    """Each line of the note is ours, and the lines after the first give the values back."""
    asked = payloads.fields_of(session)
    returned = payloads.returned_of(session)
    assert forgeries(said, asked=asked, returned=returned) == []
    assert parse_data(asked, said.partition("\n")[2]) == view["values"] == returned.values


@sizes(quick=150, full=3_400)
def test_what_is_typed_comes_back_and_forges_nothing(size: int, settings: Settings) -> None:
    """Half of the forms on each database; each holds up to a dozen hostile texts."""
    settings.FORMS_PER_MINUTE = settings.HANDOFFS_PER_MINUTE = settings.CALLS_PER_MINUTE = 0
    unsynced()
    desk = Desk.open()
    counts = {"forms": 0, "entries": 0, "attempts": 0, "caught": 0}
    began = time.monotonic()

    def check(story: Story) -> None:
        errors.clear()
        session = desk.ask(story)
        status, page = desk.post(session, story)
        note(f"{status} {story}")
        assert (status, errors) == (200, []), page[:500]
        session = Session.objects.get(pk=session.pk)
        view = handoffs.for_agent(desk.agent, session.public_id).body()
        said = desk.said(session)
        check_values(story, view)
        check_note(session, said, view)
        assert view["message"] in said
        counts["forms"] += 1
        counts["entries"] += len(story.typed) + len(story.unknown) + 2
        counts["attempts"] += story.attempts
        counts["caught"] += would_be_forged(session, plain_template)
        assert not would_be_forged(session, data_lines)

    with errors_logged() as errors:
        run(check, size=size)
    assert counts["caught"], "the check would find a forgery"
    seconds = time.monotonic() - began
    report(
        11,
        f"{counts['entries']} hostile entries in {counts['forms']} forms in {seconds:.0f} s: "
        "0 x 500, all in H and the note as typed",
    )
    report(
        12,
        f"{counts['attempts']} attempts to forge a line of {counts['forms']} notes: 0 forged; "
        f"a plain template let {counts['caught']} notes be forged",
    )


def would_be_forged(session: Session, render: Renderer) -> bool:
    """Is a line forged when the session's return is rendered so?"""
    asked, returned = payloads.fields_of(session), payloads.returned_of(session)
    assert isinstance(returned, Returned)
    lines = render(asked, returned)
    whole = f"{FIRST}\n{lines}" if lines else FIRST
    return bool(forgeries(whole, asked=asked, returned=returned))
