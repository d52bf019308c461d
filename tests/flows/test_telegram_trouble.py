"""A handoff in Telegram when something is in the way: refusals, outages, other listeners."""

import dataclasses
import json
import uuid

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.models import Agent, Channel, InboundEvent
from tests import factories
from tests.fakes.providers import FakeAnswer, Providers
from tests.fakes.telegram import BOT_TOKEN, GROUP, SUPERGROUP
from tests.fakes.telegram_chats import MIA
from tests.flows.telegram_story import Story, made

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _public_address(settings: Settings) -> None:
    settings.PUBLIC_BASE_URL = "https://desk.example.org"


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create(display_name="Shop bot")


@pytest.fixture
def story(agent: Agent, providers: Providers) -> Story:
    """By webhook, connected."""
    found = made(agent, providers)
    found.press("set_up", "replies")
    return found


def test_what_was_not_taken_comes_again_and_counts_once(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    story.telegram.write("It left on Monday.", chat=SUPERGROUP, under=asked)
    [update] = story.telegram.waiting
    table = InboundEvent._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            answers = story.telegram.deliver(story.providers, client=Client())
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    assert [answer.status for answer in answers] == [503]
    assert story.telegram.waiting == [update]
    assert story.heard() == ["replied"]
    story.telegram.waiting.append(update)
    assert story.heard() == []
    assert [text for _, _, text in story.chat()].count("It left on Monday.") == 1


def test_a_blocked_bot_is_a_failure_that_says_what_to_do_to_the_admin_alone(
    agent: Agent, providers: Providers
) -> None:
    story = made(agent, providers, chat_id=MIA.id)
    story.telegram.rooms[MIA.id].refuses = "bot was blocked by the user"
    answer = story.ask()
    assert answer["isError"] is True
    assert answer["result"]["code"] == "dispatch_failed"
    assert "blocked" not in json.dumps(answer)
    story.channel.refresh_from_db()
    assert story.channel.healthy
    assert "unblock" in story.channel.last_error_hint
    failed = AuditEvent.objects.get(action="handoff.dispatch_failed")
    assert failed.failure == "Telegram refused with 403: Forbidden: bot was blocked by the user"
    assert failed.reason == "recipient_unreachable"


def test_a_refused_token_takes_the_channel_out_of_use_until_the_test_heals_it(
    story: Story,
) -> None:
    story.telegram.token = "7654321:AAE-another_token_of_the_same_bot_12345"
    assert story.ask()["result"]["details"]["kind"] == "auth"
    story.channel.refresh_from_db()
    assert not story.channel.healthy
    assert BOT_TOKEN not in json.dumps(list(AuditEvent.objects.values()), default=str)
    story.telegram.token = BOT_TOKEN
    story.press("test")
    story.channel.refresh_from_db()
    assert story.channel.healthy


def test_a_proxy_in_between_may_have_passed_it_on(story: Story) -> None:
    story.providers.script(
        "telegram", [FakeAnswer(502, body=b"<html>proxy-7.internal</html>")], path="sendMessage"
    )
    answer = story.ask()
    assert answer["result"]["code"] == "dispatch_unknown"
    assert "proxy-7" not in json.dumps(answer)
    assert story.session().status == "unknown"
    token = story.session().release_token
    assert story.hear(f"/release {token} It left on Monday.", chat=SUPERGROUP) == ["late"]


def test_a_webhook_in_the_way_of_polling_is_told_on_the_channel(
    agent: Agent, providers: Providers
) -> None:
    story = made(agent, providers, mode="poll")
    story.telegram.webhook.url = "https://elsewhere.example.net/hook"
    story.poll()
    story.channel.refresh_from_db()
    assert story.channel.healthy, "messages still go out"
    assert "Connect replies" in story.channel.poll_hint


def test_the_door_answers_with_the_codes_that_telegram_needs(story: Story) -> None:
    telegram = story.telegram
    address = f"/hooks/telegram/{story.channel.uuid}/"

    def status(body: bytes, secret: str | None = None, to: str = address) -> int:
        telegram.write("hello", chat=SUPERGROUP)
        delivery = telegram.delivery({}, secret=secret)
        answer = story.providers.deliver(
            dataclasses.replace(delivery, body=body), to=to, client=Client()
        )
        assert b"hello" not in answer.body
        return answer.status

    assert status(b"{}") == 200
    assert status(b"{") == 200
    assert status(b"{}", secret="") == 403
    assert status(b"{}", secret="wrong") == 403
    assert status(b"{", secret="wrong") == 403
    assert status(b"[" + b" " * 1_000_000 + b"]") == 200
    assert status(b"[" + b" " * (1024 * 1024) + b"]") == 413
    assert status(b"{}", to=f"/hooks/telegram/{uuid.uuid4()}/") == 404
    assert Client().get(address).status_code == 405
    Channel.objects.update(enabled=False)
    assert status(b"{}") == 200
    assert status(b"{}", secret="wrong") == 403
    refused = AuditEvent.objects.filter(action="inbound.refused")
    assert {"bad_secret", "unreadable", "too_large"} <= set(
        refused.values_list("reason", flat=True)
    )


def test_a_group_that_moved_unseen_is_found_by_sending(agent: Agent, providers: Providers) -> None:
    story = made(agent, providers, chat_id=GROUP)
    story.press("set_up", "replies")
    story.telegram.upgrade()
    story.telegram.waiting.clear()
    assert story.ask()["result"]["channel_message_id"] == f"{SUPERGROUP}:2"
    assert story.settings()["chat_id"] == str(SUPERGROUP)
    assert story.hear("Yes.", chat=SUPERGROUP, under=story.posts()[0]) == ["replied"]
