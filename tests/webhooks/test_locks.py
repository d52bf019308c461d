"""What a busy database must not cost: a call that was made, or one that two write to at once."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection, connections
from django.db.models import F
from django.db.models.functions import Now

from handoff.actions import webhook_calls, webhooks
from handoff.actions.webhook_queue import Heard, Taken, claim, record
from handoff.actions.writing import writing
from handoff.contract.webhooks import Fate
from handoff.errors import NotFound
from handoff.models import Agent, Conversation, Webhook, WebhookCall
from tests.webhooks.conftest import call_due, fates, happen, register
from tests.webhooks.receiver import ACCEPT, CUT, Receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
BLOCKED_SECONDS = 0.5


def test_what_was_taken_is_written_down_once_the_database_has_time_and_not_sent_again(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    busy = iter([True, True])

    def refuse(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith('UPDATE "handoff_webhookcall"') and next(busy, False):
            raise OperationalError("canceling statement due to lock timeout")
        return execute(sql, params, many, context)

    [number] = happen(talk, "one")
    with connection.execute_wrapper(refuse):
        assert call_due() == 1
    assert next(busy, None) is None
    assert fates() == ["delivered"]
    assert call_due() == 0
    webhook.refresh_from_db()
    assert (webhook.after, len(receiver.came)) == (number, 1)


def recorded(taken: Taken) -> None:
    record(taken, Heard(Fate.DELIVERED, 0.1, 204))


def forgotten(_taken: Taken) -> None:
    webhooks.forget_calls()


@pytest.mark.parametrize("write", [recorded, forgotten])
def test_one_that_is_deleted_while_its_call_is_written_to_deadlocks_nobody(
    webhook: Webhook, talk: Conversation, write: Callable[[Taken], None]
) -> None:
    happen(talk, "one")
    taken = claim()
    assert taken is not None
    if write is forgotten:
        Webhook.objects.update(previous_until=Now())
        WebhookCall.objects.update(at=F("at") - 2 * webhooks.KEPT)
    problems: list[Exception] = []

    def run() -> None:
        try:
            write(taken)
        except Exception as problem:  # noqa: BLE001  (the test looks at it)
            problems.append(problem)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    with writing():
        row = webhooks.locked(webhook)
        thread.start()
        time.sleep(BLOCKED_SECONDS)
        row.delete()
    thread.join(10)
    assert problems == []
    assert (Webhook.objects.count(), WebhookCall.objects.count()) == (0, 0)


def test_one_that_was_deleted_during_its_test_is_not_found(
    agent: Agent, receiver: Receiver
) -> None:
    webhook = register(agent, receiver)
    let_go = threading.Event()
    receiver.always = lambda _came: ACCEPT if let_go.wait(8) else CUT
    found: list[type[Exception]] = []

    def run() -> None:
        try:
            webhook_calls.test(webhook, actor="test")
        except NotFound as problem:
            found.append(type(problem))
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    receiver.wait_for(1)
    webhooks.delete_webhook(webhook, actor="test")
    let_go.set()
    thread.join(10)
    assert found == [NotFound]
