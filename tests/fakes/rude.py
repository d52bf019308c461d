"""A server, or a proxy before one, that behaves in the ways in which networks break.

with RudeServer(Rude.SILENT) as server:
    call_something_at(server.port)
"""

import itertools
import os
import re
import select
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from types import TracebackType
from typing import Final, Self

TRICKLE_SECONDS: Final = 1.0
_LENGTH: Final = re.compile(rb"content-length: *([0-9]+)", re.IGNORECASE)


class Rude(StrEnum):
    REFUSE = "refuse the connection"
    SILENT = "accept, and say nothing"
    TRICKLE = "a byte a second"
    HALF_CLOSE = "close one direction"
    RESET_BEFORE = "reset before the answer"
    RESET_AMID = "reset in the middle of the answer"
    BAD_GATEWAY = "a proxy's 502 in HTML"
    GARBAGE = "garbage like a broken TLS"
    REDIRECT = "a redirect"
    EMPTY = "an answer without a body"
    HUGE = "an answer that never ends"


START: Final = b"HTTP/1.1 200 OK\r\nX-Filler: "
PAGE: Final = b"<html><head><title>502</title></head><body>cloud-proxy-7.internal</body></html>"
ANSWERS: Final = {
    Rude.BAD_GATEWAY: (
        b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s"
        % (len(PAGE), PAGE)
    ),
    Rude.GARBAGE: b"\x15\x03\x01\x00\x02\x02\x46" + bytes(range(128, 256)) * 4,
    Rude.EMPTY: b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
}


def misbehave(
    connection: socket.socket,
    mode: Rude,
    *,
    stop: threading.Event,
    leads_to: str = "http://127.0.0.1:9/",
    start: bytes = START,
) -> None:
    """Answer in such a way, at most until `stop` is set.

    `leads_to` is where a redirect points, `start` what an answer that does not end begins with.
    """
    connection.settimeout(0.1)
    match mode:
        case Rude.SILENT | Rude.REFUSE:
            _listen(connection, stop)
        case Rude.HALF_CLOSE:
            connection.shutdown(socket.SHUT_WR)
            _listen(connection, stop)
        case Rude.TRICKLE:
            for byte in itertools.chain(start, itertools.repeat(ord("x"))):
                connection.sendall(bytes([byte]))
                if stop.wait(TRICKLE_SECONDS):
                    return
        case Rude.HUGE:
            connection.settimeout(5)
            connection.sendall(start + (b"x\r\n\r\n" if start == START else b"x\r\n"))
            while not stop.is_set():
                connection.sendall(b"250-" + b"x" * 996 + b"\r\n")
        case Rude.RESET_BEFORE:
            _reset(connection)
        case Rude.RESET_AMID:
            connection.sendall(start)
            stop.wait(0.1)
            _reset(connection)
        case Rude.REDIRECT:
            connection.sendall(
                f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {leads_to}\r\n"
                "Content-Length: 0\r\n\r\n".encode()
            )
            _listen(connection, stop)
        case _:
            connection.sendall(ANSWERS[mode])
            _listen(connection, stop)


def _pieces(connection: socket.socket, stop: threading.Event) -> Iterator[bytes]:
    while not stop.is_set():
        try:
            piece = connection.recv(65536)
        except TimeoutError:
            continue
        if not piece:
            return
        yield piece


def _listen(connection: socket.socket, stop: threading.Event) -> None:
    """Take what still comes, until the other side leaves or the test ends."""
    with suppress(OSError):
        for _ in _pieces(connection, stop):
            pass


class RudeServer:
    """Listens on 127.0.0.1 while its `with` block runs, a thread for each connection.

    It reads one HTTP request before it misbehaves. With `at_once` it does so on connecting, and
    with `upstream`, a port, it is a proxy that first passes everything on until the client has
    said `until`. See `misbehave` for the rest.
    """

    def __init__(
        self,
        mode: Rude,
        *,
        at_once: bool = False,
        upstream: int | None = None,
        until: bytes = b"\r\n.\r\n",
        leads_to: str = "http://127.0.0.1:9/",
        start: bytes = START,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.mode = mode
        self.at_once = at_once
        self.upstream = upstream
        self.until = until
        self.leads_to = leads_to
        self.start = start
        self.tls = tls
        self.connections = 0
        self.received: list[bytes] = []
        """What each connection sent, as far as it was read."""
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        if self.mode is not Rude.REFUSE:  # a port that is bound and does not listen refuses
            self._listener.listen(50)
            self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(5)
        self._listener.close()

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="rude server", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):  # shut down at the end
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._start(lambda connection=connection: self._serve(connection))  # type: ignore[misc]

    def _serve(self, plain: socket.socket) -> None:
        plain.settimeout(0.1)
        connection = plain
        with suppress(OSError):
            if self.tls is not None:
                plain.settimeout(5)
                connection = self.tls.wrap_socket(plain, server_side=True)
                connection.settimeout(0.1)
            if self.upstream is not None:
                self._pass_on(connection, self.upstream)
            elif not self.at_once:
                self.received.append(read_request(_pieces(connection, self._stop)))
            if not self._stop.is_set():
                misbehave(
                    connection,
                    self.mode,
                    stop=self._stop,
                    leads_to=self.leads_to,
                    start=self.start,
                )
        connection.close()

    def _pass_on(self, connection: socket.socket, port: int) -> None:
        """Between client and upstream, until the client has said `until`, that included."""
        with socket.create_connection(("127.0.0.1", port), timeout=5) as upstream:
            said = b""
            while not self._stop.is_set():
                for ready in select.select([connection, upstream], [], [], 0.1)[0]:
                    piece = ready.recv(65536)
                    if not piece:
                        return
                    if ready is upstream:
                        connection.sendall(piece)
                        continue
                    said += piece
                    upstream.sendall(piece)
                    if self.until in said:
                        self.received.append(said)
                        upstream.settimeout(5)
                        upstream.recv(65536)  # its word, which the client does not get
                        return


def read_request(pieces: Iterable[bytes]) -> bytes:
    """One whole HTTP request, or what there was when the other side left."""
    found = b""
    for piece in pieces:
        found += piece
        head, end, body = found.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if end and len(body) >= (int(length[1]) if length else 0):
            break
    return found


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())  # others may have a file of it open, and it has to go now
