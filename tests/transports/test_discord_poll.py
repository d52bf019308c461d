"""What people write in the threads of open handoffs, read where the channel asks for it."""

import itertools
import time
from typing import Any

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.discord_poll import CLOSED, NO_INTENT
from handoff.transports.inbound import Polled, Said
from tests.fakes.discord import BOT, CHANNEL, FakeDiscord
from tests.fakes.discord_answers import too_many
from tests.fakes.discord_calls import MIA
from tests.fakes.providers import FakeAnswer, Providers
from tests.transports.discord_samples import bot, send
from tests.transports.mail_samples import request


@pytest.fixture
def discord(providers: Providers) -> FakeDiscord:
    fake: FakeDiscord = providers.fakes["discord"]
    fake.shows_content = True
    return fake


def thread(number: int = 1) -> str:
    return send(bot(), request(number=number)).thread_key


def look(*threads: str, cursor: str = "", seconds: float = 5) -> Polled:
    transport = bot(poll_replies=True)
    assert transport.polls
    return transport.poll(cursor, threads=threads, deadline=time.monotonic() + seconds)


def texts(polled: Polled) -> list[str]:
    return [event.text for event in polled.events if isinstance(event, Said)]


def test_what_a_person_writes_comes_oldest_first(discord: FakeDiscord) -> None:
    here = thread()
    first = discord.write(here, "On it.")
    discord.write(
        here, "Ask <@7>.", mentions=[{"id": "7", "username": "ana", "global_name": "Ana"}]
    )
    found = look(here)
    assert texts(found) == ["On it.", "Ask @Ana."]
    event = found.events[0]
    assert isinstance(event, Said)
    assert (event.keys, event.message_id) == ((first,), first)
    assert event.account == CHANNEL
    assert event.place == event.thread_key == here
    assert event.replies_to == (here,)
    assert (event.sender_id, event.sender_name) == (MIA["id"], "Mia M.")
    assert event.at is not None
    assert found.hint == ""


def test_bots_webhooks_and_discord_itself_are_nobody(discord: FakeDiscord) -> None:
    here = thread()
    discord.write(here, "I am a bot.", author=BOT)
    discord.write(here, "I am a webhook.", webhook_id="1")
    discord.write(here, "Mia named the thread anew.", type=4)
    found = look(here)
    assert found.events == ()
    assert found.hint == ""


def test_a_reply_names_what_it_answers(discord: FakeDiscord) -> None:
    here = thread()
    discord.write(here, "Yes.", type=19, message_reference={"message_id": "42", "type": 0})
    [event] = look(here).events
    assert isinstance(event, Said)
    assert event.replies_to == ("42", here)


def test_files_stickers_and_what_is_passed_on_are_counted_or_said_to_be_nothing(
    discord: FakeDiscord,
) -> None:
    here = thread()
    discord.write(here, "", attachments=[{"id": "1"}, {"id": "2"}])
    discord.write(here, "", sticker_items=[{"id": "1"}])
    discord.write(here, "", message_reference={"message_id": "1", "type": 1})
    found = look(here)
    assert [event.attachments for event in found.events if isinstance(event, Said)] == [2, 0, 0]
    assert found.hint == ""


def test_without_the_intent_the_admin_is_told_and_nothing_is_lost(discord: FakeDiscord) -> None:
    discord.shows_content = False
    here = thread()
    discord.write(here, "Can you read this?")
    found = look(here)
    assert found.events == ()
    assert found.hint == NO_INTENT
    assert "Message Content Intent" in found.hint
    discord.shows_content = True
    found = look(here, cursor=found.cursor)
    assert texts(found) == ["Can you read this?"]
    assert found.hint == ""


def test_one_cursor_serves_all_threads_and_misses_nothing_between_them(
    providers: Providers, discord: FakeDiscord
) -> None:
    """A message that comes into the first thread while the second is read is older than what the
    second brings."""
    one, two = thread(1), thread(2)
    numbers = itertools.count()

    def meanwhile(channel: str) -> None:
        if channel == two:
            discord.write(one, f"one {next(numbers)}")
            discord.write(two, f"two {next(numbers)}")

    discord.meanwhile = meanwhile
    seen: set[str] = set()
    cursor = ""
    for _ in range(6):
        found = look(one, two, cursor=cursor)
        cursor = found.cursor
        seen |= set(texts(found))
    assert {f"one {number}" for number in range(0, 10, 2)} <= seen
    assert {f"two {number}" for number in range(1, 12, 2)} <= seen
    asked = providers.requests("discord", path="/messages")
    assert int(asked[-1].query["after"]) > int(one), "it goes on, and does not begin anew"


def test_a_quiet_thread_is_asked_for_nothing_twice(discord: FakeDiscord) -> None:
    here = thread()
    discord.write(here, "Once.")
    found = look(here)
    assert texts(found) == ["Once."]
    again = look(here, cursor=found.cursor)  # one look behind: known by its id
    assert texts(again) == ["Once."]
    assert texts(look(here, cursor=again.cursor)) == []


def test_a_long_thread_is_read_page_by_page(providers: Providers, discord: FakeDiscord) -> None:
    here = thread()
    for number in range(250):
        discord.write(here, str(number))
    assert texts(look(here)) == [str(number) for number in range(250)]
    assert len(providers.requests("discord", path=f"/channels/{here}/messages")) == 3


def test_what_there_was_no_time_for_is_read_next_time(discord: FakeDiscord) -> None:
    here = thread()
    discord.write(here, "Hello")
    found = look(here, cursor="1:2", seconds=-1)
    assert (found.events, found.cursor) == ((), "1:2")


def test_a_deleted_thread_stops_no_other(discord: FakeDiscord) -> None:
    gone, here = thread(1), thread(2)
    del discord.channels[gone]
    discord.write(here, "Still here.")
    assert texts(look(gone, here, "not-a-thread")) == ["Still here."]


def test_a_thread_that_the_bot_may_not_read_stops_no_other(discord: FakeDiscord) -> None:
    closed, here = thread(1), thread(2)
    discord.channels[closed].is_seen = False
    discord.write(here, "Still here.")
    found = look(closed, here)
    assert texts(found) == ["Still here."]
    assert found.hint.startswith(CLOSED)
    assert look(closed, here, cursor=found.cursor).hint.startswith(CLOSED)
    with pytest.raises(TransportError) as caught:
        look(closed)
    assert caught.value.kind is Kind.PERMISSION


def test_one_odd_message_stops_no_other(providers: Providers, discord: FakeDiscord) -> None:
    here = thread()
    good = {"id": str(int(here) + 5), "author": MIA, "content": "Good.", "type": 0}
    odd: list[Any] = [7, None, {}, {"id": "x"}, {"id": str(int(here) + 6), "author": None}, good]
    providers.script("discord", [FakeAnswer(200, json=odd)], path="/messages")
    assert texts(look(here)) == ["Good."]


def test_refusals_are_the_channels_trouble(providers: Providers, discord: FakeDiscord) -> None:
    here = thread()
    discord.channels[CHANNEL].is_seen = False
    with pytest.raises(TransportError) as caught:
        look(here)
    assert caught.value.kind is Kind.PERMISSION
    discord.channels[CHANNEL].is_seen = True
    providers.script("discord", [too_many(3.5), FakeAnswer(502, body=b"<html>")], path="/messages")
    with pytest.raises(TransportError) as caught:
        look(here)
    assert (caught.value.kind, caught.value.retry_after) == (Kind.RATE_LIMITED, 3.5)
    with pytest.raises(TransportError) as caught:
        look(here)
    assert caught.value.kind is Kind.TRANSIENT, "asking posts nothing, so it can be asked again"


def test_without_the_history_discord_shows_nothing(discord: FakeDiscord) -> None:
    here = thread()
    discord.write(here, "Hello")
    discord.channels[CHANNEL].has_history = False
    assert look(here).events == ()


def test_only_a_channel_that_asks_for_it_is_polled() -> None:
    assert not bot().polls
