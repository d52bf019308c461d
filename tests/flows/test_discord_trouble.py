"""What goes wrong on the way to Discord and back, through the real doors."""

import dataclasses
import json
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from audit.models import Event as AuditEvent
from handoff.actions import reconcile
from handoff.actions.channels import change_channel
from handoff.models import Attempt, Channel, InboundEvent, Session
from tests import factories
from tests.fakes.discord import CHANNEL, WEBHOOK_URL
from tests.fakes.discord_answers import cloudflare, error, too_many
from tests.fakes.discord_calls import interaction, signed
from tests.fakes.providers import Providers, Taken
from tests.fakes.rude import Rude
from tests.flows.discord_story import Story, made

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def story(providers: Providers) -> Story:
    return made(factories.AgentFactory.create(), providers)


def test_a_command_in_a_place_of_nobodys_is_told_so(story: Story) -> None:
    story.ask()
    nowhere = {"id": "8888888888888888888", "type": 0, "parent_id": CHANNEL}
    call = story.discord.command(
        "reply", {"text": "Hello?"}, channel=CHANNEL, channel_id=nowhere["id"]
    )
    body = {**json.loads(call.body), "channel": nowhere}
    answer = story.post(signed(body))
    assert answer.json()["data"]["content"] == "There is no handoff here."
    assert AuditEvent.objects.filter(action="inbound.unmatched", reason="unknown_account").exists()
    assert [line for line in story.chat() if line[0] == "person"] == []


def test_an_interaction_counts_once(story: Story) -> None:
    story.ask()
    call = story.discord.command("reply", {"text": "Once."}, channel=story.thread())
    assert {story.post(call).status for _ in range(3)} == {200}
    assert [line for line in story.chat() if line[0] == "person"] == [("person", "Once.")]
    assert AuditEvent.objects.filter(action="inbound.duplicate").count() >= 1


def test_the_door_answers_with_the_codes_that_discord_needs(story: Story) -> None:
    good = signed(interaction())
    for headers in (
        {},
        {**good.headers, "X-Signature-Ed25519": "00" * 64},
        {**good.headers, "X-Signature-Ed25519": "not hex"},
        {**good.headers, "X-Signature-Timestamp": "1"},
    ):
        answer = story.post(dataclasses.replace(good, headers=headers))
        assert (answer.status, answer.body) == (401, b"")
    assert story.post(signed(interaction(), at=1_796_040_000)).status in (200, 401)
    assert story.post(signed(b"{")).status == 400
    assert story.post(signed(interaction(type=3))).json()["type"] == 4
    assert story.post(signed(b" " * (1024 * 1024 + 1))).status == 413
    unknown = f"/hooks/discord/{uuid.uuid4()}/"
    assert story.providers.deliver(good, to=unknown, client=Client()).status == 404
    Channel.objects.update(enabled=False)
    assert story.post(signed(interaction())).json() == {"type": 1}


def test_an_outage_is_a_500_since_nothing_makes_discord_try_again(story: Story) -> None:
    story.ask()
    call = story.discord.command("reply", {"text": "Hello"}, channel=story.thread())
    table = InboundEvent._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            address = f"/hooks/discord/{story.channel.uuid}/"
            client = Client(raise_request_exception=False)
            answer = story.providers.deliver(call, to=address, client=client)
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    assert answer.status == 500
    assert story.post(call).status == 200
    assert story.chat()[-1] == ("person", "Hello")


def test_a_webhook_that_is_gone_is_never_called_again(providers: Providers) -> None:
    """Neither by a line nor by a handoff, however long ago it was; another webhook is."""
    story = made(factories.AgentFactory.create(), providers, {"webhook_url": WEBHOOK_URL})
    story.ask()
    story.discord.webhooks.clear()
    story.ana_says("Hello?")
    story.send_due()
    calls = len(providers.requests("discord"))
    for text in ("Anybody?", "Please."):
        story.ana_says(text)
        story.send_due()
    Channel.objects.update(unhealthy_since="2026-01-01T00:00Z")
    again = dataclasses.replace(
        story, conversation=factories.conversation(story.desk.agent, "visitor-2")
    )
    answer = again.ask()
    assert answer["result"]["code"] == "dispatch_failed"
    assert len(providers.requests("discord")) == calls
    channel = Channel.objects.get(pk=story.channel.pk)
    assert not channel.healthy
    assert "make a new one" in channel.last_error_hint

    anew = {"4444444444444444445": "another_token"}
    story.discord.webhooks.update(anew)
    [(webhook, token)] = anew.items()
    url = f"https://discord.com/api/webhooks/{webhook}/{token}"
    for config in ({"webhook_url": WEBHOOK_URL}, {"webhook_url": url}):
        Channel.objects.update(unhealthy_since="2026-01-01T00:00Z")
        change_channel(Channel.objects.get(pk=story.channel.pk), config=config, actor="owner:1")
        answer = again.ask()
    assert answer["result"]["ok"] is True
    assert len(providers.requests("discord")) == calls + 1
    assert Channel.objects.get(pk=story.channel.pk).healthy


@pytest.mark.parametrize(
    ("refusal", "status", "is_healthy"),
    [
        (error(401, 0, "401: Unauthorized"), "failed", False),
        (error(403, 50001, "Missing Access"), "failed", False),
        (error(404, 10003, "Unknown Channel"), "failed", False),
        (cloudflare(), "failed", True),
        (too_many(30), "failed", True),
    ],
)
def test_a_refusal_is_told_to_the_operator_and_not_to_the_agent(
    story: Story, refusal: Any, status: str, is_healthy: bool
) -> None:
    story.providers.script("discord", [refusal], path="/messages")
    answer = story.ask()
    assert answer["result"]["code"] == "dispatch_failed"
    for word in ("Discord refused", "401", "50001", "Missing Access", "Cloudflare"):
        assert word not in json.dumps(answer)
    assert story.session().status == status
    story.channel.refresh_from_db()
    assert story.channel.healthy is is_healthy
    assert story.channel.last_error_hint
    assert len(story.providers.requests("discord")) == 1


def test_a_desk_that_was_killed_finds_its_message_and_its_thread_again(story: Story) -> None:
    """The post was accepted, and nobody wrote that down: the same post again is no second one."""
    story.providers.script("discord", [Taken(Rude.RESET_BEFORE)], path="/messages")
    story.ask()
    Session.objects.update(status="dispatching")
    Attempt.objects.update(status="sending", finished_at=None, at="2026-01-01T00:00Z")
    with connection.cursor() as cursor:
        now = "now() - interval '60 seconds'"
        if connection.vendor == "sqlite":
            now = "strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds')"
        cursor.execute(f"UPDATE {Attempt._meta.db_table} SET at = {now}")
    reconcile.resolve_attempts()
    attempt = Attempt.objects.get()
    assert attempt.status == "accepted"
    [asked] = story.discord.in_channel(CHANNEL)
    assert attempt.thread_key == attempt.provider_message_id == asked["id"]
    assert story.session().status == "active"
