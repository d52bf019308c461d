"""A release and a sender that meet over one line: it is sent, or named as undelivered, never both.

SQLite has one writer at a time, so only PostgreSQL can show it.
"""

import datetime as dt
import threading
import time
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from handoff.actions import endings
from handoff.actions.outbox import claim
from handoff.actions.turns import post_turn
from handoff.contract.turns import TurnBody
from handoff.models import Delivery, Message, Session
from tests import factories
from tests.fakes.smtp import SmtpServer

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
BLOCKED_SECONDS = 10.0


@pytest.fixture
def session(transactional_db: None) -> Session:
    """An active handoff by mail with two lines that wait."""
    with SmtpServer() as smtp:
        agent = factories.AgentFactory.create()
        talk = factories.conversation(agent)
        session = factories.requested(
            agent, factories.email_channel(agent, smtp_url=smtp.url), talk
        )
    for number in ("1", "2"):
        post_turn(talk, TurnBody(client_id=number, author="subscriber", text=f"line {number}"))
    return session


def start_and_wait_until_blocked(work: Callable[[], object]) -> threading.Thread:
    """Runs `work` beside us until it waits for a row that this transaction holds."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    until = time.monotonic() + BLOCKED_SECONDS
    with connection.cursor() as cursor:
        while True:
            cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
            if cursor.fetchone():
                return thread
            assert time.monotonic() < until, "it waits for nobody"
            time.sleep(0.02)


def test_a_line_that_is_leased_while_its_handoff_ends_is_not_named_as_undelivered(
    session: Session,
) -> None:
    first = Delivery.objects.earliest("pk")
    with transaction.atomic():
        Delivery.objects.filter(pk=first.pk).update(lease_until=Now() + dt.timedelta(minutes=1))
        release = start_and_wait_until_blocked(
            lambda: endings.cancel(session, reason="", actor="test")
        )
    release.join()
    assert list(
        Delivery.objects.filter(kind="line").order_by("pk").values_list("status", flat=True)
    ) == ["due", "dropped"]
    lines = Message.objects.filter(author="subscriber").order_by("pk")
    assert list(lines.values_list("undelivered", flat=True)) == [False, True]


def test_a_line_that_is_dropped_while_it_is_claimed_is_not_sent(session: Session) -> None:
    first, second = Delivery.objects.order_by("pk")
    claimed = []
    with transaction.atomic():
        Delivery.objects.filter(pk=second.pk).update(status="dropped", finished_at=Now())
        sender = start_and_wait_until_blocked(lambda: claimed.append(claim()))
    sender.join()
    [batch] = claimed
    assert batch is not None
    assert batch.rows == (first.pk,)
