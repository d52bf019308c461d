"""What must not tell a secret, or depend on a name."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.views.debug import ExceptionReporter

from handoff.actions import webhooks
from handoff.contract.webhooks import WebhookBody, message_id
from handoff.models import Agent, Conversation, Event, Webhook, WebhookCall
from tests.webhooks.conftest import call_due, happen, register
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.django_db


def test_no_report_of_an_error_shows_a_secret(agent: Agent, receiver: Receiver) -> None:
    row = register(agent, receiver)
    body = WebhookBody.model_validate({"url": receiver.url})

    def fail(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(('INSERT INTO "handoff_webhook"', 'UPDATE "handoff_webhook"')):
            raise DatabaseError("disk full")
        return execute(sql, params, many, context)

    for make in (
        partial(webhooks.create_webhook, agent, body, actor="test"),
        partial(webhooks.rotate_secret, row, actor="test"),
    ):
        with connection.execute_wrapper(fail), pytest.raises(DatabaseError) as caught:
            make()
        report = ExceptionReporter(None, caught.type, caught.value, caught.tb)
        assert "disk full" in report.get_traceback_html()
        assert re.search(r"whsec_\w{20}", report.get_traceback_html()) is None
    made = webhooks.rotate_secret(row, actor="test")
    assert made.secret.startswith("whsec_")
    assert "whsec_" not in repr(made)


def test_the_id_of_a_call_is_made_from_the_key_of_its_agent(
    agent: Agent, webhook: Webhook, talk: Conversation
) -> None:
    happen(talk, "one")
    call_due()
    event = Event.objects.get()
    assert WebhookCall.objects.get().message_id == message_id(agent.pk, event.number, event.at)
