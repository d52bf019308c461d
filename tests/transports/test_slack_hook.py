"""Slack's calls to us: who is believed, and what of it is a person's word."""

import datetime as dt
import json
import pathlib
from typing import Any
from urllib.parse import urlencode

import pytest

from handoff.contract.commands import read_release
from handoff.transports.inbound import HookCall, Said
from handoff.transports.slack_hook import SlackHook
from tests import environment
from tests.transports.slack_samples import (
    BOT,
    CHANNEL,
    FORM,
    NOW,
    ROOT,
    SECRET,
    TOKEN,
    event,
    heard,
    message,
    received,
    settings,
    signed,
    slash,
)

VECTORS = json.loads(pathlib.Path(environment.ROOT, "tests/vectors.json").read_text())["slack"]


def as_given(vector: dict[str, str], **changes: str) -> HookCall:
    given = {**vector, **changes}
    is_form = given["body"].startswith("command=")
    return HookCall(
        method="POST",
        headers={
            "content-type": FORM if is_form else "application/json",
            "x-slack-request-timestamp": given["timestamp"],
            "x-slack-signature": given["signature"],
        },
        query={},
        body=given["body"].encode(),
        at=float(vector["timestamp"]),
    )


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_signatures_that_slack_makes_are_believed(vector: dict[str, str]) -> None:
    got = received(as_given(vector), signing_secret=vector["secret"])
    assert (got.answer.status, got.refused) == (200, "")
    changed = vector["body"].replace("c", "d", 1)
    for forged in (
        as_given(vector, body=changed),
        as_given(vector, timestamp=str(int(vector["timestamp"]) + 1)),
        as_given(vector, signature=vector["signature"].upper()),
        as_given(vector, signature=vector["signature"][:-1]),
        as_given(vector, signature=vector["signature"].removeprefix("v0=")),
    ):
        got = received(forged, signing_secret=vector["secret"])
        assert (got.answer.status, got.refused) == (401, "bad_signature")


def test_both_vectors_of_the_specification_stand_in_the_file() -> None:
    assert {vector["name"] for vector in VECTORS} == {"url_verification", "slash_command"}


@pytest.mark.parametrize(
    ("off", "status"), [(-301, 401), (-300, 200), (0, 200), (300, 200), (301, 401)]
)
def test_a_signature_is_believed_for_five_minutes(off: int, status: int) -> None:
    assert received(signed(event(message()), at=NOW + off)).answer.status == status


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-slack-request-timestamp", ""),
        ("x-slack-request-timestamp", "now"),
        ("x-slack-request-timestamp", "-1796040000"),
        ("x-slack-request-timestamp", " 1796040000"),
        ("x-slack-request-timestamp", "1796040000\n"),
        ("x-slack-request-timestamp", "1796040000.5"),
        ("x-slack-request-timestamp", "١٧٩٦٠٤٠٠٠٠"),
        ("x-slack-request-timestamp", "9" * 13),
        ("x-slack-request-timestamp", "9" * 5000),
        ("x-slack-signature", ""),
        ("x-slack-signature", "v0="),
        ("x-slack-signature", "v0=é\ud800"),
        ("x-slack-signature", "v1=" + "0" * 64),
        ("x-slack-signature", "v0=" + "0" * 100_000),
    ],
)
def test_a_malformed_header_is_refused_and_nothing_breaks(name: str, value: str) -> None:
    call = signed(event(message()))
    got = SlackHook(settings()).receive(
        HookCall(
            method="POST",
            headers={**call.headers, name: value},
            query={},
            body=call.body,
            at=call.at,
        )
    )
    assert (got.answer.status, got.events) == (401, ())
    assert got.refused


def test_a_call_without_headers_is_refused() -> None:
    got = received(HookCall(method="POST", headers={}, query={}, body=b"\xff\xfe", at=NOW))
    assert (got.answer.status, got.refused) == (401, "bad_signature")


def test_a_channel_without_a_signing_secret_believes_nobody() -> None:
    for secret in (SECRET, ""):
        got = received(signed(event(message()), secret=secret), signing_secret="")
        assert (got.answer.status, got.refused) == (401, "no_signing_secret")


def test_another_app_is_not_believed() -> None:
    got = received(signed(event(message()), secret="another-secret"))
    assert (got.answer.status, got.refused) == (401, "bad_signature")


def test_the_check_of_the_address_is_answered_only_when_it_is_signed() -> None:
    body = b'{"type":"url_verification","token":"t","challenge":"c-<b>123"}'
    got = received(signed(body))
    assert got.answer.status == 200
    assert got.answer.content_type == "application/json; charset=utf-8"
    assert json.loads(got.answer.body) == {"challenge": "c-<b>123"}
    got = received(signed(body, secret="wrong"))
    assert (got.answer.status, got.answer.body) == (401, b"")


def test_a_reply_in_the_thread_is_what_a_person_said() -> None:
    assert heard(message()) == Said(
        keys=("Ev0001", f"{CHANNEL}:1796039990.000200"),
        account=CHANNEL,
        at=dt.datetime(2026, 11, 30, 11, 59, 50, tzinfo=dt.UTC),
        sender_id="U1",
        text="It is on its way.",
        place=CHANNEL,
        message_id=f"{CHANNEL}:1796039990.000200",
        replies_to=(f"{CHANNEL}:{ROOT}",),
        thread_key=ROOT,
    )


@pytest.mark.parametrize("number", ["1", "2", "3"])
@pytest.mark.parametrize("reason", ["http_timeout", "http_error", "connection_failed"])
def test_a_retry_is_read_like_the_first_try(number: str, reason: str) -> None:
    retry = {"x-slack-retry-num": number, "x-slack-retry-reason": reason}
    got = received(signed(event(message()), headers=retry))
    assert [said.keys[0] for said in got.events] == ["Ev0001"]
    assert "X-Slack-No-Retry" not in got.answer.headers


def test_a_message_under_another_event_id_keeps_its_second_key() -> None:
    first, again = heard(message()), heard(message(), event_id="Ev0002")
    assert first is not None
    assert again is not None
    assert set(first.keys) & set(again.keys) == {f"{CHANNEL}:1796039990.000200"}


@pytest.mark.parametrize(
    "changes",
    [
        {"subtype": "message_changed", "message": {"text": "edited"}, "user": None},
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "message_replied"},
        {"subtype": "bot_message", "bot_id": "B1", "user": None},
        {"subtype": "channel_join"},
        {"subtype": "assistant_app_thread"},
        {"bot_id": "B1"},
        {"bot_profile": {"id": "B1"}},
        {"user": BOT},
        {"hidden": True},
        {"thread_ts": None},
        {"parent_user_id": "U2"},
        {"type": "reaction_added"},
        {"type": "app_mention"},
        {"user": None},
        {"ts": 1796039990.0002},
        {"ts": "1796039990"},
        {"channel": None},
        {"channel": "C" * 5000},
        {"text": {"not": "a text"}},
    ],
    ids=str,
)
def test_what_no_person_said_in_a_thread_is_acknowledged_and_dropped(
    changes: dict[str, Any],
) -> None:
    assert heard(message(**changes)) is None


@pytest.mark.parametrize("subtype", ["thread_broadcast", "file_share"])
def test_a_reply_that_the_channel_sees_too_or_with_a_file_counts(subtype: str) -> None:
    said = heard(message(subtype=subtype, files=[{"id": "F1"}, {"id": "F2"}]))
    assert said is not None
    assert (said.text, said.attachments) == ("It is on its way.", 2)


def test_a_whole_release_line_counts_in_the_open_channel_too() -> None:
    said = heard(message(thread_ts=None, text=f"!release {TOKEN} all done"))
    assert said is not None
    assert (said.thread_key, said.replies_to, said.only_one) == ("", (), False)
    assert heard(message(parent_user_id="U2", text=f"!release {TOKEN} all done")) is not None
    for changes in ({"thread_ts": None}, {"parent_user_id": "U2"}):
        assert heard(message(text="!release the new version today", **changes)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"authorizations": [{"user_id": "U2", "is_bot": False}]},
        {"authorizations": []},
    ],
)
def test_a_thread_is_nobody_else_s_where_slack_does_not_say_who_we_are(
    changes: dict[str, Any],
) -> None:
    assert heard(message(parent_user_id="U3"), **changes) is not None
    assert heard(message(parent_user_id=BOT)) is not None


def test_a_message_to_the_bot_alone_may_mean_the_one_open_handoff() -> None:
    said = heard(message(thread_ts=None, channel="D1", channel_type="im"))
    assert said is not None
    assert (said.only_one, said.account, said.place) == (True, "D1", "D1")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("5 &lt; 6 &amp;&amp; 7 &gt; 6", "5 < 6 && 7 > 6"),
        ("typed as &amp;lt;b&amp;gt;", "typed as &lt;b&gt;"),
        ("ask <@U2> or <@U3|mia>", "ask @U2 or @mia"),
        ("see <#C1|general> and <#C2>", "see #general and #C2"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@sales> <!subteam^S1>", "@sales @subteam"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("<https://carrier.example/t?a=1&amp;b=2>", "https://carrier.example/t?a=1&b=2"),
        ("<http://carrier.example|carrier.example>", "carrier.example"),
        ("<https://evil.example|your bank>", "your bank (https://evil.example)"),
        (
            "<https://evil.example|https://bank.example>",
            "https://bank.example (https://evil.example)",
        ),
        ("<mailto:mia@shop.example|mia@shop.example>", "mia@shop.example"),
        ("<tel:+4915123456|+4915123456>", "+4915123456"),
        (f"<@{BOT}> it is lost", "it is lost"),
        (f"<@{BOT}|desk>: it is lost", "it is lost"),
        (f"ask <@{BOT}>", f"ask @{BOT}"),
        ("<>", ""),
        ("a\r\nb\u202ec", "a\nb\u202ec"),
    ],
)
def test_marks_of_slack_are_read_once_into_words(sent: str, shown: str) -> None:
    said = heard(message(text=sent))
    assert said is not None
    assert said.text == shown


def test_a_release_line_is_read_whatever_slack_put_around_it() -> None:
    for typed in (
        f"!release {TOKEN} sent &amp; done",
        f"`!release {TOKEN} sent &amp; done`",
        f"<@{BOT}> release {TOKEN} sent &amp; done",
        f"&gt; quoted\n\u00a0!Release\u00a0{TOKEN.upper()} sent &amp; done",
    ):
        said = heard(message(text=typed))
        assert said is not None
        command = read_release(said.text)
        assert command is not None
        assert (command.token, command.note) == (TOKEN, "sent & done")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b"null", "application/json"),
        (b"\xff{}", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"type": "event_callback", "type": "event_callback"}', "application/json"),
        (b"payload=%7B", FORM),
        (b"payload=%5B%5D", FORM),
        (b"a=1&" * 101, FORM),
        (b"command=%2Frelease&text=x", FORM),
    ],
)
def test_a_signed_body_that_cannot_be_read_is_400(body: bytes, content_type: str) -> None:
    got = received(signed(body, content_type))
    assert (got.answer.status, got.answer.body) == (400, b"")
    assert (got.events, got.refused) == ((), "unreadable")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"{}", "application/json"),
        (b'{"type": "app_rate_limited"}', "application/json"),
        (b'{"type": "event_callback"}', "application/json"),
        (b'{"type": "event_callback", "event": 5}', "application/json"),
        (b'{"type": "url_verification", "challenge": 5}', "application/json"),
        (b"ssl_check=1&token=t", FORM),
        (b"ssl_check=1&command=%2Frelease&channel_id=C1&user_id=U1", FORM),
        (b"", FORM),
        (b"\xff\x00=%ff", FORM),
        (urlencode({"payload": json.dumps({"type": "block_actions"})}).encode(), FORM),
        (urlencode({"payload": json.dumps({"type": "view_submission"})}).encode(), FORM),
    ],
)
def test_what_is_not_for_us_is_acknowledged_without_a_word(body: bytes, content_type: str) -> None:
    got = received(signed(body, content_type))
    assert (got.answer.status, got.answer.body) == (200, b"")
    assert (got.events, got.refused, got.at_once) == ((), "", False)


def test_the_check_of_the_certificate_is_believed_only_when_it_is_signed() -> None:
    assert received(signed(b"ssl_check=1", FORM, secret="wrong")).answer.status == 401


def test_a_get_changes_nothing_and_says_so() -> None:
    got = received(HookCall(method="GET", headers={}, query={}, body=b"", at=NOW))
    assert (got.answer.status, got.answer.headers, got.events) == (405, {"Allow": "POST"}, ())


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (TOKEN, (TOKEN, "")),
        (f"{TOKEN} all done", (TOKEN, "all done")),
        (f"release {TOKEN} all done", (TOKEN, "all done")),
        (f"/release {TOKEN}", (TOKEN, "")),
        (f"  !RELEASE  {TOKEN.upper()}, a &lt; b", (TOKEN, "a < b")),
        ("", ("", "")),
        ("release", ("", "")),
        ("the kraken", ("", "")),
        ("releasenotes", ("", "")),
    ],
)
@pytest.mark.parametrize("name", ["/release", "/handoff", "/entlassen"])
def test_a_slash_command_of_whatever_name_is_a_release_line(
    typed: str, command: tuple[str, str], name: str
) -> None:
    got = received(slash(typed, command=name))
    assert (got.answer.status, got.at_once) == (200, True)
    assert json.loads(got.answer.body)["text"].startswith("Nothing more was done")
    [said] = got.events
    assert isinstance(said, Said)
    found = read_release(said.text)
    assert found is not None
    assert (found.token, found.note) == command
    assert said.keys == ("13345224609.738474920.8088930838d88f008e0",)
    assert (said.account, said.place, said.thread_key) == (CHANNEL, CHANNEL, "")
    assert (said.sender_id, said.sender_name) == ("U1", "mia")


def test_a_slash_command_without_a_trigger_is_known_by_its_signature() -> None:
    first, again = (received(slash(TOKEN, trigger_id="")).events for _ in range(2))
    other = received(slash(f"{TOKEN} x", trigger_id="")).events
    assert first[0].keys == again[0].keys
    assert first[0].keys != other[0].keys


def test_an_answer_to_a_command_is_for_whoever_typed_it_and_stays_text() -> None:
    answer = SlackHook(settings()).saying("Released. <!channel> & thanks")
    assert answer.status == 200
    assert json.loads(answer.body) == {
        "response_type": "ephemeral",
        "text": "Released. &lt;!channel&gt; &amp; thanks",
    }


def test_one_address_serves_the_channels_of_one_app() -> None:
    hook = SlackHook(settings())
    assert hook.account() == CHANNEL
    assert hook.shares_secret(settings(channel_id="C2", bot_token="xoxb-2"))
    assert not hook.shares_secret(settings(channel_id="C2", signing_secret="another"))
    unsigned = SlackHook(settings(signing_secret=""))
    assert not unsigned.shares_secret(settings(signing_secret=""))
