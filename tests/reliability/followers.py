"""A client that follows a conversation over `/ws/chat` and comes back whenever it was cut off.

Also a program, for a reader that a test stops with a signal: `python -m
tests.reliability.followers TOKEN CONVERSATION PORT…` prints one line for each numbered frame,
`<seconds> <id> <type>`, on the clock of `time.monotonic()`.
"""

import contextlib
import dataclasses
import http.client
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

PAUSE_SECONDS: Final = 0.2


@dataclasses.dataclass(frozen=True)
class Seen:
    """One numbered frame."""

    at: float
    id: int
    type: str


class Follower(threading.Thread):
    """Reads as the agent's front end, from the beginning; ends when `stop()` was called."""

    def __init__(
        self,
        token: str,
        conversation: str,
        ports: Sequence[int],
        *,
        drop_after: int = 0,
        heard: Callable[[Seen], None] | None = None,
    ) -> None:
        """`drop_after`: leave after so many frames and come back at the next process."""
        super().__init__(daemon=True)
        self.token = token
        self.conversation = conversation
        self.seen: list[Seen] = []
        self.connections = 0
        self._ports = itertools.cycle(ports)
        self._drop_after = drop_after
        self._heard = heard or self.seen.append
        self._cursor = 0
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._stay(next(self._ports))
            except (ConnectionClosed, OSError, TimeoutError, http.client.HTTPException):
                self._stopped.wait(PAUSE_SECONDS)

    def stop(self) -> None:
        self._stopped.set()
        self.join(10)

    def ids(self, type_: str = "") -> list[int]:
        """The numbers as they came; of one type only, when one is named."""
        return [seen.id for seen in self.seen if type_ in ("", seen.type)]

    def wait_for(self, last: int, *, seconds: float) -> float:
        """The time at which the frame with the number `last` came; raises AssertionError."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for seen in reversed(self.seen[-5:]):
                if seen.id >= last:
                    return seen.at
            time.sleep(0.02)
        raise AssertionError(f"{last} was not seen within {seconds:g} s: {self.ids()[-3:]}")

    def _stay(self, port: int) -> None:
        path = f"/ws/chat?ticket={self._ticket(port)}&last_event_id={self._cursor}"
        with connect(f"ws://127.0.0.1:{port}{path}", max_queue=None) as socket:
            self.connections += 1
            for count in itertools.count(1):
                if self._stopped.is_set() or count == self._drop_after:
                    return
                self._take(socket, json.loads(_next(socket, self._stopped)))

    def _take(self, socket: ClientConnection, frame: dict[str, Any]) -> None:
        if "id" in frame:
            self._cursor = frame["id"]
            self._heard(Seen(time.monotonic(), frame["id"], frame["type"]))
        elif frame["type"] == "heartbeat":
            socket.send('{"v": 1, "type": "pong"}')

    def _ticket(self, port: int) -> str:
        path = f"/api/v1/conversations/{self.conversation}/tickets"
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as desk:
            desk.request("POST", path, '{"role": "agent"}', headers)
            answer = desk.getresponse()
            made: dict[str, str] = json.loads(answer.read())
            if answer.status != 201:
                raise OSError(str(made))
        return made["ticket"]


def _next(socket: ClientConnection, stopped: threading.Event) -> str | bytes:
    """The next message; raises TimeoutError when there is none and the follower was stopped."""
    while not stopped.is_set():
        with contextlib.suppress(TimeoutError):
            return socket.recv(timeout=0.5)
    raise TimeoutError


def main(arguments: Sequence[str]) -> None:
    token, conversation, *ports = arguments

    def heard(seen: Seen) -> None:
        sys.stdout.write(f"{seen.at} {seen.id} {seen.type}\n")
        sys.stdout.flush()

    Follower(token, conversation, list(map(int, ports)), heard=heard).run()


if __name__ == "__main__":
    main(sys.argv[1:])
