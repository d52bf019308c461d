"""An attempt that a killed process left open is resolved as unknown, and never sent again."""

import datetime as dt

import pytest
from django.db.models.functions import Now

from audit.models import Event as AuditEvent
from handoff.actions.dispatch import Sent, record_outcome
from handoff.actions.reconcile import resolve_attempts
from handoff.contract.kinds import AttemptStatus, SessionStatus
from handoff.models import Attempt, Session
from handoff.transports.base import Receipt
from tests import factories

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


def test_an_outcome_that_comes_after_that_is_only_a_fact_beside_it(attempt: Attempt) -> None:
    Attempt.objects.update(at=Now() - dt.timedelta(seconds=60))
    resolve_attempts()
    record_outcome(attempt.pk, Sent(Receipt(provider_message_id="late")))

    attempt.refresh_from_db()
    assert attempt.status == "unknown"
    assert Session.objects.get().status == "unknown"
    assert AuditEvent.objects.get(action="handoff.delivery_changed").reason == "accepted"
