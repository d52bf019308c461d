"""An attempt that a killed process left open is resolved as unknown, and never sent again."""

import datetime as dt

import pytest
from django.db.models.functions import Now

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
