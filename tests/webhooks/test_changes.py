"""What a change of a webhook may do, whoever makes it."""

import pytest
from pytest_django import Settings

from handoff.models import Agent, Conversation, Webhook
from tests.webhooks.conftest import call_due, happen, register
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_api import Door

pytestmark = pytest.mark.django_db


def test_it_is_set_back_over_no_more_events_than_a_replay(
    agent: Agent, receiver: Receiver, talk: Conversation, settings: Settings
) -> None:
    door, row = Door(agent), register(agent, receiver)
    numbers = happen(talk, "one", "two", "three", "four")
    call_due()
    settings.WEBHOOK_BACKLOG = 2
    path = f"/{row.public_id}"
    for after in (0, numbers[0]):
        refused = door("PATCH", path, {"after": after})
        assert refused.status_code == 400
        assert f"after must be at least {numbers[1]}" in refused.json()["error"]
    assert door("PATCH", path, {"after": numbers[1]}).json()["behind"] == 2
    Webhook.objects.update(after=0)
    assert door("PATCH", path, {"after": 0, "label": "as it was"}).status_code == 200
    assert door("PATCH", path, {"after": numbers[0]}).json()["behind"] == 3  # forward, as it likes
