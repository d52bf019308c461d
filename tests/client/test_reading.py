"""The table of the contract: what a model reads for each answer, against a real socket."""

import time
from typing import Any

import pytest

from handoff_client import Answer, Desk
from tests.client.raw_server import (
    RawServer,
    Script,
    answer,
    dead_port,
    endless,
    hang,
    hang_after_head,
    hang_inside_body,
    reset,
    trickle,
)

TOKEN = "hd_abcdefgh_secret"
READABLE = {"text": "Handed to Sales.", "isError": False, "result": {"ok": True}}
UNREADABLE = "The tool callback returned no readable result. Do not say that it worked."
INCOMPLETE = (
    "The tool callback could not be completed. It is not known whether anybody was asked; "
    "do not say that they were."
)
HTML = "<html><h1>502 Bad Gateway</h1></html>"


def refused(status: int, *words: str) -> str:
    return " ".join([f"Refused. Tool callback returned HTTP {status}.", *words])


def call(script: Script, *, timeout: float = 10.0) -> Answer:
    with RawServer(script) as server:
        return Desk(server.url, TOKEN, timeout=timeout).call("handoff_status", {"x": 1})


NOT_KNOWN = "It is not known whether anybody was asked."
TABLE: dict[str, tuple[bytes, str]] = {
    "a sentence": (answer(200, READABLE), "Handed to Sales."),
    "a sentence with a 201": (answer(201, READABLE), "Handed to Sales."),
    "a refusal of the desk": (
        answer(200, {"text": "Refused. No.", "isError": True, "result": {"code": "no_channels"}}),
        "Refused. No.",
    ),
    "white space, kept": (answer(200, {"text": " a\n b "}), " a\n b "),
    "no token": (answer(401, {"error": "Not authorised."}), refused(401, "Not authorised.")),
    "another agent's": (
        answer(403, {"error": "That token is not for this Bot."}),
        refused(403, "That token is not for this Bot."),
    ),
    "malformed": (
        answer(400, {"error": "A tool is required."}),
        refused(400, "A tool is required."),
    ),
    "too large": (
        answer(413, {"error": "The call is too large.", "code": "too_large"}),
        refused(413, "The call is too large."),
    ),
    "too fast": (
        answer(429, {"error": "Too many calls.", "code": "too_fast"}, Retry_After="7"),
        refused(429, "Too many calls."),
    ),
    "an outage": (
        answer(503, {"error": "This call asked nobody.", "code": "desk_unavailable"}),
        refused(503, "This call asked nobody."),
    ),
    "problem+json": (
        answer(404, {"title": "Not Found", "detail": "No such place."}),
        refused(404, "No such place."),
    ),
    "a title only": (answer(404, {"title": "Not Found", "detail": " "}), refused(404, "Not Found")),
    "a blank error": (answer(400, {"error": "  "}), refused(400)),
    "an error that is no text": (answer(400, {"error": ["x"]}), refused(400)),
    "an error in white space": (answer(418, {"error": " Tea. "}), refused(418, "Tea.")),
    "HTML": (answer(500, HTML, Content_Type="text/html"), refused(500)),
    "a list": (answer(404, ["error"]), refused(404)),
    "a text": (answer(404, '"error"'), refused(404)),
    "nothing": (answer(500), refused(500)),
    "an odd status": (answer(599), refused(599)),
    "a redirect": (answer(302, HTML, Location="http://127.0.0.1:1/"), refused(302)),
    "a redirect that keeps the method": (answer(307, Location="/elsewhere"), refused(307)),
    "not modified": (answer(304), refused(304)),
    "a refusal that is not UTF-8": (answer(400, b'{"error": "\xff"}'), refused(400)),
    "half a refusal": (answer(401, b'{"error": "Not', length=500), refused(401)),
    "a gateway's HTML": (answer(502, HTML), refused(502, NOT_KNOWN)),
    "a gateway's time-out": (answer(504), refused(504, NOT_KNOWN)),
    "a gateway's words": (
        answer(502, {"error": "Upstream.", "code": "BAD_GATEWAY"}),
        refused(502, "Upstream.", NOT_KNOWN),
    ),
    "the desk's code on a 504": (
        answer(504, {"error": "Nobody was asked.", "code": "desk_unavailable"}),
        refused(504, "Nobody was asked."),
    ),
    "success with HTML": (answer(200, HTML), UNREADABLE),
    "success with a list": (answer(200, ["text"]), UNREADABLE),
    "success with nothing": (answer(200), UNREADABLE),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", UNREADABLE),
    "success without a text": (answer(200, {"result": {}}), UNREADABLE),
    "success with a blank text": (answer(200, {"text": " \n"}), UNREADABLE),
    "success with a number": (answer(200, {"text": 7}), UNREADABLE),
    "success that is not UTF-8": (answer(200, b'{"text": "\xe9"}'), UNREADABLE),
    "a lone surrogate": (answer(200, b'{"text": "\\ud800"}'), UNREADABLE),
    "not a number": (answer(200, b'{"text": "x", "result": {"n": NaN}}'), UNREADABLE),
    "more digits than a number may have": (
        answer(200, b'{"text": "x", "n": ' + b"9" * 5000 + b"}"),
        UNREADABLE,
    ),
    "too deep": (answer(200, b'{"text": ' + b"[" * 200_000), UNREADABLE),
    "JSON that ends early": (b'HTTP/1.1 200 OK\r\n\r\n{"text": "ha', UNREADABLE),
}
"""Situation -> what the server sends, and what the model reads."""


@pytest.mark.parametrize(("sent", "text"), TABLE.values(), ids=TABLE)
def test_a_model_reads(sent: bytes, text: str) -> None:
    found = call(sent)
    assert found.text == text
    assert found.is_error is (not text.startswith(("Handed", " a")))
    assert not found.is_error or found.code or found.result == {}


def test_the_result_is_kept_as_it_is() -> None:
    assert call(answer(200, READABLE)) == Answer("Handed to Sales.", False, {"ok": True})
    odd = {"text": "Done.", "isError": False, "result": [1]}
    assert call(answer(200, odd)) == Answer("Done.", False, {})


def test_a_refusal_is_an_error_where_nobody_says_so() -> None:
    assert call(answer(200, {"text": "Refused. No."})).is_error is True


def test_an_error_has_a_code_for_the_program() -> None:
    body = {"error": "Slow down.", "code": "too_fast", "details": {"text": "x", "status": 1}}
    assert call(answer(429, body)).result == {
        "error": refused(429, "Slow down."),
        "code": "too_fast",
        "details": {"text": "x", "status": 429},
    }
    assert call(answer(302)).code == "http_302"
    assert call(answer(200)).code == "unreadable"


def test_a_wordy_stranger_is_cut() -> None:
    found = call(answer(500, {"error": "x" * 100_000}))
    assert found.text == refused(500, "x" * 4000)


LOST: dict[str, Script] = {
    "half a body": answer(200, b'{"text": "ha', length=500),
    "half a body in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{",
    "half a word of an outage": answer(503, b'{"error": "This', length=500),
    "no status line": b"\r\n\r\n",
    "a line that is not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a status that is no number": b"HTTP/1.1 abc OK\r\n\r\n",
    "an interim answer and no other": b"HTTP/1.1 103 Early Hints\r\n\r\n",
    "a thousand headers": b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 1000 + b"\r\n",
    "closed": b"",
    "reset": reset,
}


@pytest.mark.parametrize("script", LOST.values(), ids=LOST)
def test_a_lost_answer_is_not_known_after_one_more_try_with_the_same_key(script: Script) -> None:
    with RawServer(script) as server:
        found = Desk(server.url, TOKEN, timeout=5).call("ask_a_person", {"question": "?"})
    assert found.text == INCOMPLETE
    assert (found.is_error, found.code) == (True, "incomplete")
    first, second = server.asked
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert (first.body, first.headers) == (second.body, second.headers)


SLOW: dict[str, Script] = {
    "before the head": hang,
    "after the head": hang_after_head,
    "inside the body": hang_inside_body,
    "with a head byte by byte": trickle(answer(200, READABLE)),
    "with a body byte by byte": trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
def test_a_call_ends_in_its_time_when_the_desk_hangs(script: Script) -> None:
    began = time.monotonic()
    with RawServer(script) as server:
        found = Desk(server.url, TOKEN, timeout=1.5).call("ask_a_person", {"question": "?"})
        took = time.monotonic() - began
    assert found.text == INCOMPLETE
    assert 1.3 < took < 4
    assert len(server.asked) == 2
    assert 0.9 < server.asked[1].at - server.asked[0].at < 3


def test_the_second_try_answers() -> None:
    with RawServer(reset, answer(200, READABLE)) as server:
        assert Desk(server.url, TOKEN).call("x", {}).text == "Handed to Sales."


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_an_answer_is_not_asked_for_again(status: int) -> None:
    with RawServer(answer(status)) as server:
        Desk(server.url, TOKEN).call("x", {})
    assert len(server.asked) == 1


def test_a_body_without_an_end_is_not_read_to_the_end() -> None:
    began = time.monotonic()
    assert call(endless).text == UNREADABLE
    assert time.monotonic() - began < 8


@pytest.mark.parametrize(
    "token", [None, "", "  ", "line\nfeed", "two words", "é", "\x00", "\udcff"]
)
def test_without_a_token_nothing_is_sent(token: str | None) -> None:
    with RawServer(answer(200, READABLE)) as server:
        found = Desk(server.url, token).call("x", {})
    assert found.text == "Refused. This agent has no credential for calling tools."
    assert server.asked == []


GARBAGE = [
    "",
    "desk",
    "desk.example.org/api",
    "ftp://127.0.0.1/",
    "http://",
    "http://[::1",
    "http://127.0.0.1:99999",
    "http://127.0.0.1:port",
    "http://127.0.0.1:0",
    "http://user:secret@127.0.0.1",
    "http://127.0.0.1\r\nX: y",
    "http://127.0.0.1/a b",
    "http://..",
    "http://" + "a" * 300,
    "http://\udcff",
    "http://é.invalid",
    "\x00",
    None,
    7,
]


@pytest.mark.parametrize("url", GARBAGE, ids=repr)
def test_an_address_that_cannot_be_used_is_an_answer(url: Any) -> None:
    desk = Desk(url, TOKEN, timeout=3)
    assert desk.call("x", {}).text == INCOMPLETE
    assert "secret" not in repr(desk)


def test_a_port_that_nobody_listens_on() -> None:
    with dead_port() as url:
        began = time.monotonic()
        assert Desk(url, TOKEN, timeout=5).call("x", {}).text == INCOMPLETE
        assert time.monotonic() - began < 3
