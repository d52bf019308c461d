"""What Discord's refusals mean: channels.md 5.3 row by row, against posts of a real channel."""

import time

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from tests.fakes.discord import BOT_TOKEN, WEBHOOK, WEBHOOK_TOKEN, FakeDiscord
from tests.fakes.discord_answers import cloudflare, error, form_error, too_many
from tests.fakes.providers import FakeAnswer, Providers, Taken
from tests.fakes.rude import PAGE, Rude
from tests.transports.discord_samples import bot, send, webhook
from tests.transports.mail_samples import LINK, TOKEN, request


@pytest.fixture
def discord(providers: Providers) -> FakeDiscord:
    fake: FakeDiscord = providers.fakes["discord"]
    return fake


def refused(*, through_webhook: bool = False) -> TransportError:
    with pytest.raises(TransportError) as caught:
        send(webhook() if through_webhook else bot(), request())
    words = f"{caught.value} {caught.value.operator_detail} {caught.value.hint}"
    for secret in (BOT_TOKEN, WEBHOOK_TOKEN, "127.0.0.1", TOKEN, LINK):
        assert secret not in words
    return caught.value


ROWS = [
    (401, 0, Kind.AUTH),
    (401, 40001, Kind.AUTH),
    (401, 50014, Kind.AUTH),
    (403, 50001, Kind.PERMISSION),
    (403, 50013, Kind.PERMISSION),
    (403, 50007, Kind.RECIPIENT_UNREACHABLE),
    (403, 50009, Kind.PERMISSION),
    (400, 50008, Kind.PERMISSION),
    (403, 160005, Kind.PERMISSION),
    (400, 50083, Kind.PERMISSION),
    (400, 200000, Kind.BAD_FORMAT),
    (403, 40333, Kind.PERMISSION),
    (404, 10003, Kind.NOT_FOUND),
    (404, 10004, Kind.NOT_FOUND),
    (404, 10008, Kind.NOT_FOUND),
    (404, 10015, Kind.NOT_FOUND),
    (401, 50027, Kind.NOT_FOUND),
    (400, 50006, Kind.BAD_FORMAT),
    (400, 50109, Kind.BAD_FORMAT),
    (413, 40005, Kind.TOO_LONG),
    (400, 220001, Kind.BAD_FORMAT),
    (400, 220002, Kind.BAD_FORMAT),
    (400, 20016, Kind.RATE_LIMITED),
    (400, 20028, Kind.RATE_LIMITED),
    (400, 20029, Kind.RATE_LIMITED),
    (400, 40003, Kind.RATE_LIMITED),
    (400, 40062, Kind.RATE_LIMITED),
    (503, 130000, Kind.TRANSIENT),
    # codes that nobody knows: by the status
    (403, 999999, Kind.PERMISSION),
    (404, 999999, Kind.NOT_FOUND),
    (400, 999999, Kind.BAD_FORMAT),
    (413, 0, Kind.TOO_LONG),
]


@pytest.mark.parametrize(("status", "code", "kind"), ROWS)
def test_each_code_has_its_kind_and_is_sent_once(
    providers: Providers, discord: FakeDiscord, status: int, code: int, kind: Kind
) -> None:
    providers.script("discord", [error(status, code, "No.")], path="/messages")
    problem = refused()
    assert problem.kind is kind
    assert problem.provider_code == str(code or status)
    assert problem.operator_detail.startswith(f"Discord refused with {status}")
    assert problem.hint
    assert len(providers.requests("discord")) == 1
    assert discord.messages == []


def test_two_ways_to_lack_access_have_two_hints(providers: Providers) -> None:
    providers.script("discord", [error(403, 50001, "Missing Access")], path="/messages")
    providers.script("discord", [error(403, 50013, "Missing Permissions")], path="/messages")
    outside, inside = refused().hint, refused().hint
    assert "invite it" in outside
    assert "may not write there" in inside


def test_a_form_that_is_refused_twice_is_too_long_or_badly_formed(providers: Providers) -> None:
    long = form_error("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
    providers.script("discord", [long, long], path="/messages")
    problem = refused()
    assert problem.kind is Kind.TOO_LONG
    assert "content: BASE_TYPE_MAX_LENGTH" in problem.operator_detail
    assert len(providers.requests("discord")) == 2

    odd = form_error("components", "URL_TYPE_INVALID_URL")
    providers.script("discord", [odd, odd], path="/messages")
    assert refused().kind is Kind.BAD_FORMAT


def test_discord_says_how_long_to_wait(providers: Providers) -> None:
    providers.script("discord", [too_many(64.57)], path="/messages")
    problem = refused()
    assert (problem.kind, problem.retry_after) == (Kind.RATE_LIMITED, 64.57)
    providers.script("discord", [too_many(0.3, scope="shared", code=20028)], path="/messages")
    problem = refused()
    assert (problem.kind, problem.retry_after) == (Kind.RATE_LIMITED, 0.3)
    headers = {"Retry-After": "7", "X-RateLimit-Scope": "global"}
    providers.script("discord", [FakeAnswer(429, json={}, headers=headers)], path="/messages")
    assert refused().retry_after == 7


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (cloudflare(), 60),
        (cloudflare(**{"Retry-After": "5"}), 60),
        (cloudflare(**{"Retry-After": "900"}), 900),
        (FakeAnswer(429, json={"code": 0, "message": "You are being blocked from here."}), 60),
        (FakeAnswer(429), 60),
    ],
)
def test_what_stands_before_discord_is_left_alone_for_a_minute(
    providers: Providers, answer: FakeAnswer, seconds: float
) -> None:
    providers.script("discord", [answer], path="/messages")
    problem = refused()
    assert (problem.kind, problem.retry_after) == (Kind.RATE_LIMITED, seconds)
    assert len(providers.requests("discord")) == 1


def test_while_the_address_is_kept_out_nothing_of_the_desk_calls(
    providers: Providers, discord: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call would count, and prolong it. Discord's own 429 is about one channel only."""
    providers.script("discord", [too_many(30)], path="/messages")
    refused()
    monkeypatch.setattr("handoff.transports.discord_errors.CLOUDFLARE_SECONDS", 0.5)
    providers.script("discord", [cloudflare()], path="/messages")
    refused()
    for through_webhook in (False, True):
        problem = refused(through_webhook=through_webhook)
        assert problem.kind is Kind.RATE_LIMITED
        assert 0 < (problem.retry_after or 0) <= 0.5
    assert len(providers.requests("discord")) == 2
    time.sleep(0.5)
    assert send(bot(), request()).provider_message_id
    assert len(discord.messages) == 1


@pytest.mark.parametrize(
    "response",
    [
        FakeAnswer(502, body=PAGE),
        FakeAnswer(500, json={"message": "500: Internal Server Error", "code": 0}),
        FakeAnswer(503),
        FakeAnswer(200, body=PAGE),
        FakeAnswer(200),
        FakeAnswer(204),
        FakeAnswer(200, json={"content": "no id"}),
        FakeAnswer(200, json={"id": 1234567890123456789}),
        FakeAnswer(302, headers={"Location": "https://evil.example/"}),
        Taken(Rude.RESET_BEFORE),
        Taken(Rude.SILENT),
    ],
)
def test_a_post_of_which_nobody_says_what_became_is_unknown_and_never_repeated(
    providers: Providers, discord: FakeDiscord, response: FakeAnswer | Taken
) -> None:
    providers.script("discord", [response], path="/messages")
    with pytest.raises(TransportError) as caught:
        send(bot(), request(), seconds=1)
    assert caught.value.kind is Kind.UNKNOWN_OUTCOME
    assert len(providers.requests("discord")) == 1
    assert len(discord.messages) <= 1


def test_a_dead_webhook_and_a_wrong_token_of_one_are_both_gone(
    providers: Providers, discord: FakeDiscord
) -> None:
    discord.webhooks[WEBHOOK] = "another"
    problem = refused(through_webhook=True)
    assert (problem.kind, problem.provider_code) == (Kind.NOT_FOUND, "50027")
    discord.webhooks.clear()
    problem = refused(through_webhook=True)
    assert (problem.kind, problem.provider_code) == (Kind.NOT_FOUND, "10015")
    assert "never to be called again" in problem.hint


def test_a_token_that_discord_repeats_is_cut_out(providers: Providers) -> None:
    providers.script(
        "discord", [error(401, 0, f"Bad token {BOT_TOKEN}\n\u202e" + "x" * 1000)], path="/messages"
    )
    problem = refused()
    assert "Bad token ***" in problem.operator_detail
    assert len(problem.operator_detail) <= 400
    assert "\u202e" not in problem.operator_detail


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'"no"',
        b'{"code": "50001"}',
        b'{"code": true, "errors": [1]}',
        b'{"errors": {"_errors": [1, {"code": 2}], "a": {"_errors": 3}}}',
        b'{"retry_after": "soon"}',
        b"{" * 5000,
        b"\xff\xfe",
    ],
)
def test_whatever_a_refusal_looks_like_its_status_still_counts(
    providers: Providers, body: bytes
) -> None:
    for status, kind in ((403, Kind.PERMISSION), (429, Kind.RATE_LIMITED)):
        providers.script("discord", [FakeAnswer(status, body=body)], path="/messages")
        assert refused().kind is kind
