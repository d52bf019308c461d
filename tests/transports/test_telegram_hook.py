"""Telegram's webhook: believed by its secret alone, and always taken."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff.transports.inbound import HookCall
from handoff.transports.telegram_hook import TelegramHook
from tests.fakes.telegram import FakeTelegram
from tests.fakes.telegram_chats import MIA
from tests.transports.telegram_samples import SECRET, hooked, settings


def written() -> bytes:
    chats = FakeTelegram()
    chats.write("It is lost.")
    return json.dumps(chats.waiting[0]).encode()


@pytest.mark.parametrize(
    "secret", [None, "", "handoff-test_secre", "handoff-test_secret2", "HANDOFF-TEST_SECRET", "ä"]
)
def test_without_the_secret_nothing_is_believed(secret: str | None) -> None:
    got = hooked(written(), secret=secret)
    assert (got.answer.status, got.answer.body, got.events) == (403, b"", ())
    assert got.refused == "bad_secret"


def test_a_channel_without_a_secret_believes_nobody() -> None:
    for secret in (None, "", SECRET):
        assert hooked(written(), secret=secret, webhook_secret=None).answer.status == 403


def test_it_is_only_posted_to() -> None:
    header = {"x-telegram-bot-api-secret-token": SECRET}
    call = HookCall(method="GET", headers=header, query={}, body=b"", at=0)
    answer = TelegramHook(settings()).receive(call).answer
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'{"a": 1, "a": 2}', b"[" * 99, b'"\\ud800"', b"NaN"]
)
def test_what_cannot_be_read_is_taken_so_that_it_does_not_come_again(body: bytes) -> None:
    got = hooked(body)
    assert (got.answer.status, got.events, got.refused) == (200, (), "unreadable")


@pytest.mark.parametrize(
    "update",
    [
        [],
        "x",
        None,
        {},
        {"update_id": 1},
        {"update_id": "1", "message": {}},
        {"update_id": 1, "message": {"message_id": 1}},
        {"update_id": 1, "message": {"message_id": 1, "chat": {"id": 10**30}, "text": "x"}},
        {"update_id": 10**30, "message": {"message_id": 1, "chat": {"id": 1}, "text": "x"}},
        {"update_id": 1, "message": {"message_id": 1, "chat": {"id": 1}, "text": ["x"]}},
        {"update_id": 1, "poll": {"id": "1"}},
    ],
)
def test_what_is_no_message_is_taken_and_is_nothing(update: object) -> None:
    got = hooked(json.dumps(update).encode())
    assert (got.answer.status, got.events, got.refused) == (200, (), "")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "update_id", "message", "message_id", "chat", "id", "from", "text", "date",
                    "reply_to_message", "sender_chat", "is_topic_message", "message_thread_id",
                    "migrate_to_chat_id", "photo", "type",
                ]
            ),
            inner,
        ),
        max_leaves=30,
    )
)  # fmt: skip
def test_nothing_that_can_be_sent_breaks_it(update: Any) -> None:
    got = hooked(json.dumps(update).encode("utf-8", "surrogatepass"))
    assert got.answer.status == 200


@given(date=st.integers())
def test_any_date_is_one_or_none(date: int) -> None:
    update = {
        "update_id": 1,
        "message": {
            "message_id": 1,
            "date": date,
            "chat": {"id": MIA.id, "type": "private"},
            "from": MIA.as_json(),
            "text": "x",
        },
    }
    assert len(hooked(json.dumps(update).encode()).events) == 1
