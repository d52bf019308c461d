"""An agent with a webhook whose receiver runs, and time that passes when a test says so."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import F

from handoff.actions import webhook_calls
from handoff.actions.turns import post_turn
from handoff.actions.webhooks import create_webhook
from handoff.contract.turns import TurnBody
from handoff.contract.webhooks import WebhookBody
from handoff.models import Agent, Conversation, Webhook, WebhookCall
from tests import factories
from tests.webhooks.receiver import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver().running() as running:
        yield running


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create(name="shop", display_name="Shop bot")


@pytest.fixture
def talk(agent: Agent) -> Conversation:
    return factories.conversation(agent)


@pytest.fixture
def webhook(agent: Agent, receiver: Receiver) -> Webhook:
    return register(agent, receiver)


def register(agent: Agent, receiver: Receiver, **fields: Any) -> Webhook:
    body = WebhookBody.model_validate({"url": receiver.url, **fields})
    made = create_webhook(agent, body, actor="test")
    receiver.secrets.append(made.secret)
    return made.row


def happen(talk: Conversation, *texts: str) -> list[int]:
    """So many lines of the visitor, an event each; their numbers."""
    before = Agent.objects.get(pk=talk.agent_id).last_event_id
    for text in texts:
        post_turn(talk, TurnBody(client_id=text, author="subscriber", text=text))
    return list(range(before + 1, before + 1 + len(texts)))


def pass_time(seconds: float) -> None:
    """Every webhook's clock is so much farther."""
    span = dt.timedelta(seconds=seconds)
    Webhook.objects.update(next_attempt_at=F("next_attempt_at") - span)
    Webhook.objects.filter(lease_until__isnull=False).update(lease_until=F("lease_until") - span)


def call_due() -> int:
    """Make the calls that are due now; how many."""
    return webhook_calls.deliver_due()


def fates() -> list[str]:
    return list(WebhookCall.objects.order_by("pk").values_list("fate", flat=True))
