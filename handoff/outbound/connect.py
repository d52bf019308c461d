"""Opens a TCP connection before a deadline, to a checked address, and cuts it when time is up."""

import ipaddress
import queue
import socket
import threading
import time
from types import TracebackType
from typing import Any, Self

from handoff.outbound.targets import Address, Allowed, check

CONNECT_SECONDS = 3.0
"""Longest wait for one address; the next one is tried after it."""


class Watchdog:
    """Ends a connection at the deadline, whatever its reader waits for.

    A socket timeout restarts with every byte, so a server that trickles would never meet it.
    The duplicate handle survives the TLS wrapping, which takes the first one away.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.fired = False
        self._handle: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(max(0.0, self.remaining()), self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._handle is not None:
                self._handle.close()
                self._handle = None

    def remaining(self) -> float:
        """Seconds until the deadline, negative after it."""
        return self.deadline - time.monotonic()

    def watch(self, connection: socket.socket) -> None:
        with self._lock:
            self._handle = connection.dup()
            if self.fired:
                self._shut()

    def _cut(self) -> None:
        with self._lock:
            self.fired = True
            self._shut()

    def _shut(self) -> None:
        if self._handle is not None:
            try:
                self._handle.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # the other side was faster


def resolve(host: str, port: int, *, seconds: float) -> list[tuple[int, Address]]:
    """The (family, address) pairs of a name, in the resolver's order.

    The resolver knows no deadline, so it runs in a thread of its own that is left behind when it
    is late. Raises OSError: TimeoutError or `socket.gaierror`.
    """
    answers: queue.SimpleQueue[list[tuple[int, Address]] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            answers.put(error)
        except UnicodeError:
            answers.put(socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
        else:
            answers.put([(family, _address(place)) for family, _, _, _, place in found])

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    try:
        answer = answers.get(timeout=max(0.0, seconds))
    except queue.Empty:
        raise TimeoutError("the name was not resolved in time") from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def _address(place: tuple[Any, ...]) -> Address:
    """Without the zone, which only a link-local address needs."""
    return ipaddress.ip_address(str(place[0]).partition("%")[0])


def connect(host: str, port: int, *, watchdog: Watchdog, allowed: Allowed | None) -> socket.socket:
    """A connected socket under `watchdog`; its timeout is what remains.

    The name is looked up once, and what was checked is what is connected to. Raises OSError, and
    ForbiddenAddressError before any connection is tried; see targets.check for `allowed`.
    """
    places = resolve(host, port, seconds=watchdog.remaining())
    check(host, [address for _, address in places], allowed=allowed)
    problem: OSError = TimeoutError("no time left to connect")
    for family, address in places:
        left = watchdog.remaining()
        if left <= 0:
            break
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.settimeout(min(CONNECT_SECONDS, left))
            connection.connect((str(address), port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(max(0.001, watchdog.remaining()))
        except OSError as error:
            connection.close()
            problem = error
            continue
        watchdog.watch(connection)
        return connection
    raise problem
