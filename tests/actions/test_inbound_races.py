"""Events that come twice at once, and events that meet a release, a form or each other."""

from collections.abc import Callable
from functools import partial

import pytest
from django.db import OperationalError, connection

from audit.models import Event as AuditEvent
from handoff.actions.answer import answer_form
from handoff.actions.inbound import accept
from handoff.actions.inbound_apply import apply_at_once, apply_due
from handoff.actions.release_by_token import answer_in_words
from handoff.models import Event, InboundEvent, Session, Submission
from handoff.transports.inbound import Progress, Said, Status
from tests import factories
from tests.fakes.toy_chat import said
from tests.fakes.toy_desk import Toys, lines, thread_of
from tests.reliability.races import together

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

ROUNDS = 8


@pytest.fixture
def toys(toys: Toys) -> Toys:
    type(toys.channel).objects.update(contact_limit_per_hour=1000)
    return toys


def race[T](*rivals: Callable[[], T]) -> list[T]:
    def run(rival: Callable[[], T]) -> T:
        try:
            return rival()
        finally:
            connection.close()

    return together([partial(run, rival) for rival in rivals])


def words(key: str, text: str, session: Session) -> Said:
    return Said(
        keys=(key, f"{key}:other"), account="support", sender_id="u-mia", sender_name="Mia",
        text=text, place="support", thread_key=thread_of(session),
    )  # fmt: skip


def ends(session: Session) -> list[str]:
    """The events that ended it."""
    ending = ("handoff.released", "handoff.cancelled", "handoff.late_return")
    rows = Event.objects.filter(session=session, type__in=ending).order_by("number")
    return list(rows.values_list("type", flat=True))


def test_two_deliveries_of_one_event_have_one_effect(toys: Toys) -> None:
    for number in range(ROUNDS):
        conversation, session = toys.talk(f"v{number}")
        event = said("It left.", thread=thread_of(session))

        def deliver(event: dict[str, object] = event) -> int:
            status = toys.post(event).status
            apply_due()
            return status

        assert race(*[deliver] * 4) == [200] * 4
        apply_due()
        assert lines(conversation) == [("person", "Mia", "It left.")]
    assert InboundEvent.objects.count() == ROUNDS
    assert AuditEvent.objects.filter(action="inbound.duplicate").count() == 3 * ROUNDS


def test_batches_that_overlap_in_another_order_keep_each_event_once(toys: Toys) -> None:
    _, session = toys.talk()
    for number in range(ROUNDS):
        events = [words(f"{number}.{n}", "x", session) for n in range(6)]
        orders = (events, events[::-1], events[3:] + events[:3])

        def deliver(events: list[Said]) -> None:
            while True:
                try:
                    accept(toys.channel, events)
                except OperationalError:  # a deadlock: the provider comes again
                    continue
                return

        race(*[partial(deliver, order) for order in orders])
    bodies = InboundEvent.objects.exclude(body="")
    assert bodies.count() == 6 * ROUNDS
    assert InboundEvent.objects.count() == 12 * ROUNDS


def test_several_processes_that_apply_keep_the_order_of_one_person(toys: Toys) -> None:
    talks = [toys.talk(str(number)) for number in range(3)]
    for number in range(20):
        accept(
            toys.channel,
            [words(f"{number}-{n}", str(number), session) for n, (_, session) in enumerate(talks)],
        )
    done = race(*[apply_due] * 4)
    while InboundEvent.objects.filter(processed_at=None).exists():
        done.append(apply_due())
    assert sum(done) == 60
    for conversation, _ in talks:
        assert [text for _, _, text in lines(conversation)] == [str(n) for n in range(20)]


def test_a_reply_and_a_release_end_it_once_and_lose_no_word(toys: Toys) -> None:
    became = set()
    for number in range(ROUNDS):
        conversation, session = toys.talk(f"v{number}")
        reply, release = (
            accept(toys.channel, [words(f"{number}{n}", text, session)])[0]
            for n, text in enumerate(("It left.", f"/release {session.release_token} Done."))
        )
        race(partial(apply_at_once, reply), partial(apply_at_once, release))
        row = InboundEvent.objects.get(pk=reply)
        became.add(row.outcome)
        assert ends(session) == ["handoff.released"]
        assert Session.objects.get(pk=session.pk).message == "Done."
        assert len(lines(conversation)) == (row.outcome == "replied")
        if row.outcome == "closed":
            assert row.answer
    assert became <= {"replied", "closed"}


def test_a_release_line_and_a_form_end_it_once(toys: Toys) -> None:
    for number in range(ROUNDS):
        _, session = toys.talk(f"v{number}")
        [row] = accept(
            toys.channel, [words(str(number), f"/release {session.release_token} Line.", session)]
        )
        form = factories.form(session)
        race(partial(apply_at_once, row), partial(answer_form, factories.link_of(session), form))
        now = Session.objects.get(pk=session.pk)
        outcome = InboundEvent.objects.get(pk=row).outcome
        assert ends(session) == ["handoff.released"]
        assert (now.release, outcome) in {("token", "released"), ("form", "not_recognised")}
        kept = Submission.objects.get(session=session).kind
        assert kept == ("amendment" if now.release == "token" else "return")


def test_of_words_after_the_end_and_a_form_one_is_the_late_return(toys: Toys) -> None:
    for number in range(ROUNDS):
        _, session = toys.talk(f"v{number}")
        Session.objects.filter(pk=session.pk).update(status="unknown")
        [row] = accept(toys.channel, [words(str(number), "It left.", session)])
        race(
            partial(apply_at_once, row),
            partial(answer_form, factories.link_of(session), factories.form(session)),
            partial(
                answer_in_words, session.pk, words="From the inbox.", actor="owner:1", name="O"
            ),
        )
        assert ends(session) == ["handoff.late_return"]
        assert Session.objects.get(pk=session.pk).late


def test_a_bounce_and_a_reply_leave_nothing_half_done(toys: Toys) -> None:
    for number in range(ROUNDS):
        conversation, session = toys.talk(f"v{number}")
        bounce = Status(
            keys=(f"b{number}",), account="support", message_id=thread_of(session),
            progress=Progress.FAILED,
        )  # fmt: skip
        [first] = accept(toys.channel, [bounce])
        [second] = accept(toys.channel, [words(str(number), "It left.", session)])
        race(partial(apply_at_once, first), partial(apply_at_once, second))
        outcome = InboundEvent.objects.get(pk=second).outcome
        now = Session.objects.get(pk=session.pk)
        if outcome == "replied":
            assert now.status == "active"
            assert len(lines(conversation)) == 1
        else:
            assert (outcome, now.release, now.late) == ("late", "undeliverable", True)
            assert lines(conversation) == []
