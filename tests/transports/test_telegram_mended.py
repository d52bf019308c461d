"""What Telegram refuses in a message is taken out, and the rest is sent."""

from typing import Any

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.transports.base import Notice
from tests.fakes.providers import Providers
from tests.fakes.telegram import BOT, GROUP, SUPERGROUP, FakeTelegram
from tests.transports import mail_samples as samples
from tests.transports.telegram_samples import no, refused, send

UNLISTED = "Bad Request: SOMETHING_NEW"


def test_a_group_that_became_a_supergroup_gets_the_message_and_is_remembered(
    providers: Providers, telegram: FakeTelegram
) -> None:
    first = send(samples.request(), chat_id=GROUP)
    telegram.upgrade()
    receipt = send(
        samples.line(thread_key=first.thread_key, earlier_ids=(first.thread_key,)),
        chat_id=GROUP,
        bot_username=BOT.username,
    )
    post = telegram.posts[-1]
    assert (post.chat, post.answers) == (SUPERGROUP, None), "old messages cannot be answered there"
    assert receipt.provider_message_id == post.id
    assert receipt.settings == {"chat_id": str(SUPERGROUP)}
    assert len(providers.requests("telegram", path="sendMessage")) == 3


def test_a_group_that_moves_for_ever_is_given_up(providers: Providers) -> None:
    moves = [no(400, "Bad Request: moved", migrate_to_chat_id=-100 - n) for n in range(9)]
    providers.script("telegram", [*moves], path="sendMessage")
    assert refused(chat_id=GROUP).kind is Kind.NOT_FOUND
    assert len(providers.requests("telegram", path="sendMessage")) == 2


def test_a_topic_that_is_gone_leaves_the_group_itself(telegram: FakeTelegram) -> None:
    telegram.rooms[SUPERGROUP].topics = {7}
    known: dict[str, Any] = {"chat_id": SUPERGROUP, "topic_id": 7, "bot_username": BOT.username}
    first = send(samples.request(), **known)
    assert (telegram.posts[0].topic, first.settings) == (7, None)
    telegram.rooms[SUPERGROUP].topics = set()
    second = send(samples.line(thread_key=first.thread_key), **known)
    assert (telegram.posts[1].topic, telegram.posts[1].answers) == (None, None)
    assert second.settings == {"topic_id": None}
    assert second.raw_excerpt == "the topic is gone"


def test_general_is_written_to_without_naming_it(telegram: FakeTelegram) -> None:
    telegram.rooms[SUPERGROUP].topics = {7}
    receipt = send(samples.request(), chat_id=SUPERGROUP, topic_id=1, bot_username=BOT.username)
    assert telegram.posts[0].topic is None
    assert receipt.settings is None


def test_markup_that_is_refused_is_sent_once_more_as_text(
    providers: Providers, telegram: FakeTelegram
) -> None:
    words = "Bad Request: can't parse entities: Can't find end tag corresponding to start tag \"b\""
    providers.script("telegram", [no(400, words)], path="sendMessage")
    receipt = send(samples.request(summary="1 < 2 & @mia " * 20))
    [post] = telegram.posts
    assert f"Fill return form: {samples.LINK}" in post.text
    assert f"/release {samples.TOKEN}" in post.text
    assert "| 1 < 2 & " in post.text
    assert (post.rings, post.said("code")) == ([], [])
    assert post.buttons, "what was not refused stays"
    assert receipt.raw_excerpt == "the markup is not taken"
    assert "parse_mode" not in providers.requests("telegram", path="sendMessage")[1].json()


def test_markup_that_is_refused_twice_is_a_refusal(providers: Providers) -> None:
    words = "Bad Request: can't parse entities: Unsupported start tag"
    providers.script("telegram", [no(400, words)] * 3, path="sendMessage")
    assert refused().kind is Kind.BAD_FORMAT
    assert len(providers.requests("telegram", path="sendMessage")) == 2


def test_a_message_that_is_too_long_for_telegram_is_sent_shorter(
    providers: Providers, telegram: FakeTelegram
) -> None:
    providers.script("telegram", [no(400, "Bad Request: message is too long")], path="sendMessage")
    send(samples.request(summary="long " * 400, extra_context=(("k", "v" * 4000),)))
    [post] = telegram.posts
    first = providers.requests("telegram", path="sendMessage")[0].json()["text"]
    assert len(post.text) <= 3500 < len(first)
    assert samples.LINK in post.text


def test_too_long_twice_is_a_refusal(providers: Providers) -> None:
    too_long = no(400, "Bad Request: message is too long")
    providers.script("telegram", [too_long] * 2, path="sendMessage")
    assert refused().kind is Kind.TOO_LONG


@pytest.mark.parametrize(
    "words",
    [
        "Bad Request: BUTTON_URL_INVALID",
        f"Bad Request: inline keyboard button URL '{samples.LINK}' is invalid: Wrong HTTP URL",
    ],
)
def test_a_button_that_is_refused_is_left_out(
    providers: Providers, telegram: FakeTelegram, words: str
) -> None:
    providers.script("telegram", [no(400, words)] * 2, path="sendMessage")
    error = refused()
    assert error.kind is Kind.BAD_FORMAT
    assert telegram.posts == []
    providers.script("telegram", [no(400, words)], path="sendMessage")
    send(samples.request())
    [post] = telegram.posts
    assert post.buttons == ()
    assert post.links == {"Fill return form": samples.LINK}


def test_a_message_that_can_be_answered_no_more_is_not_answered(
    providers: Providers, telegram: FakeTelegram
) -> None:
    first = send(samples.request())
    words = "Bad Request: message to be replied not found"
    providers.script("telegram", [no(400, words)], path="sendMessage")
    send(samples.line(thread_key=first.thread_key))
    assert [post.answers for post in telegram.posts] == [None, None]


def test_everything_may_be_wrong_with_one_message(
    providers: Providers, telegram: FakeTelegram
) -> None:
    telegram.rooms[SUPERGROUP].topics = set()
    providers.script(
        "telegram",
        [
            no(400, "Bad Request: moved", migrate_to_chat_id=SUPERGROUP),
            no(400, "Bad Request: BUTTON_URL_INVALID"),
            no(400, "Bad Request: can't parse entities: x"),
        ],
        path="sendMessage",
    )
    receipt = send(samples.request(), chat_id=GROUP, topic_id=7)
    assert telegram.posts[0].chat == SUPERGROUP
    assert receipt.settings == {
        "chat_id": str(SUPERGROUP),
        "topic_id": None,
        "bot_username": BOT.username,
    }
    assert receipt.raw_excerpt.count(";") == 2


def test_a_public_name_becomes_the_number_that_it_names(telegram: FakeTelegram) -> None:
    telegram.rooms[SUPERGROUP].username = "support_crew"
    receipt = send(samples.request(), chat_id="@support_crew")
    assert receipt.settings == {"chat_id": str(SUPERGROUP), "bot_username": BOT.username}
    assert receipt.provider_message_id == f"{SUPERGROUP}:1"


def test_a_notice_changes_no_settings(providers: Providers, telegram: FakeTelegram) -> None:
    telegram.rooms[GROUP].moved_to = SUPERGROUP
    receipt = send(Notice(place=str(GROUP), text="Released."), chat_id=GROUP)
    assert telegram.posts[0].chat == SUPERGROUP
    assert receipt.settings is None
