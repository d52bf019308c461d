"""Webhooks in the admin: the secret once, the sentence when it fails, and nothing as HTML."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.models import Agent, Conversation, Webhook, WebhookCall
from tests.admin.conftest import staff
from tests.webhooks.conftest import call_due, happen, register
from tests.webhooks.receiver import Receiver, status

pytestmark = pytest.mark.django_db
ADD = "admin:handoff_webhook_add"
_SECRET = re.compile(r'value="(whsec_[A-Za-z0-9+/]{43}=)"')


@pytest.fixture
def admin(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss", "boss@example.com", "x"))
    return client


def entered(agent: Agent, url: str, **fields: Any) -> dict[str, Any]:
    return {"agent": agent.pk, "label": "Shop", "url": url, "payload": "full", **fields}


def of(webhook: Webhook, verb: str = "change") -> str:
    return reverse(f"admin:handoff_webhook_{verb}", args=[webhook.pk])


def test_a_new_one_shows_its_secret_once_and_works(
    admin: Client, agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    page = admin.post(reverse(ADD), entered(agent, receiver.url))
    [secret] = _SECRET.findall(page.text)
    receiver.secrets = [secret]
    webhook = Webhook.objects.get()
    for shown in (of(webhook), reverse("admin:handoff_webhook_changelist")):
        assert secret not in admin.get(shown).text
    happen(talk, "one")
    call_due()
    assert receiver.came[0].verified
    assert "Works" in admin.get(of(webhook)).text
    row = AuditEvent.objects.get(action="webhook.created")
    assert row.actor.startswith("admin:")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://127.0.0.1/", "must lead to a public address"),
        ("http://10.0.0.1/", "must lead to a public address"),
        ("https://nobody.invalid/", "must lead to a public address"),
        ("https://user:pw@shop.example/", "must not hold a user"),
        ("javascript:alert(1)", "must be an https address"),
    ],
)
def test_an_address_that_cannot_be_called_is_refused_in_words(
    admin: Client, agent: Agent, settings: Settings, url: str, said: str
) -> None:
    settings.PRIVATE_TARGETS = []
    page = admin.post(reverse(ADD), entered(agent, url))
    assert page.status_code == 200
    assert said in page.text
    assert Webhook.objects.count() == 0


def test_one_that_was_given_up_says_what_to_do_and_is_switched_on_again(
    admin: Client, agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    webhook = register(agent, receiver)
    receiver.answers.append(status(410))
    first, second = happen(talk, "one", "two")
    call_due()
    page = admin.get(of(webhook)).text
    assert "Stopped by the desk" in page
    assert "The receiver answered 410 Gone" in page
    changed = entered(agent, receiver.url, enabled="on")
    assert admin.post(of(webhook), changed).status_code == 302
    call_due()
    assert [came.event for came in receiver.came] == [first, first, second]


def test_what_waits_may_be_skipped(
    admin: Client, agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    webhook = register(agent, receiver)
    happen(talk, "one", "two")
    fields = entered(agent, receiver.url, enabled="on", skip="on", event_types=["handoff.released"])
    assert admin.post(of(webhook), fields).status_code == 302
    webhook.refresh_from_db()
    agent.refresh_from_db()
    assert (webhook.after, webhook.event_types) == (agent.last_event_id, ["handoff.released"])
    assert call_due() == 0


def test_what_a_receiver_says_is_shown_as_text(
    admin: Client, agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    webhook = register(agent, receiver)
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202e mail@x.example "
    receiver.always = status(500, (hostile + "x" * 2000).encode())
    happen(talk, "one")
    call_due()
    call = WebhookCall.objects.get()
    assert len(call.failure) <= 400
    pages = [
        admin.get(reverse("admin:handoff_webhookcall_changelist")).text,
        admin.get(reverse("admin:handoff_webhookcall_change", args=[call.pk])).text,
        admin.post(of(webhook, "test")).text,
    ]
    for page in pages:
        assert "&lt;script&gt;alert(1)" in page
        for bad in ("<script>alert", "<img src=x", "\u202e", "mail@x.example"):
            assert bad not in page


def test_the_test_button_calls_once_and_changes_nothing(
    admin: Client, agent: Agent, receiver: Receiver
) -> None:
    webhook = register(agent, receiver)
    assert "It works." in admin.post(of(webhook, "test")).text
    receiver.always = status(503)
    page = admin.post(of(webhook, "test")).text
    assert "It does not work yet." in page
    assert "503" in page
    webhook.refresh_from_db()
    assert (webhook.tries, webhook.failing_since, webhook.enabled) == (0, None, True)
    assert admin.get(of(webhook, "test")).status_code == 302
    assert len(receiver.came) == 2


def test_the_secret_is_rotated_and_the_new_one_shown_once(
    admin: Client, agent: Agent, receiver: Receiver
) -> None:
    webhook = register(agent, receiver)
    assert "signs beside it" in admin.get(of(webhook, "rotate")).text
    page = admin.post(of(webhook, "rotate")).text
    [secret] = _SECRET.findall(page)
    assert secret not in receiver.secrets
    assert "each call is signed with the old secret" in page
    webhook.refresh_from_db()
    assert webhook.opened_secrets(both=True) == [secret, receiver.secrets[0]]
    assert AuditEvent.objects.filter(action="webhook.rotated").count() == 1


def test_one_event_or_all_since_a_time_are_sent_again(
    admin: Client, agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    webhook = register(agent, receiver)
    numbers = happen(talk, "one", "two")
    call_due()
    assert admin.post(of(webhook, "replay"), {"event": numbers[0]}).status_code == 302
    call_due()
    since = {"since": "2020-01-01T00:00"}
    assert admin.post(of(webhook, "replay"), since).status_code == 302
    call_due()
    assert [came.event for came in receiver.came] == [*numbers, numbers[0], *numbers]
    for wrong, said in (
        ({}, "Fill in one of the two."),
        ({"event": 1, "since": "2020-01-01T00:00"}, "Fill in one of the two."),
        ({"event": 99_999}, "There is no such event."),
    ):
        page = admin.post(of(webhook, "replay"), wrong)
        assert page.status_code == 200
        assert said in page.text


def test_who_may_only_look_can_do_nothing(agent: Agent, receiver: Receiver) -> None:
    webhook = register(agent, receiver)
    viewer = staff("view_webhook", "view_webhookcall")
    assert viewer.get(of(webhook)).status_code == 200
    assert "Test webhook" not in viewer.get(of(webhook)).text
    for verb in ("test", "rotate", "replay"):
        assert viewer.post(of(webhook, verb)).status_code == 403
        assert staff("view_agent").post(of(webhook, verb)).status_code == 403
    assert viewer.post(of(webhook), entered(agent, receiver.url)).status_code == 403
    assert receiver.came == []
    assert staff("view_agent").get(of(webhook)).status_code == 403
