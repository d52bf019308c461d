"""An attempt that a killed process left open is resolved as unknown, and never sent again."""

import datetime as dt

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import endings
from handoff.actions.dispatch import Sent, record_outcome
from handoff.actions.reconcile import forget_keys, resolve_attempts
from handoff.contract.kinds import AttemptStatus, SessionStatus, TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Attempt, IdempotencyRecord, Session
from handoff.transports.base import Receipt
from tests import factories
from tests.fakes.smtp import SmtpServer
from tests.fakes.toy_desk import Toys, thread_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt(db: None) -> Attempt:
    """As a process leaves it that was killed while the provider had the message."""
    agent = factories.AgentFactory.create()
    session = factories.requested(agent, factories.inbox_channel(agent))
    Session.objects.update(status=SessionStatus.DISPATCHING)
    Attempt.objects.update(status=AttemptStatus.SENDING, finished_at=None)
    return session.attempts.get()


def test_it_becomes_unknown_well_after_its_deadline(attempt: Attempt) -> None:
    assert resolve_attempts() == 0
    Attempt.objects.update(at=Now() - dt.timedelta(seconds=60))
    assert resolve_attempts() == 1
    assert resolve_attempts() == 0

    attempt.refresh_from_db()
    assert attempt.status == "unknown"
    assert Session.objects.get().status == "unknown"
    assert Session.objects.get().links.get().revoked_at is None
    assert AuditEvent.objects.filter(action="handoff.dispatch_unknown").count() == 1


def test_a_second_reconciler_finds_nothing_to_say(attempt: Attempt) -> None:
    lost = Sent(None, TransportError(TransportErrorKind.UNKNOWN_OUTCOME, "stopped"), heard=False)
    assert record_outcome(attempt.pk, lost) is True
    assert record_outcome(attempt.pk, lost) is False
    assert AuditEvent.objects.filter(session=attempt.session.public_id).count() == 4


@pytest.mark.parametrize(("policy", "mails"), [("never", 0), ("once", 1)])
def test_the_channel_says_whether_it_is_sent_once_more(
    attempt: Attempt, policy: str, mails: int
) -> None:
    with SmtpServer() as smtp:
        agent = attempt.session.agent
        email = factories.email_channel(agent, smtp_url=smtp.url, redispatch=policy)
        Session.objects.update(channel=email)
        for _ in range(3):
            Attempt.objects.update(at=Now() - dt.timedelta(seconds=60))
            resolve_attempts()
        assert len(smtp.messages) == mails
    statuses = list(Attempt.objects.order_by("number").values_list("number", "status"))
    assert statuses == [(1, "unknown"), (2, "accepted")][: mails + 1]
    assert Session.objects.get().status == "unknown"


def test_a_key_is_kept_for_a_day_and_as_long_as_its_session_lives(attempt: Attempt) -> None:
    def keep(session: Session) -> None:
        IdempotencyRecord.objects.create(
            agent=session.agent,
            tool="handoff_request",
            key=session.public_id,
            request_hash="",
            session=session,
        )

    agent = attempt.session.agent
    channel = attempt.session.channel
    ended, fresh = factories.requested(agent, channel), factories.requested(agent, channel)
    endings.cancel(ended, reason="", actor="test")
    endings.cancel(fresh, reason="", actor="test")
    keep(attempt.session)
    keep(ended)
    IdempotencyRecord.objects.update(created_at=Now() - dt.timedelta(hours=25))
    keep(fresh)
    assert forget_keys() == 1
    assert not IdempotencyRecord.objects.filter(session=ended).exists()


def test_an_outcome_that_comes_after_that_is_only_a_fact_beside_it(attempt: Attempt) -> None:
    Attempt.objects.update(at=Now() - dt.timedelta(seconds=60))
    resolve_attempts()
    record_outcome(attempt.pk, Sent(Receipt(provider_message_id="late")))

    attempt.refresh_from_db()
    assert attempt.status == "unknown"
    assert Session.objects.get().status == "unknown"
    assert AuditEvent.objects.get(action="handoff.delivery_changed").reason == "accepted"


def left_open(session: Session, *, seconds: int) -> None:
    """As a process leaves it that was killed while the provider had the message."""
    Session.objects.filter(pk=session.pk).update(status=SessionStatus.DISPATCHING)
    session.attempts.update(
        status=AttemptStatus.SENDING,
        finished_at=None,
        provider_message_id="",
        thread_key="",
        at=Now() - dt.timedelta(seconds=seconds),
    )


def test_a_provider_that_drops_repeats_is_sent_the_same_message_again(toys: Toys) -> None:
    session = toys.ask()
    sent = thread_of(session)
    left_open(session, seconds=60)
    assert resolve_attempts() == 0

    attempt = session.attempts.get()
    assert (attempt.status, attempt.provider_message_id) == ("accepted", sent)
    assert Session.objects.get().status == "active"
    assert len(toys.chat.posts) == 1, "the person has one message"
    assert len(toys.providers.requests("toy")) == 2


def test_what_it_may_have_forgotten_is_not_sent_again(toys: Toys) -> None:
    session = toys.ask()
    left_open(session, seconds=240)
    assert resolve_attempts() == 1
    assert Session.objects.get().status == "unknown"
    assert len(toys.providers.requests("toy")) == 1


def test_an_answer_that_came_meanwhile_makes_the_repeat_needless(toys: Toys) -> None:
    session = toys.ask()
    left_open(session, seconds=60)
    factories.answer(session, factories.form(session))
    resolve_attempts()
    assert session.attempts.get().status == "unknown"
    assert Session.objects.get().release == "form"
    assert len(toys.providers.requests("toy")) == 1


def test_without_a_free_place_the_next_round_sends_it(toys: Toys, settings: Settings) -> None:
    session = toys.ask()
    left_open(session, seconds=60)
    settings.DISPATCH_SLOTS = 0
    assert resolve_attempts() == 0
    assert session.attempts.get().status == "sending"
    settings.DISPATCH_SLOTS = 8
    resolve_attempts()
    assert session.attempts.get().status == "accepted"
