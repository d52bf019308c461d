"""The outbound HTTP call against real sockets: in time, within bounds, and true about what left."""

import json
import logging
import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, call, rate_limited, unclear
from tests.fakes.rude import Rude, RudeServer
from tests.outbound.asking import TOKEN, answering, fetch, refused


def test_a_call_carries_its_json_and_brings_back_status_headers_and_body() -> None:
    reply = b'HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 11\r\n\r\n{"ok":true}'
    with answering(reply) as (port, asked):
        answer = fetch(
            f"http://127.0.0.1:{port}/bot1/sendMessage?x=%2F",
            json={"text": "Grüße 🙂"},
            headers={"Authorization": "Bearer t"},
        )
    assert answer.status == 429
    assert answer.headers["retry-after"] == "7"
    assert answer.json() == {"ok": True}
    head, _, body = asked[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /bot1/sendMessage?x=%2F HTTP/1.1")
    assert b"Authorization: Bearer t" in head
    assert b"Content-Type: application/json" in head
    assert f"Host: 127.0.0.1:{port}".encode() in head
    assert json.loads(body) == {"text": "Grüße 🙂"}


def test_a_form_and_a_get_are_encoded_as_such() -> None:
    with answering(b"HTTP/1.1 200 OK\r\n\r\n") as (port, asked):
        fetch(f"http://127.0.0.1:{port}/", json=None, form={"channel": "C 1&2"})
        call("GET", f"http://127.0.0.1:{port}/users/@me", deadline=time.monotonic() + 5)
    assert asked[0].endswith(b"\r\n\r\nchannel=C+1%262")
    assert b"Content-Type: application/x-www-form-urlencoded" in asked[0]
    assert asked[1].startswith(b"GET /users/@me HTTP/1.1")
    assert asked[1].endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b'{"a": {"b": [1]}}', {"a": {"b": [1]}}),
        (b"", None),
        (b"[]", None),
        (b"<html>", None),
        (b'{"a": NaN}', None),
        (b'{"a": "\\ud800"}', None),
        (b'{"a": "\xff"}', None),
        (b'{"a":' * 5000, None),
    ],
)
def test_only_a_json_object_is_read_as_json(body: bytes, read: object) -> None:
    assert HttpAnswer(200, {}, body).json() == read


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (Rude.REFUSE, Kind.CONNECT),
        (Rude.SILENT, Kind.UNKNOWN_OUTCOME),
        (Rude.TRICKLE, Kind.UNKNOWN_OUTCOME),
        (Rude.HALF_CLOSE, Kind.UNKNOWN_OUTCOME),
        (Rude.RESET_BEFORE, Kind.UNKNOWN_OUTCOME),
        (Rude.RESET_AMID, Kind.UNKNOWN_OUTCOME),
        (Rude.GARBAGE, Kind.UNKNOWN_OUTCOME),
        (Rude.HUGE, Kind.UNKNOWN_OUTCOME),
    ],
)
def test_what_was_sent_may_have_been_taken_and_what_was_not_has_not(mode: Rude, kind: Kind) -> None:
    with RudeServer(mode) as server:
        assert refused(f"http://127.0.0.1:{server.port}/bot1/x").kind is kind
        assert server.connections == (0 if mode is Rude.REFUSE else 1)


def test_a_server_that_takes_no_more_of_a_long_request_may_have_taken_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        error = refused(
            f"http://127.0.0.1:{listener.getsockname()[1]}/",
            seconds=2,
            json={"a": "x" * 12_000_000},
        )
    assert error.kind is Kind.UNKNOWN_OUTCOME


def test_an_answer_that_comes_before_the_whole_request_was_read_is_heard() -> None:
    with answering(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", reads=False) as (
        port,
        _,
    ):
        assert fetch(f"http://127.0.0.1:{port}/", json={"a": "x" * 3_000_000}).status == 413


@pytest.mark.parametrize(("size", "cap", "whole"), [(1000, 1000, True), (1001, 1000, False)])
def test_an_answer_is_read_up_to_the_cap(size: int, cap: int, whole: bool) -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
    with answering(reply) as (port, _):
        if whole:
            assert len(fetch(f"http://127.0.0.1:{port}/", cap=cap).body) == size
        else:
            error = refused(f"http://127.0.0.1:{port}/", cap=cap)
            assert (error.kind, "too long" in str(error)) == (Kind.UNKNOWN_OUTCOME, True)


def test_no_redirect_is_followed_and_no_proxy_of_the_environment_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with RudeServer(Rude.EMPTY) as other:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{other.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{other.port}")
        with RudeServer(Rude.REDIRECT, leads_to=f"http://127.0.0.1:{other.port}/") as server:
            answer = fetch(f"http://127.0.0.1:{server.port}/")
        assert (answer.status, other.connections, server.connections) == (307, 0, 1)


def test_a_name_that_is_not_resolved_in_time_was_sent_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: over.wait(5) and [])
    assert refused("https://api.example.org/").kind is Kind.CONNECT
    over.set()


def test_an_unknown_name_is_no_connection() -> None:
    assert refused("https://no-such-host.invalid/", seconds=5).kind is Kind.CONNECT


def test_without_time_nothing_is_sent() -> None:
    with RudeServer(Rude.EMPTY) as server:
        assert refused(f"http://127.0.0.1:{server.port}/", seconds=-1).kind is Kind.CONNECT
        assert server.received == []


@pytest.mark.parametrize("trusted", [True, False])
def test_only_an_address_of_the_environment_may_be_private(
    settings: Settings, trusted: bool
) -> None:
    settings.PRIVATE_TARGETS = []
    with answering(b"HTTP/1.1 204 OK\r\n\r\n") as (port, asked):
        url = f"http://127.0.0.1:{port}/"
        if trusted:
            assert fetch(url, trusted=True).status == 204
        else:
            error = refused(url, trusted=False)
            assert error.kind is Kind.PERMISSION
            assert "HANDOFF_PRIVATE_TARGETS" in error.hint
            assert asked == []


def test_no_address_is_trusted_so_much_that_it_may_be_a_metadata_service() -> None:
    error = refused("http://169.254.169.254/latest/meta-data/")
    assert (error.kind, "never allowed" in error.hint) == (Kind.PERMISSION, True)


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("ftp://example.org/", {}),
        ("/sendMessage", {}),
        ("https:///x", {}),
        ("https://exa mple.org/\x00", {}),
        ("http://127.0.0.1:9/", {"X-Secret": f"Bearer {TOKEN}\r\nHost: evil"}),
        ("http://127.0.0.1:9/", {"X-Secret": "naïve ✓"}),
    ],
)
def test_what_cannot_be_written_as_a_request_is_refused_without_its_text(
    url: str, headers: dict[str, str]
) -> None:
    with RudeServer(Rude.EMPTY) as server, pytest.raises(TransportError) as caught:
        fetch(url.replace(":9/", f":{server.port}/"), headers=headers)
    assert caught.value.kind is Kind.BAD_FORMAT
    assert TOKEN not in str(caught.value)
    assert server.received in ([], [b""])


def test_a_text_that_is_no_unicode_is_refused_before_anything_is_sent() -> None:
    with RudeServer(Rude.EMPTY) as server:
        error = refused(f"http://127.0.0.1:{server.port}/", json={"text": "\udcff"})
        assert (error.kind, server.connections) == (Kind.BAD_FORMAT, 0)


def test_an_answer_does_not_say_back_what_opened_the_door() -> None:
    said = ["seven7", "a/b+c=d", "short"]
    body = json.dumps({"said": said, "path": "/bota%2Fb%2Bc%3Dd/x"}).replace("a/b", "a\\/b")
    reply = b"HTTP/1.1 400 No\r\n\r\n" + body.encode()
    with answering(reply) as (port, _):
        answer = fetch(f"http://127.0.0.1:{port}/", secrets=said)
    assert answer.json() == {"said": ["***", "***", "short"], "path": "/bot***/x"}


@profile(max_examples=60)
@given(st.one_of(st.binary(max_size=300), st.binary(max_size=200).map(b"HTTP/1.1 200 ".__add__)))
def test_any_bytes_are_an_answer_or_an_unknown_outcome(reply: bytes) -> None:
    outcome: object
    with answering(reply) as (port, _):
        try:
            outcome = fetch(f"http://127.0.0.1:{port}/", seconds=2).status
        except TransportError as error:
            outcome = error.kind
    assert outcome in (Kind.UNKNOWN_OUTCOME, *range(100, 1000))


def test_no_level_of_logging_shows_a_url_or_a_header(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.DEBUG),
        caplog.at_level(logging.DEBUG, logger="httpx2"),
        caplog.at_level(logging.DEBUG, logger="httpcore2"),
        answering(b"HTTP/1.1 200 OK\r\n\r\n{}") as (port, _),
    ):
        fetch(f"http://127.0.0.1:{port}/bot{TOKEN}/x", headers={"Authorization": f"Bot {TOKEN}"})
        refused(f"http://127.0.0.1:{port}/bot{TOKEN}/x", cap=1)
    assert "send_request_headers" in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (HttpAnswer(502, {}, b" <html>cloud-7.internal</html>"), "502 with a web page"),
        (HttpAnswer(200, {}, b""), "200 without a word"),
        (HttpAnswer(307, {"location": "https://evil.example"}, b"<html>"), "307, a redirect"),
        (HttpAnswer(500, {}, b'{"error": "pg-7.internal is down"}'), "does not know"),
        (HttpAnswer(503, {}, b"no upstream cloud-7.internal"), "something else than JSON"),
    ],
)
def test_an_answer_that_says_nothing_leaves_a_send_unknown_and_anything_else_to_be_tried_again(
    answer: HttpAnswer, words: str
) -> None:
    send, other = unclear(answer, sends=True), unclear(answer, sends=False)
    assert (send.kind, other.kind) == (Kind.UNKNOWN_OUTCOME, Kind.TRANSIENT)
    assert words in send.operator_detail
    assert send.provider_code == str(answer.status)
    assert not any(word in f"{send} {send.hint}" for word in ("internal", "evil"))


@pytest.mark.parametrize(
    ("header", "given_seconds", "wait"),
    [
        ("7", None, 7.0),
        ("7", 1.25, 1.25),
        ("0.25", None, 0.25),
        ("", None, None),
        ("soon", None, None),
        ("-5", None, None),
        ("nan", None, None),
        ("", float("inf"), None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None, 0.0),
    ],
)
def test_a_rate_limit_says_how_long_where_the_provider_did(
    header: str, given_seconds: float | None, wait: float | None
) -> None:
    error = rate_limited(HttpAnswer(429, {"retry-after": header}, b""), given_seconds)
    assert (error.kind, error.retry_after) == (Kind.RATE_LIMITED, wait)
    assert error.provider_code == "429"
