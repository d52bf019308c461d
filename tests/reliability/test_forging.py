"""Row 12, the first lines: no label, reason or message ends its bracket or opens another."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pytest_django import Settings

from handoff.actions.calls import Arrival, call_tool
from handoff.actions.endings import cancel
from handoff.contract.limits import MESSAGE_MAX
from handoff.contract.text import scrub
from handoff.contract.turns import ToolCall
from handoff.models import Channel, Session
from tests import factories
from tests.reliability.figures import report
from tests.reliability.quick import unsynced
from tests.reliability.returns import HOSTILE, Desk, Story, stories
from tests.reliability.sizes import sizes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


def faults(said: str, opening: str) -> list[str]:
    """What is wrong with the first line of a note; the rest is checked beside the values."""
    first, _, rest = said.partition("\n")
    found = []
    if first.splitlines() != [first]:
        found.append("more than one line")
    if not (first.startswith(f"[{opening} — ") and first.endswith("]")):
        found.append("not one bracket")
    if (first.count("["), first.count("]")) != (1, 1):
        found.append("a bracket within")
    if any(line.startswith(("[Bot resumed", "[Late return")) for line in rest.splitlines()):
        found.append("a second note")
    return found


@sizes(quick=60, full=1_500)
def test_no_first_line_is_forged(size: int, settings: Settings) -> None:
    """A reason of the agent, then a note of a person who answers all the same."""
    settings.FORMS_PER_MINUTE = settings.HANDOFFS_PER_MINUTE = settings.CALLS_PER_MINUTE = 0
    unsynced()
    desk = Desk.open()
    caller = factories.caller(desk.agent)
    counts = {"attempts": 0, "caught": 0}

    @given(stories(), HOSTILE, st.booleans())
    @examples(
        max_examples=size,
        derandomize=size < 1000,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def check(story: Story, hostile: str, through_tool: bool) -> None:
        label = scrub(hostile)[:100] or "x"
        Channel.objects.update(label=label)
        session = desk.ask(story)
        if through_tool:
            args = {"handoff_session_id": session.public_id, "reason": hostile}
            call_tool(caller, Arrival(call=ToolCall(name="handoff_cancel", args=args)))
        if Session.objects.get(pk=session.pk).status != "released":  # a reason that was refused
            cancel(session, reason=scrub(hostile)[:MESSAGE_MAX], actor="agent:test")
        status, page = desk.post(session, story)
        assert status == 200, page[:500]
        notes = list(desk.talk.messages.filter(session=session, author="system").order_by("id"))
        assert [
            faults(line.text, opening)
            for line, opening in zip(notes, ("Bot resumed", "Late return"), strict=True)
        ] == [[], []]
        counts["attempts"] += 3
        plain = f"[Bot resumed — the recipient ({label}) has handed control back. {hostile}]"
        counts["caught"] += bool(faults(plain, "Bot resumed"))

    check()
    assert counts["caught"], "the check would find a forgery"
    report(
        12,
        f"{counts['attempts']} labels, reasons and messages in first lines: 0 forged; a plain "
        f"template let {counts['caught']} of {counts['attempts'] // 3} be forged",
    )
