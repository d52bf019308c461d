"""How replies in Telegram are fetched, where it cannot post to us."""

import time

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.inbound import Polled, Said
from tests.fakes.providers import FakeAnswer, Providers
from tests.fakes.telegram import FakeTelegram
from tests.transports.telegram_samples import channel

HOOK = "https://desk.example.org/hooks/telegram/5f1d4c4e-0000-4000-8000-000000000000/"
PRESS = "Press “Connect replies” on the channel's page."


def poll(cursor: str = "", **changes: object) -> Polled:
    return channel(mode="poll", **changes).poll(cursor, threads=(), deadline=time.monotonic() + 5)


def texts(polled: Polled) -> list[str]:
    return [event.text for event in polled.events if isinstance(event, Said)]


def test_replies_are_fetched_once_and_kept_until_they_are(telegram: FakeTelegram) -> None:
    assert channel(mode="poll").polls
    assert not channel().polls
    telegram.write("one")
    telegram.write("two")
    first = poll()
    assert texts(first) == ["one", "two"]
    assert texts(poll()) == ["one", "two"], "nobody said that they had arrived"
    telegram.write("three")
    second = poll(first.cursor)
    assert texts(second) == ["three"]
    assert len(telegram.waiting) == 1
    assert texts(poll(second.cursor)) == []
    assert telegram.waiting == []


def test_what_is_nothing_to_us_is_forgotten_as_well(telegram: FakeTelegram) -> None:
    telegram.write("/start")
    telegram.update(poll={"id": "1"})
    polled = poll()
    assert polled.events == ()
    poll(polled.cursor)
    assert telegram.waiting == []


def test_a_server_that_counts_anew_is_followed(telegram: FakeTelegram) -> None:
    """As after a quiet week: it answers from its own beginning."""
    telegram.write("one")
    newest = telegram.waiting[0]["update_id"]
    cursor = str(newest + 1_000_000)
    polled = poll(cursor)
    assert texts(polled) == ["one"]
    assert polled.cursor == str(newest + 1)
    assert texts(poll(polled.cursor)) == []


def test_nothing_new_leaves_the_cursor(telegram: FakeTelegram) -> None:
    assert poll("").cursor == ""
    assert poll("700000009").cursor == "700000009"


def test_telegram_is_asked_to_wait_no_longer_than_there_is_time(
    providers: Providers, telegram: FakeTelegram
) -> None:
    for seconds in (1.0, 10.0, 100.0):
        channel(mode="poll").poll("", threads=(), deadline=time.monotonic() + seconds)
    waits = [asked.json()["timeout"] for asked in providers.requests("telegram")]
    assert waits[0] == 0
    assert waits[1] in (7, 8)
    assert waits[2] == 25


@pytest.mark.parametrize("state", ["webhook", "rival"])
def test_whoever_else_hears_the_bot_is_named(telegram: FakeTelegram, state: str) -> None:
    if state == "webhook":
        telegram.webhook.url = "https://n8n.example.net/webhook/its-secret-path"
    telegram.rival = state == "rival"
    with pytest.raises(TransportError) as caught:
        poll()
    assert caught.value.kind is Kind.TRANSIENT, "messages still go out"
    assert ("Connect replies" if state == "webhook" else "bot of its own") in caught.value.hint


@pytest.mark.parametrize(
    "answer",
    [
        FakeAnswer(200, json={"ok": True, "result": True}),
        FakeAnswer(502, body=b"<html></html>"),
        FakeAnswer(500, json={"ok": False, "error_code": 500, "description": "restart"}),
    ],
)
def test_a_poll_that_says_nothing_is_tried_again(
    providers: Providers, telegram: FakeTelegram, answer: FakeAnswer
) -> None:
    providers.script("telegram", [answer])
    with pytest.raises(TransportError) as caught:
        poll()
    assert caught.value.kind is Kind.TRANSIENT


def test_updates_that_are_none_are_passed_by(providers: Providers, telegram: FakeTelegram) -> None:
    telegram.write("one")
    odd = [7, {"update_id": 5}, telegram.waiting[0], {"update_id": "9"}]
    providers.script("telegram", [FakeAnswer(200, json={"ok": True, "result": odd})])
    polled = poll()
    assert texts(polled) == ["one"]
    assert polled.cursor == str(telegram.waiting[0]["update_id"] + 1)
