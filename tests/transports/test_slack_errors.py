"""What each refusal of Slack means, and what is tried once more."""

import time
from typing import Any

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.base import Outgoing
from tests.fakes.providers import FakeAnswer, Providers, Taken
from tests.fakes.rude import PAGE, Rude
from tests.fakes.slack import BOT_TOKEN, SIGNING_SECRET, FakeSlack, Room
from tests.transports.mail_samples import LINK, TOKEN, line, request
from tests.transports.slack_samples import ROOT, posted, send


def refused(message: Outgoing | None = None, **changes: Any) -> TransportError:
    with pytest.raises(TransportError) as caught:
        send(message or request(), **changes)
    words = f"{caught.value} {caught.value.operator_detail} {caught.value.hint}"
    for secret in (BOT_TOKEN, SIGNING_SECRET, "127.0.0.1", TOKEN, LINK):
        assert secret not in words
    return caught.value


def said(error: str, **more: Any) -> FakeAnswer:
    return FakeAnswer(json={"ok": False, "error": error, **more})


TABLE = [
    *[
        (code, Kind.AUTH)
        for code in (
            "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
        )
    ],
    ("missing_scope", Kind.PERMISSION),
    ("channel_not_found", Kind.NOT_FOUND),
    *[
        (code, Kind.PERMISSION)
        for code in (
            "not_in_channel", "restricted_action", "restricted_action_read_only_channel",
            "ekm_access_denied",
        )
    ],
    ("is_archived", Kind.NOT_FOUND),
    *[(code, Kind.TOO_LONG) for code in ("msg_too_long", "too_many_attachments")],
    *[
        (code, Kind.BAD_FORMAT)
        for code in (
            "invalid_blocks", "no_text", "invalid_arg_name", "invalid_charset", "invalid_json",
        )
    ],
    *[(code, Kind.TRANSIENT) for code in ("service_unavailable", "request_timeout")],
    *[(code, Kind.UNKNOWN_OUTCOME) for code in ("internal_error", "fatal_error")],
    ("some_code_of_next_year", Kind.BAD_FORMAT),
]  # fmt: skip
RETRIED = {
    "msg_too_long", "too_many_attachments", "invalid_blocks", "no_text", "invalid_arg_name",
    "invalid_charset", "invalid_json",
}  # fmt: skip


@pytest.mark.parametrize(("code", "kind"), TABLE)
def test_each_refusal_has_its_kind_and_something_to_do(
    providers: Providers, slack: FakeSlack, code: str, kind: Kind
) -> None:
    providers.script("slack", [said(code)] * 2)
    error = refused()
    assert (error.kind, error.provider_code) == (kind, code)
    assert error.hint
    assert code in error.operator_detail
    assert len(posted(providers)) == (2 if code in RETRIED else 1)
    assert slack.posts == []


@pytest.mark.parametrize("code", sorted(RETRIED))
def test_a_form_that_is_refused_is_sent_once_more_as_short_text(
    providers: Providers, slack: FakeSlack, code: str
) -> None:
    providers.script("slack", [said(code)])
    receipt = send(request(summary="word " * 3000))
    first, second = (asked.json() for asked in posted(providers))
    assert first.pop("blocks")
    assert second == first
    assert len(second["text"]) <= 4000
    [post] = slack.posts
    assert receipt.thread_key == post.ts
    assert post.links == {"Fill return form": LINK}
    assert f"`!release {TOKEN}`" in post.shown


def test_a_missing_scope_is_named(slack: FakeSlack) -> None:
    slack.scopes = "channels:read"
    error = refused()
    assert error.kind is Kind.PERMISSION
    assert "the scope chat:write" in error.hint


def test_a_scope_is_named_only_when_it_looks_like_one(providers: Providers) -> None:
    providers.script("slack", [said("missing_scope", needed="<b>https://evil.example</b>")])
    assert refused().hint.startswith("The app lacks the scope that this needs:")


def test_a_private_channel_without_the_bot_says_that_it_may_be_one(slack: FakeSlack) -> None:
    slack.rooms["C0SUPPORT"] = Room(id="C0SUPPORT", is_private=True, is_member=False)
    error = refused()
    assert error.kind is Kind.NOT_FOUND
    assert "or the bot was not invited to this private channel" in error.hint


def test_a_public_channel_without_the_bot_asks_to_invite_it(slack: FakeSlack) -> None:
    slack.rooms["C0SUPPORT"].is_member = False
    assert "/invite @" in refused().hint
    slack.scopes += ",chat:write.public"
    assert send(request()).provider_message_id


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (FakeAnswer(429, headers={"Retry-After": "30"}), 30.0),
        (FakeAnswer(429, json={"ok": False, "error": "ratelimited"}), None),
        (
            FakeAnswer(json={"ok": False, "error": "ratelimited"}, headers={"Retry-After": "1"}),
            1.0,
        ),
        (FakeAnswer(json={"ok": False, "error": "rate_limited"}), None),
        (FakeAnswer(429, body=PAGE, headers={"Retry-After": "soon"}), None),
    ],
)
def test_too_many_posts_say_how_long_to_wait(
    providers: Providers, answer: FakeAnswer, seconds: float | None
) -> None:
    providers.script("slack", [answer] * 5)
    error = refused()
    assert (error.kind, error.retry_after) == (Kind.RATE_LIMITED, seconds)


@pytest.mark.parametrize(
    "answer",
    [
        FakeAnswer(500),
        FakeAnswer(502, body=PAGE),
        FakeAnswer(503, body=b"{"),
        FakeAnswer(504, json={"message": "upstream"}),
        FakeAnswer(200, body=PAGE),
        FakeAnswer(200),
        FakeAnswer(200, json=["ok"]),
        FakeAnswer(200, json={"ok": "true", "channel": "C1", "ts": "1.2"}),
        FakeAnswer(200, json={"ok": True}),
        FakeAnswer(200, json={"ok": True, "channel": "C1", "ts": 1796039000.0001}),
        FakeAnswer(200, json={"ok": False}),
        FakeAnswer(200, json={"ok": False, "error": {"code": 5}}),
        FakeAnswer(200, json={"ok": False, "error": "<script>"}),
        FakeAnswer(500, json={"ok": True, "channel": "C1", "ts": "1.2"}),
    ],
    ids=str,
)
def test_an_answer_that_says_nothing_may_be_a_post_and_is_not_repeated(
    providers: Providers, answer: FakeAnswer
) -> None:
    providers.script("slack", [answer])
    error = refused()
    assert error.kind is Kind.UNKNOWN_OUTCOME
    assert not error.worth_a_retry
    assert len(posted(providers)) == 1


def test_an_error_of_slack_s_own_counts_whatever_its_status(providers: Providers) -> None:
    body = {"ok": False, "error": "service_unavailable"}
    providers.script("slack", [FakeAnswer(503, json=body)])
    error = refused()
    assert error.kind is Kind.TRANSIENT
    assert error.worth_a_retry


@pytest.mark.parametrize("how", [Rude.SILENT, Rude.TRICKLE, Rude.RESET_AMID])
def test_a_post_whose_answer_gets_lost_may_be_there(
    providers: Providers, slack: FakeSlack, how: Rude
) -> None:
    providers.script("slack", [Taken(how)])
    before = time.monotonic()
    assert refused(seconds=1).kind is Kind.UNKNOWN_OUTCOME
    assert time.monotonic() - before < 2
    assert len(slack.posts) == 1


def test_where_nobody_listens_nothing_was_sent(settings: Any) -> None:
    settings.SLACK_API_BASE = "http://127.0.0.1:9/api"
    error = refused()
    assert error.kind is Kind.CONNECT
    assert error.worth_a_retry


@pytest.mark.parametrize("code", ["thread_not_found", "cannot_reply_to_message"])
def test_a_thread_that_is_gone_is_begun_anew(
    providers: Providers, slack: FakeSlack, code: str
) -> None:
    root = send(request()).thread_key
    if code == "thread_not_found":
        slack.lost_threads.add(root)
    else:
        providers.script("slack", [said(code)])
    receipt = send(line(thread_key=root))
    assert slack.posts[1].thread_ts is None
    assert receipt.thread_key == slack.posts[1].ts != root
    assert len(posted(providers)) == 3


def test_each_thing_is_taken_out_once(providers: Providers, slack: FakeSlack) -> None:
    providers.script("slack", [said("invalid_blocks"), said("thread_not_found")])
    assert send(line(thread_key=ROOT)).thread_key == slack.posts[0].ts
    assert set(posted(providers)[2].json()) & {"thread_ts", "blocks"} == set()
    providers.script("slack", [said("thread_not_found")] * 9)
    assert refused(line(thread_key=ROOT)).provider_code == "thread_not_found"
    assert len(posted(providers)) == 5


def test_what_slack_says_about_a_refusal_is_for_operators_and_short(providers: Providers) -> None:
    words = "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    metadata = {"messages": [words, 5, "x\n" * 900]}
    providers.script(
        "slack", [said("invalid_blocks", errors=[words], response_metadata=metadata)] * 2
    )
    error = refused()
    known = "must be less than 3001 characters (json-pointer:/blocks/0/text/text)"
    assert error.operator_detail.startswith(f"Slack refused: invalid_blocks; {known}; x x")
    assert len(error.operator_detail) == 400
    assert "3001" not in error.hint
