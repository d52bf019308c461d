"""One HTTP exchange that ends at its deadline, whatever the other side does.

A token goes to the named desk or nowhere: redirects are not followed, the environment's proxies
and `.netrc` are not asked, certificates are verified.
"""

import contextlib
import dataclasses
import http.client
import io
import queue
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any, Final

from handoff_client.answers import Received

BODY_MAX: Final = 16 * 1024 * 1024
"""Bytes of one answer, and of one line of an event stream."""
CHUNK: Final = 64 * 1024
_PORTS: Final = {"http": 80, "https": 443}
_BROKEN: Final = (OSError, http.client.HTTPException, ValueError, RuntimeError)
"""RuntimeError: no further thread may be started."""


class NoAnswer(Exception):
    """There was no HTTP answer. The text names the kind of fault, and nothing that was sent."""


class Token:
    """A credential that shows itself to nobody but the request."""

    def __init__(self, text: str | None) -> None:
        stripped = (text or "").strip()
        sendable = stripped.isascii() and stripped.isprintable() and " " not in stripped
        self._text = stripped if sendable else ""

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "<token>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a token is not pickled")

    def header(self) -> str:
        return f"Bearer {self._text}"


class Place:
    """Where a desk is. Raises NoAnswer, when it is used, for an address that can't be."""

    def __init__(self, url: str, context: ssl.SSLContext | None = None) -> None:
        self._url = url
        self._context = context

    def __repr__(self) -> str:
        try:
            parts = self._parts()
        except NoAnswer:
            return "<no usable address>"
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def target(self, path: str) -> str:
        return self._parts().path.rstrip("/") + path

    def host(self) -> str:
        return self._parts().netloc

    def connect(self, deadline: float) -> "Timed":
        """A connection, encrypted when the address says so; raises as `_BROKEN` and NoAnswer."""
        parts = self._parts()
        host = parts.hostname or ""
        plain = _connected(host, parts.port or _PORTS[parts.scheme], deadline)
        if parts.scheme == "http":
            return Timed(plain, deadline)
        with contextlib.ExitStack() as unless_it_works:
            unless_it_works.callback(plain.close)
            if self._context is None:
                self._context = ssl.create_default_context()
            plain.settimeout(_left(deadline))
            timed = Timed(self._context.wrap_socket(plain, server_hostname=host), deadline)
            unless_it_works.pop_all()
        return timed

    def _parts(self) -> urllib.parse.SplitResult:
        try:
            parts = urllib.parse.urlsplit(self._url.strip())
            usable = parts.hostname and parts.port != 0  # .port raises for one out of range
        except (ValueError, AttributeError, TypeError):
            usable = False
        if not usable or parts.scheme not in _PORTS or "@" in parts.netloc:
            raise NoAnswer("the address of the desk can't be used")
        return parts


@dataclasses.dataclass(frozen=True)
class Ask:
    """One request. The token stands beside the headers, so that none of them shows it."""

    method: str
    path: str
    token: Token
    body: bytes | None = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


class Timed:
    """A socket as http.client uses it, with one deadline for every step that follows."""

    def __init__(self, plain: socket.socket, deadline: float) -> None:
        self._plain = plain
        self.deadline = deadline

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._plain.settimeout(_left(self.deadline))
            rest = rest[self._plain.send(rest) :]

    def receive_into(self, buffer: Any) -> int:
        self._plain.settimeout(_left(self.deadline))
        return self._plain.recv_into(buffer)

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self))

    def close(self) -> None:
        """Nothing: http.client closes it while an answer is still to be read."""

    def end(self) -> None:
        self._plain.close()


class _Incoming(io.RawIOBase):
    def __init__(self, timed: Timed) -> None:
        self._timed = timed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._timed.receive_into(buffer)


@dataclasses.dataclass(frozen=True)
class Opened:
    """An answer whose head has come."""

    status: int
    headers: Mapping[str, str]
    _response: http.client.HTTPResponse
    _timed: Timed

    def whole(self) -> Received:
        """With its body. Raises NoAnswer when the part is lost that would say what happened."""
        try:
            body = self._body()
        except _BROKEN as problem:
            if self.status < 300 or self.status >= 500:
                raise NoAnswer(_kind(problem)) from None
            body = None
        return Received(self.status, self.headers, body)

    def _body(self) -> bytes | None:
        found = bytearray()
        while chunk := self._response.read(CHUNK):
            found += chunk
            if len(found) > BODY_MAX:
                return None
        if self._response.length:
            raise ConnectionError("the answer ended early")
        return bytes(found)

    def line(self, deadline: float) -> bytes:
        """The next line of a stream; b"" at its end. Raises NoAnswer."""
        self._timed.deadline = deadline
        try:
            line = self._response.readline(BODY_MAX)
        except _BROKEN as problem:
            raise NoAnswer(_kind(problem)) from None
        if line and not line.endswith(b"\n"):
            raise NoAnswer("the stream ended inside a line")
        return line


@contextlib.contextmanager
def opened(place: Place, ask: Ask, deadline: float) -> Iterator[Opened]:
    """The head of an answer, and a way to the rest. Raises NoAnswer."""
    timed = None
    try:
        try:
            timed = place.connect(deadline)
            response = _sent(place, ask, timed)
        except _BROKEN as problem:
            raise NoAnswer(_kind(problem)) from None
        headers = {name.lower(): value for name, value in response.getheaders()}
        yield Opened(response.status, headers, response, timed)
    finally:
        if timed is not None:
            timed.end()


def exchange(place: Place, ask: Ask, deadline: float) -> Received:
    """One request and its whole answer; raises NoAnswer, at the latest at the deadline."""
    with opened(place, ask, deadline) as answer:
        return answer.whole()


def _sent(place: Place, ask: Ask, timed: Timed) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("desk")  # a name for nobody: the socket is open
    connection.sock = timed
    connection.putrequest(
        ask.method, place.target(ask.path), skip_host=True, skip_accept_encoding=True
    )
    sent = {
        "Host": place.host(),
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "User-Agent": "handoff-client",
        **ask.headers,
    }
    if ask.body is not None:
        sent |= {"Content-Type": "application/json", "Content-Length": str(len(ask.body))}
    for name, value in sent.items():
        connection.putheader(name, value)
    connection.putheader("Authorization", ask.token.header())
    connection.endheaders(ask.body)
    response = connection.getresponse()
    if response.status < 200:
        raise http.client.HTTPException("an interim answer")
    return response


def _connected(host: str, port: int, deadline: float) -> socket.socket:
    """The first address that takes a connection; each gets its share of the time."""
    found = _addresses(host, port, deadline)
    problem: OSError = ConnectionError("the name has no address")
    for number, (family, kind, protocol, _, address) in enumerate(found):
        with contextlib.ExitStack() as unless_it_works:
            plain = socket.socket(family, kind, protocol)
            unless_it_works.callback(plain.close)
            try:
                plain.settimeout(_left(deadline) / (len(found) - number))
                plain.connect(address)
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as refused:
                problem = refused
                continue
            unless_it_works.pop_all()
            return plain
    raise problem


def _addresses(host: str, port: int, deadline: float) -> list[Any]:
    """As getaddrinfo, which knows no deadline: a name is looked up on a thread of its own."""
    with contextlib.suppress(socket.gaierror):
        flags = socket.AI_NUMERICHOST
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    answers: queue.SimpleQueue[list[Any] | OSError | ValueError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
        except (OSError, ValueError) as problem:
            answers.put(problem)

    threading.Thread(target=look_up, daemon=True, name="handoff-names").start()
    try:
        found = answers.get(timeout=_left(deadline))
    except queue.Empty:
        raise TimeoutError("the name was not found in time") from None
    if isinstance(found, list):
        return found
    raise found


def _left(deadline: float) -> float:
    """Seconds until the deadline; raises TimeoutError past it."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is up")
    return left


def _kind(problem: BaseException) -> str:
    """A fault by its class: its text may hold what the other side sent."""
    return "the time is up" if isinstance(problem, TimeoutError) else type(problem).__name__
