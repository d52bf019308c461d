"""A receiver of webhooks on a real socket: verifies with the reference library, answers as told."""

import collections
import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

ACCEPT: Final = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
HALF: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
CUT: Final = b""
TOLERANCE_SECONDS: Final = 300.0
type Answer = bytes | Callable[["Came"], bytes]
"""What is written back before the connection is closed."""


def status(code: int, body: bytes = b"", **headers: str) -> bytes:
    """A whole answer; a header's name is written with underscores."""
    lines = [f"HTTP/1.1 {code} Said So", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclasses.dataclass
class Came:
    """One request as it arrived."""

    headers: dict[str, str]
    body: bytes
    path: str
    verified: bool
    """By one of the receiver's secrets, with a timestamp within five minutes of its clock."""
    accepted: bool = False
    """Whether it was answered with a whole 2xx, which may have come too late."""

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def event(self) -> int:
        """The agent's number of the event that it is about."""
        return int(self.json["data"]["id"])


class Receiver:
    """Takes what comes. `answers` are given in turn, then `always`."""

    def __init__(self, port: int = 0) -> None:
        self.secrets: list[str] = []
        self.clock_ahead = 0.0
        """Seconds that its clock is ahead of ours."""
        self.came: list[Came] = []
        self.answers: collections.deque[Answer] = collections.deque()
        self.always: Answer = ACCEPT
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                with contextlib.suppress(OSError):  # the desk may leave first
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    self.wfile.write(receiver._take(headers, self.rfile.read(length), self.path))
                self.close_connection = True

            def log_message(self, *args: object) -> None:
                """Nothing: the test says what is wrong."""

        return Handler

    def _take(self, headers: dict[str, str], body: bytes, path: str) -> bytes:
        found = Came(headers, body, path, self._verified(headers, body))
        with self._changed:
            self.came.append(found)
            answer = self.answers.popleft() if self.answers else self.always
            self._changed.notify_all()
        said = answer if isinstance(answer, bytes) else answer(found)
        found.accepted = said.startswith(b"HTTP/1.1 2") and said != HALF
        return said

    def _verified(self, headers: dict[str, str], body: bytes) -> bool:
        if not any(_is_signed(one, body, headers) for one in self.secrets):
            return False
        apart = time.time() + self.clock_ahead - int(headers["webhook-timestamp"])
        return abs(apart) <= TOLERANCE_SECONDS

    def close(self) -> None:
        """Stop listening before it began."""
        self._server.server_close()

    def wait_for(self, number: int, *, seconds: float = 20) -> list[Came]:
        """Everything that came, once it is so many requests."""
        with self._changed:
            there = self._changed.wait_for(lambda: len(self.came) >= number, timeout=seconds)
            assert there, f"{len(self.came)} of {number} came"
            return list(self.came)

    @contextlib.contextmanager
    def running(self) -> Iterator["Receiver"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join(5)


def _is_signed(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


def slow(seconds: float, then: bytes = ACCEPT) -> Answer:
    def answer(_came: Came) -> bytes:
        time.sleep(seconds)
        return then

    return answer
