"""Bodies that are too long, half sent or oddly sent, over raw sockets."""

import contextlib
import json
import time
from collections.abc import Iterator
from socket import socket

import pytest

from tests.config.servers import Server

CAP = 4 * 1024 * 1024
HUGE = 64 * 1024 * 1024
TOO_LARGE = {"error": "The call is too large.", "code": "too_large"}


def _send(client: socket, parts: Iterator[bytes]) -> None:
    """Everything, unless the server stops listening first."""
    with contextlib.suppress(OSError):
        for part in parts:
            client.sendall(part)


def _answer(client: socket) -> tuple[int, bytes]:
    received = bytearray()
    with contextlib.suppress(OSError):
        while chunk := client.recv(65_536):
            received += chunk
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def _declared(length: int, path: bytes = b"/probe/echo") -> Iterator[bytes]:
    yield b"POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" % path
    yield b"Content-Length: %d\r\n\r\n" % length
    for _ in range(length // 65_536):
        yield b"x" * 65_536
    yield b"x" * (length % 65_536)


def _chunked(length: int, path: bytes = b"/probe/echo") -> Iterator[bytes]:
    yield b"POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" % path
    yield b"Transfer-Encoding: chunked\r\n\r\n"
    for _ in range(length // 65_536):
        yield b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    yield b"0\r\n\r\n"


@pytest.mark.slow
@pytest.mark.parametrize("body", [_declared, _chunked])
def test_a_body_of_64_mib_is_refused_and_the_memory_stays_flat(
    steady: Server, body: object
) -> None:
    assert callable(body)
    steady.get("/probe/ping")
    before = steady.figure("VmRSS")
    for _ in range(3):
        with contextlib.closing(steady.socket()) as client:
            _send(client, body(HUGE, b"/api/v1/tool-calls"))
            status, answer = _answer(client)
        assert (status, json.loads(answer)) == (413, TOO_LARGE)
    assert steady.figure("VmRSS") - before < 8 * 1024
    assert steady.get("/probe/ping") == (200, b"pong")


@pytest.mark.slow
@pytest.mark.parametrize("body", [_declared, _chunked])
def test_a_body_of_exactly_the_cap_is_read_whole(steady: Server, body: object) -> None:
    assert callable(body)
    with contextlib.closing(steady.socket()) as client:
        _send(client, body(CAP))
        status, answer = _answer(client)
    assert (status, _length(answer)) == (200, CAP)
    with contextlib.closing(steady.socket()) as client:
        _send(client, body(CAP + 65_536))
        assert _answer(client)[0] == 413


def _length(answer: bytes) -> int:
    found: int = json.loads(answer[answer.index(b"{") : answer.rindex(b"}") + 1])["length"]
    return found


@pytest.mark.slow
def test_half_a_form_never_reaches_the_view(steady: Server) -> None:
    before = steady.log().count("/probe/echo")
    with contextlib.closing(steady.socket()) as client:
        client.sendall(
            b"POST /probe/echo HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n"
            b"amount=1&note=hal"
        )
    with contextlib.closing(steady.socket()) as client:
        client.sendall(
            b"POST /probe/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n\r\n11\r\namount=1&note=hal\r\n"
        )
    time.sleep(0.5)
    steady.get("/probe/ping")
    assert steady.log().count("/probe/echo") == before


@pytest.mark.slow
def test_a_chunked_form_is_a_form(steady: Server) -> None:
    with contextlib.closing(steady.socket()) as client:
        client.sendall(
            b"POST /probe/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
            b"6\r\namount\r\n5\r\n=1&no\r\n6\r\nte=all\r\n0\r\n\r\n"
        )
        status, answer = _answer(client)
    assert status == 200
    assert b'"fields": {"amount": "1", "note": "all"}' in answer
