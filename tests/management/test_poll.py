"""`manage.py poll_…` reads the same channels as the server, once or until it is stopped."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from handoff.management.commands import poll_telegram
from handoff.models import Channel, InboundEvent
from tests.fakes.toy_chat import said
from tests.fakes.toy_desk import Toys, lines, thread_of, toy_channel

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def channel(toys: Toys, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Channel:
    settings.TRANSPORTS = {**settings.TRANSPORTS, "polled": "tests.fakes.toy_polled.PolledToy"}
    monkeypatch.setattr(poll_telegram.Command, "kind", "polled")
    toys.channel = toy_channel(toys.agent, kind="polled")
    return toys.channel


@pytest.fixture
def handlers() -> Iterator[None]:
    """A command takes the signals that stop it; pytest wants them back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("poll_telegram", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_once_reads_each_channel_and_gives_what_came_its_effect(
    toys: Toys, channel: Channel
) -> None:
    conversation, session = toys.talk()
    toys.chat.queue += [
        said("It left.", thread=thread_of(session)), said(f"/release {session.release_token}")
    ]  # fmt: skip
    assert run("--once") == f"Channel {channel.pk}: 2 new.\n"
    assert len(lines(conversation)) == 1
    assert toys.chat.posts[-1].text == "Released. The assistant has been told."


def test_what_somebody_else_reads_is_left_to_them(toys: Toys, channel: Channel) -> None:
    Channel.objects.filter(pk=channel.pk).update(poll_at="2199-01-01T00:00:00Z")
    assert "somebody looks already" in run("--once", channel.pk)


def test_a_failure_is_said_and_counts(toys: Toys, channel: Channel) -> None:
    toys.chat.key = "changed"
    with pytest.raises(CommandError, match="1 of 1 could not be read"):
        run("--once")


def test_without_such_a_channel_it_says_what_to_set(toys: Toys) -> None:
    with pytest.raises(CommandError, match=r"No telegram channel asks for it \(mode: poll\)"):
        call_command("poll_telegram")
    with pytest.raises(CommandError, match=r"No email channel asks for it \(inbound: imap\)"):
        call_command("poll_mailbox")


def test_it_goes_on_until_it_is_stopped(toys: Toys, channel: Channel, handlers: None) -> None:
    def later() -> None:
        time.sleep(0.5)
        toys.chat.queue.append(said("It left."))
        end = time.monotonic() + 20
        while not InboundEvent.objects.exists() and time.monotonic() < end:
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGTERM)

    stopper = threading.Thread(target=later)
    stopper.start()
    assert run() == f"Channel {channel.pk}: 1 new.\n"
    stopper.join()
