"""A server of 127.0.0.1 that answers byte by byte as it is told, and keeps what it was asked."""

import contextlib
import dataclasses
import http
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

Peer = socket.socket
Script = bytes | Callable[[Peer, threading.Event], None]
"""What one connection gets: bytes and an end, or whatever the function does until it returns."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """One request that arrived."""

    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    at: float

    def json(self) -> Any:
        return json.loads(self.body)


class RawServer:
    """Gives each connection the next script; the last one is for all that follow."""

    def __init__(self, *scripts: Script, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self._scripts = list(scripts)
        self._tls = tls
        self._over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> "RawServer":
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in [self._accepting, *self._threads]:
            thread.join(10)
            assert not thread.is_alive()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                peer, _ = self._listening.accept()
            except OSError:
                return
            script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
            thread = threading.Thread(target=self._serve, args=(peer, script), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, peer: Peer, script: Script) -> None:
        with contextlib.suppress(OSError), peer:
            peer.settimeout(20)
            if self._tls is not None:
                peer = self._tls.wrap_socket(peer, server_side=True)
            with peer:
                asked = _read(peer)
                if asked is None:
                    return
                self.asked.append(asked)
                if isinstance(script, bytes):
                    peer.sendall(script)
                else:
                    script(peer, self._over)


def _read(peer: Peer) -> Asked | None:
    with peer.makefile("rb") as incoming:
        first = incoming.readline().decode("latin-1").split()
        if len(first) != 3:
            return None
        headers: dict[str, str] = {}
        while line := incoming.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = incoming.read(int(headers.get("content-length", "0")))
    return Asked(first[0], first[1], headers, body, time.monotonic())


def answer(
    status: int, body: bytes | str | object = b"", *, length: int | None = None, **headers: str
) -> bytes:
    """A whole HTTP answer; a `length` that is not the body's is declared as it is."""
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    try:
        phrase = http.HTTPStatus(status).phrase
    except ValueError:
        phrase = "Odd"
    lines = [f"HTTP/1.1 {status} {phrase}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body) if length is None else length}", "", ""]
    return "\r\n".join(lines).encode() + body


HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"


def hang(peer: Peer, over: threading.Event) -> None:
    """Takes the call and says nothing."""
    over.wait(20)


def hang_after_head(peer: Peer, over: threading.Event) -> None:
    peer.sendall(HEAD)
    over.wait(20)


def hang_inside_body(peer: Peer, over: threading.Event) -> None:
    peer.sendall(HEAD + b'{"text": "half')
    over.wait(20)


def trickle(what: bytes) -> Script:
    """A byte each 50 ms, for as long as somebody listens."""

    def script(peer: Peer, over: threading.Event) -> None:
        for number in range(400):
            if over.wait(0.05):
                return
            peer.sendall(what[number : number + 1] or b" ")

    return script


def reset(peer: Peer, over: threading.Event) -> None:
    """The connection is torn down without a word."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


def endless(peer: Peer, over: threading.Event) -> None:
    """A body without an end."""
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while not over.is_set():
        peer.sendall(b'{"text": "' + b"x" * 65536)


@contextlib.contextmanager
def dead_port() -> Iterator[str]:
    """An address that refuses connections."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{probe.getsockname()[1]}"
