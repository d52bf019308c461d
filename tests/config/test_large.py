"""Large answers that nobody reads, and large bodies that never end, have few places."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from socket import socket
from typing import Final

import pytest

from config.places import ANSWERS_OF_ONE, BODIES
from tests.config.servers import Server, running

FULL: Final = b"HTTP/1.1 503 Service Unavailable"
LARGE: Final = b"/probe/large?megabytes=10"
REFUSED: Final = 30
SENT: Final = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
BEGUN: Final = (
    b"POST /files/?ticket=x&number=%d HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Length: 9000000\r\n\r\nbegins"
)


def _asked(stack: contextlib.ExitStack, server: Server, what: bytes) -> socket:
    client = stack.enter_context(contextlib.closing(server.socket()))
    client.sendall(what)
    return client


def _first_line(client: socket) -> bytes:
    return client.recv(200).partition(b"\r\n")[0]


def _rest_of(client: socket) -> None:
    while client.recv(1024 * 1024):
        pass


def _waited_for(what: Callable[[], bool], seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < until:
        time.sleep(0.1)
    return found


@pytest.mark.slow
def test_answers_that_nobody_reads_have_few_places_and_give_them_back(server: Server) -> None:
    server.get("/probe/large?megabytes=10")
    before = server.figure("VmRSS")
    with contextlib.ExitStack() as stack:
        held = [_asked(stack, server, SENT % LARGE) for _ in range(ANSWERS_OF_ONE)]
        assert all(_first_line(client) == b"HTTP/1.1 200 OK" for client in held)
        for _ in range(REFUSED):
            refused = _asked(stack, server, SENT % LARGE)
            assert _first_line(refused) == FULL
        assert server.get("/probe/ping") == (200, b"pong")
        done = _asked(stack, server, SENT.replace(b"GET", b"POST") % LARGE)
        assert _first_line(done) == b"HTTP/1.1 200 OK", "what was done is not denied"
        assert server.figure("VmRSS") - before < REFUSED / 2 * 10 * 1024
    assert _waited_for(lambda: server.get(LARGE.decode())[0] == 200)
    status, body = server.get(LARGE.decode())
    assert (status, len(body)) == (200, 10 * 1024 * 1024)


@pytest.mark.slow
def test_an_answer_that_is_not_read_in_time_is_cut_off(tmp_path: Path, desk_url: str) -> None:
    short = running(tmp_path / "desk", desk_url, HANDOFF_RECEIVE_SECONDS="0.4", HANDOFF_WATCHER="0")
    with short as server, contextlib.ExitStack() as held:
        clients = [_asked(held, server, SENT % LARGE) for _ in range(ANSWERS_OF_ONE)]
        assert all(_first_line(client) == b"HTTP/1.1 200 OK" for client in clients)
        assert server.get(LARGE.decode())[0] == 503
        assert _waited_for(lambda: server.get(LARGE.decode())[0] == 200)
        for client in clients:
            with pytest.raises(ConnectionResetError):
                _rest_of(client)


@pytest.mark.slow
def test_bodies_that_never_end_have_few_places_and_give_them_back(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        for number in range(BODIES):
            _asked(stack, server, BEGUN % number)
        assert _waited_for(lambda: _first_line(_asked(stack, server, BEGUN % 99)) == FULL)
        assert server.get("/probe/ping") == (200, b"pong")
    with contextlib.ExitStack() as stack:
        client = _asked(stack, server, BEGUN % 100)
        client.sendall(b"x" * (9_000_000 - len(b"begins")))
        assert _first_line(client) == b"HTTP/1.1 401 Unauthorized"
