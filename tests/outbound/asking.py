"""A server that answers as it is told, and calls to it."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, call
from tests.fakes.rude import read_request

SECONDS: Final = 0.5
TOKEN: Final = "8123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"


@contextmanager
def answering(
    reply: bytes, tls: ssl.SSLContext | None = None, *, reads: bool = True
) -> Iterator[tuple[int, list[bytes]]]:
    """A server that gives every request these bytes and closes; its port and what it was asked."""
    asked: list[bytes] = []

    def pieces(spoken: socket.socket) -> Iterator[bytes]:
        while piece := spoken.recv(65536):
            yield piece

    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                try:
                    spoken = tls.wrap_socket(connection, server_side=True) if tls else connection
                    with spoken:
                        if reads:
                            asked.append(read_request(pieces(spoken)))
                        spoken.sendall(reply)
                        spoken.shutdown(socket.SHUT_WR)
                        while spoken.recv(65536):
                            pass
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1], asked
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


def fetch(url: str, *, seconds: float = 5, **more: Any) -> HttpAnswer:
    return call("POST", url, deadline=time.monotonic() + seconds, **{"json": {"a": 1}, **more})


def refused(url: str, *, seconds: float = SECONDS, **more: Any) -> TransportError:
    """The error of one call; it comes at most a second after the deadline, and tells nothing."""
    started = time.monotonic()
    with pytest.raises(TransportError) as caught:
        fetch(url, seconds=seconds, headers={"Authorization": f"Bearer {TOKEN}"}, **more)
    assert time.monotonic() - started < max(0, seconds) + 1
    error = caught.value
    assert error.hint
    told = f"{error} {error.hint} {error.__cause__!r}"
    for secret in (TOKEN, "127.0.0.1", "localhost", "Bearer", "bot1"):
        assert secret not in told
    assert error.__context__ is None
    return error
