"""A webhook stops with the token that it was set up with, and no later."""

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from audit.models import Event as AuditEvent
from handoff.actions.tokens import revoke_token
from handoff.actions.webhook_queue import claim
from handoff.management.findings import State, findings
from handoff.models import Agent, Conversation, Token, Webhook
from tests.webhooks.conftest import call_due, happen
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_api import Door

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss", "boss@example.com", "x"))
    return client


def revoke(token: Token | None) -> None:
    assert token is not None
    assert revoke_token(token, actor="test")


def the_webhook() -> Webhook:
    return Webhook.objects.select_related("token").get()


def form_of(webhook: Webhook, **fields: str) -> tuple[str, dict[str, str]]:
    sent = {"label": "", "url": webhook.url, "payload": "full", **fields}
    return reverse("admin:handoff_webhook_change", args=[webhook.pk]), sent


def test_it_stops_when_its_token_is_revoked_and_says_so_everywhere(
    agent: Agent, receiver: Receiver, talk: Conversation, admin: Client
) -> None:
    stolen, mine = Door(agent), Door(agent)
    made = stolen.made(receiver.url)
    revoke(the_webhook().token)
    happen(talk, "one")
    assert claim() is None  # nothing more is sent, whoever looks first
    told = mine("GET", f"/{made['id']}").json()
    assert (told["enabled"], told["stopped"]) == (False, "token_revoked")
    assert told["problem"].startswith("The token that set it up was revoked")
    row = AuditEvent.objects.get(action="webhook.disabled")
    assert (row.actor, row.agent, row.reason) == ("desk", "shop", "token_revoked")
    assert row.details["webhook"] == made["id"]
    [found] = [found for found in findings() if "Webhook " in found.sentence]
    assert found.state is State.BAD
    assert "was revoked" in found.sentence
    assert "was revoked" in admin.get(form_of(the_webhook())[0]).text
    assert call_due() == 0
    assert receiver.came == []


def test_it_stops_at_once_even_when_nothing_is_due(agent: Agent, receiver: Receiver) -> None:
    stolen, mine = Door(agent), Door(agent)
    stolen.made(receiver.url)
    mine.made(receiver.url, label="Mine")
    Agent.objects.update(enabled=False)
    revoke(Webhook.objects.exclude(label="Mine").select_related("token").get().token)
    assert list(Webhook.objects.order_by("pk").values_list("enabled", "stopped")) == [
        (False, "token_revoked"),
        (True, ""),
    ]
    assert AuditEvent.objects.filter(action="webhook.disabled").count() == 1


def test_one_that_was_tied_to_a_token_while_that_was_revoked_is_never_called(
    agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    Door(agent).made(receiver.url)
    Token.objects.update(revoked_at=Now())
    happen(talk, "one")
    assert call_due() == 0
    assert the_webhook().stopped == "token_revoked"
    assert receiver.came == []


@pytest.mark.parametrize("change", [{"enabled": True}, {"url": "and more"}])
def test_who_gives_its_address_or_says_that_it_is_on_answers_for_it(
    agent: Agent, receiver: Receiver, talk: Conversation, change: dict[str, object]
) -> None:
    first, second = Door(agent), Door(agent)
    path = f"/{first.made(receiver.url)['id']}"
    old = the_webhook().token
    if "url" in change:
        change = {"url": receiver.url + "2"}
    assert second("PATCH", path, {"label": "Shop", "payload": "thin"}).status_code == 200
    assert the_webhook().token == old
    assert second("PATCH", path, change).status_code == 200
    noted = AuditEvent.objects.filter(action="webhook.changed").order_by("pk")
    assert [row.details["taken_over"] for row in noted] == [False, True]
    new = the_webhook().token
    assert new != old
    revoke(old)
    happen(talk, "one")
    assert call_due() == 1
    revoke(new)
    happen(talk, "two")
    assert call_due() == 0


def test_one_that_stopped_goes_on_with_another_token_or_in_the_admin(
    agent: Agent, receiver: Receiver, talk: Conversation, admin: Client
) -> None:
    door, other = Door(agent), Door(agent)
    path = f"/{door.made(receiver.url)['id']}"
    revoke(the_webhook().token)
    happen(talk, "one", "two")
    assert call_due() == 0
    assert other("PATCH", path, {"enabled": True}).json()["stopped"] is None
    assert call_due() == 2
    revoke(the_webhook().token)
    happen(talk, "three")
    assert call_due() == 0
    change, sent = form_of(the_webhook(), enabled="on")
    assert admin.post(change, sent).status_code == 302
    assert the_webhook().token is None
    assert call_due() == 1


def test_a_token_that_only_expires_stops_nothing(
    agent: Agent, receiver: Receiver, talk: Conversation
) -> None:
    Door(agent).made(receiver.url)
    Token.objects.update(expires_at=Now())
    happen(talk, "one")
    assert call_due() == 1


def test_the_admin_shows_which_were_set_up_through_the_api(
    agent: Agent, receiver: Receiver, admin: Client
) -> None:
    Door(agent).made(receiver.url, label="Out there")
    Token.objects.update(label="CI <runner>")
    token = Token.objects.get()
    entered = {"agent": agent.pk, "label": "In here", "url": receiver.url, "payload": "full"}
    assert admin.post(reverse("admin:handoff_webhook_add"), entered).status_code == 200
    pages = reverse("admin:handoff_webhook_changelist")
    both = admin.get(pages).text
    assert f"The API, with {token} CI &lt;runner&gt;" in both
    assert "A person, here" in both
    assert "Out there" not in admin.get(pages, {"token__isempty": "1"}).text
    assert "In here" not in admin.get(pages, {"token__isempty": "0"}).text
    mine = Webhook.objects.get(label="Out there")
    assert f"with {token}" in admin.get(form_of(mine)[0]).text
