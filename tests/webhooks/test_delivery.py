"""What a receiver gets: each event once and in order, whatever it answers meanwhile."""

import datetime as dt
import email.utils
import time
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import webhook_calls
from handoff.actions.webhook_queue import BACKOFF_SECONDS, WAIT_MAX_SECONDS, claim
from handoff.actions.webhooks import change_webhook, forget_calls, rotate_secret
from handoff.contract.webhooks import WebhookChange
from handoff.models import Agent, Conversation, Event, Webhook, WebhookCall
from handoff.selectors import events
from tests import factories
from tests.outbound.asking import answering
from tests.webhooks import receiver as answers
from tests.webhooks.conftest import call_due, fates, happen, pass_time, register
from tests.webhooks.receiver import Receiver, status

pytestmark = pytest.mark.django_db
DAY_SECONDS = 24 * 3600


def pause(webhook: Webhook) -> float:
    """Seconds until the next try."""
    found = Webhook.objects.annotate(clock=Now()).get(pk=webhook.pk)
    return float((found.next_attempt_at - found.clock).total_seconds())


def numbers(receiver: Receiver) -> list[int]:
    return [came.event for came in receiver.came]


def test_each_event_comes_once_in_order_and_signed(
    webhook: Webhook, receiver: Receiver, talk: Conversation, agent: Agent
) -> None:
    happened = happen(talk, "one", "two", "three")
    assert call_due() == 3
    assert numbers(receiver) == happened
    assert all(came.verified for came in receiver.came)
    page = events.page(agent, after=happened[0] - 1, limit=50)
    for came, shape in zip(receiver.came, page.data, strict=True):
        told = shape.body()
        assert came.json == {"type": told["type"], "timestamp": told["at"], "data": told}
        assert came.headers["content-type"] == "application/json"
        assert "authorization" not in came.headers
    assert call_due() == 0
    webhook.refresh_from_db()
    assert (webhook.after, webhook.tries, webhook.failing_since) == (happened[-1], 0, None)
    assert webhook.last_success_at is not None


def test_a_thin_body_names_the_message_and_does_not_tell_it(
    agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    register(agent, receiver, payload="thin")
    happen(talk, "secret words")
    call_due()
    [came] = receiver.came
    assert set(came.json["data"]) == {
        "id", "conversation_event_id", "type", "at", "conversation", "handoff", "message",
    }  # fmt: skip
    assert came.json["data"]["message"].startswith("m_")
    assert b"secret words" not in came.body


def test_only_the_types_that_are_wanted_come(
    agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    mine = register(agent, receiver, event_types=["handoff.requested", "handoff.started"])
    happen(talk, "one", "two")
    factories.requested(agent, factories.inbox_channel(agent), talk)
    happen(talk, "three")
    call_due()
    assert [came.json["type"] for came in receiver.came] == ["handoff.requested", "handoff.started"]
    mine.refresh_from_db()
    agent.refresh_from_db()
    assert mine.after == agent.last_event_id


def test_what_happened_before_it_was_made_is_not_sent(
    agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    happen(talk, "before")
    register(agent, receiver)
    happen(talk, "after")
    call_due()
    assert [came.json["data"]["data"]["message"]["text"] for came in receiver.came] == ["after"]


@pytest.mark.parametrize(
    ("answer", "fate"),
    [
        (status(500, b"<h1>Oops</h1>"), "status"),
        (status(404), "status"),
        (status(302, Location="http://127.0.0.1:1/"), "redirect"),
        (answers.HALF, "no_answer"),
        (answers.CUT, "no_answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no_answer"),
    ],
    ids=["500", "404", "302", "half a body", "cut", "no HTTP"],
)
def test_whatever_is_no_2xx_is_sent_again_and_nothing_overtakes_it(
    webhook: Webhook, receiver: Receiver, talk: Conversation, answer: bytes, fate: str
) -> None:
    receiver.answers.append(answer)
    first, second = happen(talk, "one", "two")
    assert call_due() == 1
    assert fates() == [fate]
    assert 0.85 * BACKOFF_SECONDS[0] < pause(webhook) < 1.15 * BACKOFF_SECONDS[0]
    pass_time(BACKOFF_SECONDS[0] + 1)
    assert call_due() == 2
    assert numbers(receiver) == [first, first, second]
    again = receiver.came[:2]
    assert again[0].id == again[1].id != receiver.came[2].id
    assert all(came.verified for came in receiver.came)


def test_a_redirect_to_an_inner_address_is_not_followed(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    with answering(answers.ACCEPT) as (port, asked):
        receiver.always = status(307, Location=f"http://127.0.0.1:{port}/admin")
        happen(talk, "one")
        call_due()
        assert asked == []
    assert fates() == ["redirect"]


def test_a_receiver_that_is_down_or_slow_is_tried_again(
    agent: Agent, receiver: Receiver, talk: Conversation, settings: Settings
) -> None:
    settings.DISPATCH_SECONDS = 0.5
    webhook = register(agent, receiver)
    receiver.answers.append(answers.slow(1.5))
    happen(talk, "one")
    began = time.monotonic()
    assert call_due() == 1
    assert time.monotonic() - began < 1.4
    assert fates() == ["no_answer"]
    with answering(b"") as (closed, _):
        pass
    Webhook.objects.update(url=f"http://127.0.0.1:{closed}/")
    pass_time(10)
    assert call_due() == 1
    assert fates() == ["no_answer", "not_connected"]
    Webhook.objects.update(url=webhook.url)
    pass_time(60)
    assert call_due() == 1
    assert len({came.id for came in receiver.came}) == 1


def test_a_very_long_answer_counts_by_its_status(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    receiver.always = status(200, b"x" * 200_000)
    happen(talk, "one")
    call_due()
    assert fates() == ["delivered"]


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured(
    webhook: Webhook, receiver: Receiver, talk: Conversation, code: int, form: str
) -> None:
    asked = "300" if form == "seconds" else email.utils.formatdate(time.time() + 300, usegmt=True)
    receiver.answers.append(status(code, Retry_After=asked))
    happen(talk, "one")
    call_due()
    assert 295 < pause(webhook) <= 300


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [
        ("999999999", WAIT_MAX_SECONDS - 1, WAIT_MAX_SECONDS),
        ("inf", WAIT_MAX_SECONDS - 1, WAIT_MAX_SECONDS),
        ("Fri, 31 Dec 9999 23:59:59 GMT", WAIT_MAX_SECONDS - 1, WAIT_MAX_SECONDS),
        ("0", 4, 6),
        ("-5", 4, 6),
        ("nan", 4, 6),
        ("soon", 4, 6),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 4, 6),
        ("Fri, 31 Dec 99999999999999999999 23:59:59 GMT", 4, 6),
        ("Fri, 31 Dec 2027 23:59:59 -99999999999999999999", 4, 6),
    ],
)
def test_what_retry_after_may_ask_for_has_bounds(
    webhook: Webhook, receiver: Receiver, talk: Conversation, asked: str, least: int, most: int
) -> None:
    receiver.answers.append(status(429, Retry_After=asked))
    happen(talk, "one")
    call_due()
    assert least < pause(webhook) <= most


def test_410_ends_it_at_once_and_it_goes_on_where_it_stood(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    receiver.answers.append(status(410))
    happened = happen(talk, "one", "two")
    call_due()
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.stopped) == (False, "gone")
    row = AuditEvent.objects.get(action="webhook.disabled")
    assert (row.actor, row.agent, row.reason) == ("desk", "shop", "gone")
    pass_time(DAY_SECONDS)
    assert call_due() == 0
    change_webhook(webhook, WebhookChange(enabled=True), actor="test")
    call_due()
    assert numbers(receiver) == [happened[0], *happened]


def test_after_about_a_day_it_is_given_up_and_nothing_is_lost(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    receiver.always = status(500, b"no")
    happened = happen(talk, "one", "two")
    waited, tries = 0.0, 0
    while Webhook.objects.filter(enabled=True).exists():
        assert call_due() == 1
        tries += 1
        if Webhook.objects.filter(enabled=True).exists():
            waited += (step := pause(webhook))
            pass_time(step + 0.01)
    assert tries == len(BACKOFF_SECONDS) + 1
    assert 0.85 * DAY_SECONDS < waited < 1.1 * DAY_SECONDS
    webhook.refresh_from_db()
    assert webhook.stopped == "given_up"
    row = AuditEvent.objects.get(action="webhook.disabled")
    assert (row.reason, row.details["tries"], row.failure) == ("given_up", tries, "500 no")
    receiver.always = answers.ACCEPT
    change_webhook(webhook, WebhookChange(enabled=True), actor="test")
    call_due()
    assert numbers(receiver) == [happened[0]] * tries + happened


def test_one_that_fails_and_is_too_far_behind_is_switched_off(
    webhook: Webhook, receiver: Receiver, talk: Conversation, settings: Settings
) -> None:
    settings.WEBHOOK_BACKLOG = 2
    receiver.always = status(500)
    happen(talk, "one", "two")
    call_due()
    assert Webhook.objects.filter(enabled=True).exists()
    happen(talk, "three")
    pass_time(60)
    call_due()
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.stopped) == (False, "behind")


def test_one_that_works_may_be_as_far_behind_as_it_is(
    webhook: Webhook, receiver: Receiver, talk: Conversation, settings: Settings
) -> None:
    settings.WEBHOOK_BACKLOG = 1
    happened = happen(talk, "one", "two", "three")
    assert call_due() == 3
    assert numbers(receiver) == happened


def test_a_retry_hours_later_has_a_new_time_and_the_old_one_is_refused_by_then(
    webhook: Webhook, receiver: Receiver, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = dt.timedelta(hours=2)

    class Later(dt.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return super().now(tz) + ahead

    receiver.always = lambda came: answers.ACCEPT if came.verified else status(400)
    with monkeypatch.context() as patch:
        patch.setattr("standardwebhooks.webhooks.datetime", Later)
        happen(talk, "one")
        call_due()
    pass_time(60)
    call_due()
    assert [came.verified for came in receiver.came] == [False, True]
    assert fates() == ["status", "delivered"]


def test_with_two_secrets_each_of_them_verifies_until_the_old_one_ends(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    [old] = receiver.secrets
    new = rotate_secret(webhook, actor="test").secret
    for secrets in ([old], [new]):
        receiver.secrets = secrets
        happen(talk, f"with {len(receiver.came)}")
        call_due()
    assert [came.verified for came in receiver.came] == [True, True]
    assert all(came.headers["webhook-signature"].count("v1,") == 2 for came in receiver.came)
    Webhook.objects.update(previous_until=Now() - dt.timedelta(seconds=1))
    receiver.secrets = [old]
    happen(talk, "too late")
    call_due()
    assert receiver.came[-1].verified is False
    assert receiver.came[-1].headers["webhook-signature"].count("v1,") == 1
    forget_calls()
    webhook.refresh_from_db()
    assert (webhook.sealed_previous, webhook.previous_until) == ("", None)


def test_a_secret_that_no_key_opens_stops_it_in_words(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    Webhook.objects.update(sealed_secret="lost")
    happen(talk, "one")
    call_due()
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.stopped, receiver.came) == (False, "no_secret", [])
    made = rotate_secret(webhook, actor="test")
    receiver.secrets = [made.secret]
    change_webhook(webhook, WebhookChange(enabled=True), actor="test")
    call_due()
    assert [came.verified for came in receiver.came] == [True]


def test_a_killed_caller_s_event_is_sent_again_under_its_id(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    """The receiver has it, and whoever called was killed before it wrote that down."""
    [number] = happen(talk, "one")
    taken = claim()
    assert taken is not None
    row = WebhookCall.objects.select_related("webhook__agent", "event__message").get()
    webhook_calls._made(row)
    assert call_due() == 0  # somebody may still be at it
    pass_time(120)
    assert call_due() == 1
    assert fates() == ["lost", "delivered"]
    assert numbers(receiver) == [number, number]
    assert len({came.id for came in receiver.came}) == 1


def test_what_an_owner_changed_meanwhile_outlives_the_call_that_was_under_way(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    happened = happen(talk, "one", "two")
    taken = claim()
    assert taken is not None
    change_webhook(webhook, WebhookChange(after=happened[1]), actor="test")
    receiver.answers.append(status(410))
    webhook_calls.deliver(taken)
    webhook.refresh_from_db()
    assert (webhook.enabled, webhook.after, webhook.tries) == (True, happened[1], 0)
    assert call_due() == 0


def test_a_disabled_agent_s_webhook_waits(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    happen(talk, "one")
    Agent.objects.update(enabled=False)
    assert call_due() == 0
    Agent.objects.update(enabled=True)
    assert call_due() == 1


def test_another_agent_s_events_never_come(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    happen(factories.conversation(factories.AgentFactory.create()), "not yours")
    assert call_due() == 0
    assert Event.objects.count() == 1


def test_calls_of_long_ago_are_forgotten(
    webhook: Webhook, receiver: Receiver, talk: Conversation
) -> None:
    happen(talk, "one", "two")
    call_due()
    first = WebhookCall.objects.order_by("pk")[0]
    WebhookCall.objects.filter(pk=first.pk).update(at=Now() - dt.timedelta(days=31))
    assert forget_calls() == 1
    assert WebhookCall.objects.count() == 1
