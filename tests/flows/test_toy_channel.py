"""A further kind of channel is one module and one line, as docs/adding-a-channel.md promises."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from handoff import tasks
from handoff.actions import couriers, endings
from handoff.models import Agent, Channel, Delivery, InboundEvent, Session
from tests import environment, factories
from tests.admin.test_channels import ADD, OPTIONS
from tests.api.conftest import Desk
from tests.fakes import toy
from tests.fakes.toy_chat import KEY, event, said
from tests.fakes.toy_desk import Toys, write

pytestmark = pytest.mark.django_db(transaction=True)
NOTE = "[Bot resumed — the recipient (Night shift) has handed control back. Outcome: resolved. "


def work() -> None:
    """What the worker does when it is nudged, until nothing is left."""
    for _ in range(3):
        tasks.run_due()
        assert couriers.wait(20)


def add_channel(agent: Agent, **fields: str) -> Any:
    """Fill in the admin's form and save it."""
    User.objects.create_superuser("boss", "boss@example.com", "correct horse battery")
    admin = Client()
    assert admin.login(username="boss", password="correct horse battery")
    assert "?kind=toy" in admin.get(ADD).text
    filled = {"label": "Night shift", "agent": str(agent.pk), **OPTIONS, **fields}
    saved = admin.post(f"{ADD}?kind=toy", filled)
    return admin, saved


def test_the_whole_story_of_a_handoff_to_a_kind_of_ones_own(toys: Toys) -> None:
    agent = toys.agent
    admin, _ = add_channel(agent, setting_room="support", setting_api_key=KEY)
    channel = Channel.objects.get(label="Night shift")
    secret = channel.opened_settings()["hook_secret"]
    assert len(secret) > 30, "the desk made it"
    page = admin.get(reverse("admin:handoff_channel_change", args=[channel.pk])).text
    assert f"/hooks/toy/{channel.uuid}/" in page
    assert KEY not in page
    assert secret not in page
    tested = admin.post(reverse("admin:handoff_channel_test", args=[channel.pk])).text
    assert "The room has 3 people." in tested

    desk = Desk(agent)
    conversation = factories.conversation(agent, "visitor-9", name="Ana")
    answer = desk.call("handoff_request", factories.arguments(channel), conversation=conversation)
    assert answer["text"].startswith("Handed to Night shift by toy; they were notified.")
    assert answer["result"]["channel_message_id"] == "t1"
    [request] = toys.chat.posts
    token = Session.objects.get().release_token
    assert factories.SUMMARY in request.text
    assert f"/release {token}" in request.text

    def post(**what: Any) -> None:
        delivered = toys.post(what, secret=secret, channel=channel)
        assert delivered.status == 200
        work()

    post(**event("delivered", message="t1"))
    post(**said("It left on Monday.", thread="t1"))
    path = f"conversations/{conversation.public_id}"
    [line] = desk.get(f"{path}/messages").json()["data"]
    assert (line["author"], line["name"], line["text"]) == ("person", "Mia", "It left on Monday.")
    handoff = desk.get(path).json()["handoff"]
    assert handoff["attempts"][0]["delivery"] == "delivered"

    turn = {"client_id": "1", "author": "subscriber", "text": "And the other parcel?"}
    routed = desk.post(f"{path}/messages", turn).json()
    assert (routed["bypass"], routed["message"]["routed_to"]) == (True, "recipient")
    work()
    relayed = toys.chat.posts[-1]
    assert (relayed.room, relayed.thread) == ("support", "t1")
    assert "And the other parcel?" in relayed.text

    post(**said(f"/release {token} Both are on their way.", thread="t1"))
    assert toys.chat.posts[-1].text == "Released. The assistant has been told."
    turn = {"client_id": "2", "author": "subscriber", "text": "Thanks!"}
    told = desk.post(f"{path}/messages", turn).json()
    assert (told["bypass"], told["message"]["routed_to"]) == (False, "agent")
    [note] = told["context"]
    assert note["text"].startswith(f"{NOTE}Both are on their way.]")
    assert note["missing"][0]["name"] == "order_status"


def test_what_is_wrong_in_its_form_stands_beside_the_field(toys: Toys) -> None:
    _, page = add_channel(toys.agent, setting_room="No Room!", setting_api_key="")
    problems = page.context["adminform"].form.errors
    assert set(problems) == {"setting_room", "setting_api_key"}
    assert not Channel.objects.filter(label="Night shift").exists()


def test_what_the_test_button_finds_is_said(toys: Toys) -> None:
    admin, _ = add_channel(toys.agent, setting_room="attic", setting_api_key=KEY)
    channel = Channel.objects.get(label="Night shift")
    tested = admin.post(reverse("admin:handoff_channel_test", args=[channel.pk])).text
    assert "Nobody has made such a room." in tested


def test_a_kind_that_is_carried_no_more_stops_nothing_else(toys: Toys, settings: Settings) -> None:
    conversation, session = toys.talk()
    toys.post(said("It left.", thread="t1"))
    write(conversation, "Hello?")
    mail = factories.email_channel(toys.agent, smtp_url="smtp://127.0.0.1:9")
    other = factories.conversation(toys.agent, "other")
    factories.requested(toys.agent, mail, other)
    settings.TRANSPORTS = {}
    write(conversation, "Anybody?")
    work()
    assert Delivery.objects.filter(status="failed", failure_kind="auth").count() == 2
    assert InboundEvent.objects.get().processed_at is None, "it waits"
    assert toys.post(said("It left.", thread="t1")).status == 404
    assert endings.cancel(session, reason="", actor="agent:test")
    work()
    settings.TRANSPORTS = {"toy": "tests.fakes.toy.Toy"}
    InboundEvent.objects.update(next_attempt_at=Now())
    work()
    assert InboundEvent.objects.get().outcome == "late"


def test_the_page_about_adding_a_channel_shows_this_very_module() -> None:
    page = (environment.ROOT / "docs/adding-a-channel.md").read_text()
    pieces = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(pieces) == 4
    assert "\n\n".join(pieces) == Path(toy.__file__).read_text()
    assert "adding-a-channel.md" in (environment.ROOT / "docs/developing.md").read_text()
