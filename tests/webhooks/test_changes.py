"""What a change of a webhook may do, whoever makes it."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.translation import trans_real
from pytest_django import Settings

from handoff.actions import webhook_addresses
from handoff.contract.webhooks import SENTENCES
from handoff.models import Agent, Conversation, Webhook
from tests.webhooks.conftest import call_due, happen, register
from tests.webhooks.receiver import Receiver, status
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


def shown(page: str) -> dict[str, str]:
    """What a browser sends for the checkbox and what stands beside it."""
    boxes = re.findall(r'<input[^>]* name="((?:initial-)?enabled)"[^>]*>', page)
    assert sorted(boxes) == ["enabled", "initial-enabled"]
    hidden = re.search(r'name="initial-enabled" value="(\w+)"', page)
    box = re.search(r'<input[^>]* name="enabled"[^>]*>', page)
    assert hidden is not None
    assert box is not None
    ticked = {"enabled": "on"} if " checked" in box[0] else {}
    return {"initial-enabled": hidden[1], **ticked}


def test_a_page_that_was_opened_before_the_desk_stopped_it_switches_nothing_on(
    agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    row, admin = register(agent, receiver), boss()
    change = reverse("admin:handoff_webhook_change", args=[row.pk])
    sent = {"url": receiver.url, "payload": "full", **shown(admin.get(change).text)}
    assert sent["enabled"] == "on"
    receiver.answers.append(status(410))
    happen(talk, "one")
    call_due()
    assert admin.post(change, {**sent, "label": "Shop"}).status_code == 302
    row.refresh_from_db()
    assert (row.label, row.enabled, row.stopped) == ("Shop", False, "gone")
    again = {**sent, **shown(admin.get(change).text), "enabled": "on"}
    assert admin.post(change, again).status_code == 302
    row.refresh_from_db()
    assert (row.enabled, row.stopped) == (True, "")


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """A catalogue in which every sentence is there, as ~these words~."""
    settings.LANGUAGES = [("de", "Deutsch")]
    settings.LANGUAGE_CODE = "de"
    catalogue = trans_real.translation("de")
    monkeypatch.setattr(catalogue, "gettext", lambda sentence: f"~{sentence}~")


@pytest.mark.usefixtures("german")
def test_what_the_admin_says_of_a_webhook_is_translated(
    agent: Agent, receiver: Receiver, talk: Conversation, settings: Settings
) -> None:
    row, admin = register(agent, receiver), boss()
    change = reverse("admin:handoff_webhook_change", args=[row.pk])
    again = reverse("admin:handoff_webhook_replay", args=[row.pk])
    for why, sentence in SENTENCES.items():
        Webhook.objects.update(enabled=False, stopped=why)
        assert f"~{sentence}~" in admin.get(change).text
    assert "~There is no such event.~" in admin.post(again, {"event": 999}).text
    happen(talk, "one", "two")
    settings.WEBHOOK_BACKLOG = 1
    too_long = admin.post(again, {"since": "2020-01-01T00:00"}).text
    assert "~That is too long ago: 1 events are sent again at most.~" in too_long
    settings.WEBHOOK_BACKLOG = 0
    number = Agent.objects.get().last_event_id
    assert "~0 events wait to be sent again already.~" in admin.post(again, {"event": number}).text
    admin.post(reverse("admin:handoff_webhook_rotate", args=[row.pk]))
    assert LogEntry.objects.latest("pk").change_message == "~Rotated the secret.~"
    settings.PRIVATE_TARGETS = []
    entered = {"agent": agent.pk, "url": "https://127.0.0.1/", "payload": "full"}
    refused = admin.post(reverse("admin:handoff_webhook_add"), entered).text
    assert f"~{webhook_addresses.UNREACHABLE}~" in refused


def boss() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss", "boss@example.com", "x"))
    return client
