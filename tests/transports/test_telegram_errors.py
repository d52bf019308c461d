"""The error table of the Bot API row by row."""

import time

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from tests.fakes.providers import FakeAnswer, Providers, Taken
from tests.fakes.rude import Rude
from tests.fakes.telegram import GROUP, FakeTelegram
from tests.fakes.telegram_chats import MIA
from tests.transports import mail_samples as samples
from tests.transports.telegram_samples import no, refused, send

UNLISTED = "Bad Request: SOMETHING_NEW"


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
    providers.script("telegram", [no(code, words)], path="sendMessage")
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
    providers.script("telegram", [no(429, words, retry_after=seconds)], path="sendMessage")
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
