"""Slack's calls to us: who is believed, and what of it is a person's word."""

import json
import pathlib
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff.transports.inbound import HookCall
from handoff.transports.slack_hook import SlackHook
from tests import environment
from tests.transports.slack_samples import (
    BOT,
    CHANNEL,
    FORM,
    NOW,
    SECRET,
    event,
    message,
    received,
    settings,
    signed,
)

COMMAND = ("command", "text", "user_id", "channel_id", "user_name", "trigger_id", "payload")
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


@pytest.mark.parametrize("number", ["1", "2", "3"])
@pytest.mark.parametrize("reason", ["http_timeout", "http_error", "connection_failed"])
def test_a_retry_is_read_like_the_first_try(number: str, reason: str) -> None:
    retry = {"x-slack-retry-num": number, "x-slack-retry-reason": reason}
    got = received(signed(event(message()), headers=retry))
    assert [said.keys[0] for said in got.events] == ["Ev0001"]
    assert "X-Slack-No-Retry" not in got.answer.headers


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


@given(st.binary(max_size=400), st.sampled_from(["application/json", FORM, "text/plain", ""]))
def test_whatever_is_signed_is_answered(body: bytes, content_type: str) -> None:
    assert received(signed(body, content_type)).answer.status in (200, 400)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.data())
def test_an_event_of_whatever_shape_is_acknowledged(data: st.DataObject) -> None:
    whole = json.loads(event(message(files=[], subtype="file_share", parent_user_id=BOT)))
    for part in (whole, whole["event"]):
        for key in data.draw(st.sets(st.sampled_from(sorted(part)), max_size=3)):
            part[key] = data.draw(ANYTHING)
    got = received(signed(json.dumps(whole).encode()))
    # a lone surrogate and a NUL are the two letters that nobody can keep
    assert got.answer.status in (200, 400)


@given(st.dictionaries(st.sampled_from(COMMAND), st.text(max_size=20)))
def test_a_command_of_whatever_shape_is_answered(fields: dict[str, str]) -> None:
    body = urlencode(fields, errors="surrogatepass").encode()
    assert received(signed(body, FORM)).answer.status in (200, 400)
