"""What somebody is owed who wrote to us is said at most once, and holds up nobody."""

import datetime as dt
import threading

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from handoff import tasks
from handoff.actions import couriers, notices
from handoff.models import Channel, InboundEvent
from handoff.transports import transport_class
from tests.fakes.providers import FakeAnswer
from tests.fakes.rude import Rude
from tests.fakes.toy import Toy
from tests.fakes.toy_chat import event, said
from tests.fakes.toy_desk import Toys, thread_of, toy_channel, write

pytestmark = pytest.mark.django_db


def owed(toys: Toys) -> InboundEvent:
    """A sentence that the person in the room is owed."""
    toys.hear(said("/release nonsense"))
    return InboundEvent.objects.latest("pk")


def test_it_is_said_where_it_was_asked_and_once(toys: Toys) -> None:
    toys.talk()
    assert toys.hear(said("/release nonsense", thread="t1")) == "not_recognised"
    for _ in range(3):
        assert len(toys.told()) == 1
    post = toys.chat.posts[-1]
    assert (post.room, post.thread) == ("support", "t1")
    assert "nonsense" not in post.text


def test_whoever_takes_it_alone_says_it(toys: Toys) -> None:
    owed(toys)
    assert notices.claim() is not None
    assert notices.claim() is None
    assert toys.told() == [], "whoever took it was killed: it is lost, not said twice"


@pytest.mark.parametrize("how", [FakeAnswer(401, json={}), Rude.SILENT])
def test_a_failure_is_kept_with_the_channel_and_not_tried_again(
    toys: Toys, settings: Settings, how: FakeAnswer | Rude
) -> None:
    settings.DISPATCH_SECONDS = 0.3
    owed(toys)
    toys.providers.script("toy", [how])
    assert toys.told() == []
    assert toys.told() == []
    assert Channel.objects.get(pk=toys.channel.pk).last_error_kind != ""


def test_what_nobody_could_be_told_for_an_hour_is_not_said(toys: Toys) -> None:
    owed(toys)
    InboundEvent.objects.update(processed_at=Now() - dt.timedelta(minutes=61))
    assert toys.told() == []


def test_where_each_message_disturbs_only_what_matters_is_said(
    toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Toy, "collects_lines", True)
    assert transport_class("toy").collects_lines
    _, session = toys.talk()
    toys.hear(said("See the file.", thread=thread_of(session), files=1))
    toys.talk("another")
    assert toys.hear(said("Which?")) == "which"
    assert toys.told() == []
    assert toys.hear(said(f"/release {session.release_token}")) == "released"
    assert len(toys.told()) == 1


def test_delivery_reports_and_strangers_are_answered_by_nobody(toys: Toys) -> None:
    toys.hear(event("failed", message="t9"))
    toys.hear(said("Anybody?"))
    assert not InboundEvent.objects.exclude(answer="").exists()


@pytest.mark.django_db(transaction=True)
def test_a_courier_says_it_and_a_server_that_hangs_holds_up_no_other_channel(
    toys: Toys, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    other = toy_channel(toys.agent, room="sales", secret="another")
    conversation, _ = toys.talk(channel=other)
    toys.hear(said("/release nonsense"))
    released = threading.Event()
    plain = Toy.send

    def send(self: Toy, message: object, *, deadline: float) -> object:
        if self.settings.room == "support":
            assert released.wait(20)
        return plain(self, message, deadline=deadline)  # type: ignore[arg-type]

    monkeypatch.setattr(Toy, "send", send)
    write(conversation, "Hello?")
    try:
        tasks.run_due()
        tasks.run_due()
        for _ in range(100):
            if any("Hello?" in post.text for post in toys.chat.posts):
                break
            released.wait(0.1)
        else:
            raise AssertionError("the line of the other channel waited")
        assert not [post for post in toys.chat.posts if post.is_notice]
    finally:
        released.set()
        assert couriers.wait(20)
    assert [post.text for post in toys.chat.posts if post.is_notice]
