"""The error table of the Bot API row by row, and what a refused message is sent without."""

import time
from typing import Any

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.base import Notice
from tests.fakes.providers import FakeAnswer, Providers, Taken
from tests.fakes.rude import Rude
from tests.fakes.telegram import BOT, BOT_TOKEN, GROUP, SUPERGROUP, FakeTelegram
from tests.fakes.telegram_chats import MIA
from tests.transports import mail_samples as samples
from tests.transports.telegram_samples import send

UNLISTED = "Bad Request: SOMETHING_NEW"


@pytest.fixture
def telegram(providers: Providers) -> FakeTelegram:
    found: FakeTelegram = providers.fakes["telegram"]
    return found


def said(code: int, words: str, **parameters: int) -> FakeAnswer:
    body: dict[str, Any] = {"ok": False, "error_code": code, "description": words}
    return FakeAnswer(code, json=body | ({"parameters": parameters} if parameters else {}))


def refused(**changes: Any) -> TransportError:
    with pytest.raises(TransportError) as caught:
        send(samples.request(), **changes)
    error = caught.value
    assert error.hint
    assert BOT_TOKEN.partition(":")[2] not in f"{error} {error.operator_detail} {error.hint}"
    assert samples.LINK not in f"{error} {error.operator_detail} {error.hint}"
    return error


@pytest.mark.parametrize(
    ("code", "words", "kind"),
    [
        (401, "Unauthorized", Kind.AUTH),
        (401, "Unauthorized: invalid token specified", Kind.AUTH),
        (404, "Not Found", Kind.AUTH),
        (421, "Misdirected Request: unallowed token specified", Kind.AUTH),
        (404, "Not Found: method not found", Kind.BAD_FORMAT),
        (400, "Bad Request: chat not found", Kind.NOT_FOUND),
        (400, "Bad Request: group chat was upgraded to a supergroup chat", Kind.NOT_FOUND),
        (400, "Bad Request: message text is empty", Kind.BAD_FORMAT),
        (400, UNLISTED, Kind.BAD_FORMAT),
        (400, "Bad Request: TOPIC_CLOSED", Kind.PERMISSION),
        (400, "Bad Request: not enough rights to send text messages to the chat", Kind.PERMISSION),
        (400, "Bad Request: have no rights to send a message", Kind.PERMISSION),
        (400, "Bad Request: need administrator rights in the channel chat", Kind.PERMISSION),
        (403, "Forbidden: bot was blocked by the user", Kind.RECIPIENT_UNREACHABLE),
        (403, "Forbidden: user is deactivated", Kind.RECIPIENT_UNREACHABLE),
        (
            403,
            "Forbidden: bot can't initiate conversation with a user",
            Kind.RECIPIENT_UNREACHABLE,
        ),
        (403, "Forbidden: bot was kicked from the group chat", Kind.PERMISSION),
        (403, "Forbidden: bot was kicked from the supergroup chat", Kind.PERMISSION),
        (403, "Forbidden: bot was kicked from the channel chat", Kind.PERMISSION),
        (403, "Forbidden: bot is not a member of the supergroup chat", Kind.PERMISSION),
        (403, "Forbidden: the group chat was deleted", Kind.NOT_FOUND),
        (403, "Forbidden: bots can't send messages to bots", Kind.NOT_FOUND),
        (403, "Forbidden: something new", Kind.PERMISSION),
        (409, "Conflict: terminated by setWebhook request", Kind.TRANSIENT),
        (429, "Too Many Requests: retry after 5", Kind.RATE_LIMITED),
        (500, "Internal Server Error", Kind.UNKNOWN_OUTCOME),
        (502, "Bad Gateway", Kind.UNKNOWN_OUTCOME),
    ],
)
def test_each_refusal_has_its_kind_and_a_hint(
    providers: Providers, code: int, words: str, kind: Kind
) -> None:
    providers.script("telegram", [said(code, words)], path="sendMessage")
    error = refused()
    assert error.kind is kind
    assert error.provider_code == str(code)
    if code not in (429, 500, 502):
        assert error.operator_detail == f"Telegram refused with {code}: {words}"
    assert len(providers.requests("telegram", path="sendMessage")) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (FakeAnswer(502, body=b"<html>proxy-7.internal</html>"), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(403, body=b"<html>blocked by proxy-7.internal</html>"), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(429, body=b"<html></html>"), Kind.RATE_LIMITED),
        (FakeAnswer(200), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json={"ok": True}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json={"ok": True, "result": True}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json={"ok": True, "result": {"message_id": 1}}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json={"ok": True, "result": {"chat": {"id": 1}}}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json={"ok": False}), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(200, json=["ok"]), Kind.UNKNOWN_OUTCOME),
        (FakeAnswer(400, json={"ok": False, "error_code": "400"}), Kind.UNKNOWN_OUTCOME),
    ],
)
def test_what_says_nothing_may_have_been_delivered(
    providers: Providers, answer: FakeAnswer, kind: Kind
) -> None:
    providers.script("telegram", [answer], path="sendMessage")
    error = refused()
    assert error.kind is kind
    assert "proxy-7" not in error.operator_detail
    assert len(providers.requests("telegram", path="sendMessage")) == 1


@pytest.mark.parametrize("how", list(Rude))
def test_a_connection_that_breaks_after_the_request_is_never_sent_again(
    providers: Providers, telegram: FakeTelegram, how: Rude
) -> None:
    providers.script("telegram", [Taken(how)], path="sendMessage")
    started = time.monotonic()
    with pytest.raises(TransportError) as caught:
        send(samples.request(), seconds=1.5)
    assert time.monotonic() - started < 2.5
    assert caught.value.kind is Kind.UNKNOWN_OUTCOME
    assert len(telegram.posts) == 1


def test_nobody_listening_is_connect(settings: Settings) -> None:
    settings.TELEGRAM_API_BASE = "http://127.0.0.1:9"
    assert refused().kind is Kind.CONNECT


@pytest.mark.parametrize("seconds", [1, 10072])
def test_a_wait_is_said_in_the_body(providers: Providers, seconds: int) -> None:
    words = f"Too Many Requests: retry after {seconds}"
    providers.script("telegram", [said(429, words, retry_after=seconds)], path="sendMessage")
    error = refused()
    assert (error.kind, error.retry_after) == (Kind.RATE_LIMITED, seconds)


def test_too_many_messages_to_a_group_are_refused_by_the_fake_as_well(
    telegram: FakeTelegram,
) -> None:
    for _ in range(20):
        send(samples.line(), chat_id=GROUP)
    error = refused(chat_id=GROUP)
    assert error.kind is Kind.RATE_LIMITED
    assert 0 < (error.retry_after or 0) <= 60


def test_a_wrong_token_and_a_malformed_one_are_told_apart_by_the_fake(
    telegram: FakeTelegram,
) -> None:
    unknown = refused(bot_token="999:AAE-handoff_test_token_of_nobody_at_all")
    malformed = refused(bot_token="999:short")
    assert (unknown.kind, malformed.kind) == (Kind.AUTH, Kind.AUTH)
    assert (unknown.provider_code, malformed.provider_code) == ("401", "404")


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ({"refuses": "bot was blocked by the user"}, Kind.RECIPIENT_UNREACHABLE),
        ({"refuses": "bot was kicked from the group chat"}, Kind.PERMISSION),
        ({"may_not": "not enough rights to send text messages to the chat"}, Kind.PERMISSION),
    ],
)
def test_a_chat_that_does_not_want_the_bot_says_so(
    telegram: FakeTelegram, state: dict[str, str], kind: Kind
) -> None:
    for key, value in state.items():
        setattr(telegram.rooms[MIA.id], key, value)
    assert refused().kind is kind
    assert telegram.posts == []


def test_a_chat_that_nobody_knows_asks_for_start(telegram: FakeTelegram) -> None:
    error = refused(chat_id=1)
    assert error.kind is Kind.NOT_FOUND
    assert "press Start" in error.hint


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
    moves = [said(400, "Bad Request: moved", migrate_to_chat_id=-100 - n) for n in range(9)]
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
    providers.script("telegram", [said(400, words)], path="sendMessage")
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
    providers.script("telegram", [said(400, words)] * 3, path="sendMessage")
    assert refused().kind is Kind.BAD_FORMAT
    assert len(providers.requests("telegram", path="sendMessage")) == 2


def test_a_message_that_is_too_long_for_telegram_is_sent_shorter(
    providers: Providers, telegram: FakeTelegram
) -> None:
    providers.script(
        "telegram", [said(400, "Bad Request: message is too long")], path="sendMessage"
    )
    send(samples.request(summary="long " * 400, extra_context=(("k", "v" * 4000),)))
    [post] = telegram.posts
    first = providers.requests("telegram", path="sendMessage")[0].json()["text"]
    assert len(post.text) <= 3500 < len(first)
    assert samples.LINK in post.text


def test_too_long_twice_is_a_refusal(providers: Providers) -> None:
    too_long = said(400, "Bad Request: message is too long")
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
    providers.script("telegram", [said(400, words)] * 2, path="sendMessage")
    error = refused()
    assert error.kind is Kind.BAD_FORMAT
    assert telegram.posts == []
    providers.script("telegram", [said(400, words)], path="sendMessage")
    send(samples.request())
    [post] = telegram.posts
    assert post.buttons == ()
    assert post.links == {"Fill return form": samples.LINK}


def test_a_message_that_can_be_answered_no_more_is_not_answered(
    providers: Providers, telegram: FakeTelegram
) -> None:
    first = send(samples.request())
    words = "Bad Request: message to be replied not found"
    providers.script("telegram", [said(400, words)], path="sendMessage")
    send(samples.line(thread_key=first.thread_key))
    assert [post.answers for post in telegram.posts] == [None, None]


def test_everything_may_be_wrong_with_one_message(
    providers: Providers, telegram: FakeTelegram
) -> None:
    telegram.rooms[SUPERGROUP].topics = set()
    providers.script(
        "telegram",
        [
            said(400, "Bad Request: moved", migrate_to_chat_id=SUPERGROUP),
            said(400, "Bad Request: BUTTON_URL_INVALID"),
            said(400, "Bad Request: can't parse entities: x"),
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
