"""The agent's event log as one endless iterator over any number of connections."""

import time
from collections.abc import Generator, Iterator
from typing import Any, Final

from handoff_client import answers, wire
from handoff_client.answers import Answer, Received
from handoff_client.door import Door, note
from handoff_client.pauses import Pauses

POLL_SECONDS: Final = 25.0
GRACE: Final = 10.0
LATE_SECONDS: Final = 1.0
"""How much longer than asked the last poll may take to arrive."""
SILENCE_SECONDS: Final = 45.0
"""A stream says something every 15 s, if only that it is still there."""
LIVED_SECONDS: Final = 5.0
"""A stream that ends sooner may be one for which the desk has no room."""
PAGE: Final = 200

Event = dict[str, Any]


class Events(Iterator[Event]):
    """Events in their order, each once. Stops after its seconds, or when the desk refuses.

    `after` is the number of the last event that came out: keep it, and begin there next time.
    `refusal` is the answer when the desk refused.
    """

    def __init__(self, door: Door, after: int, *, seconds: float, stream: bool) -> None:
        self.after = after
        self.refusal: Answer | None = None
        self._door = door
        self._end = time.monotonic() + seconds
        self._pauses = Pauses()
        self._events = self._streamed() if stream else self._polled()

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Ends the connection of a stream; an iterator that was left is closed with it."""
        self._events.close()

    def _polled(self) -> Generator[Event, None, None]:
        while (left := self._left()) > 0:
            seconds = min(POLL_SECONDS, left)
            began = time.monotonic()
            query = f"after={self.after}&limit={PAGE}&seconds={seconds:.1f}"
            ready = self._door.prepared("GET", f"/api/v1/wait/events?{query}")
            if isinstance(ready, Answer):
                self.refusal = ready
                return
            found = self._door.once(ready, min(began + seconds + GRACE, self._end + LATE_SECONDS))
            page = self._page(ready, found)
            if self.refusal is not None:
                return
            if page is None:
                self._sleep(self._pauses.next(found))
                continue
            self._pauses.reset()
            yield from self._taken(page)
            if not page and time.monotonic() - began < 1:
                self._sleep(1.0)  # a desk with no room for waiters answers at once

    def _streamed(self) -> Generator[Event, None, None]:
        while self._left() > 0:
            path = f"/api/v1/wait/stream?after={self.after}"
            headers = {"Accept": "text/event-stream", "Last-Event-ID": str(self.after)}
            ready = self._door.prepared("GET", path, headers=headers)
            if isinstance(ready, Answer):
                self.refusal = ready
                return
            received, began = None, time.monotonic()
            try:
                with self._door.opened(ready, self._by(GRACE)) as answer:
                    if 200 <= answer.status < 300:
                        for event in self._said(answer):
                            yield from self._taken([event])
                    else:
                        received = answer.whole()
                        self._refused(received)
            except wire.NoAnswer as problem:
                if self._left() > 0:
                    note(ready, problem)
            if self.refusal is not None:
                return
            if time.monotonic() - began > LIVED_SECONDS:
                self._pauses.reset()
            self._sleep(self._pauses.next(received))

    def _said(self, answer: wire.Opened) -> Iterator[Event]:
        """The events of one connection."""
        data = b""
        while line := answer.line(self._by(SILENCE_SECONDS)):
            field, _, value = line.rstrip(b"\r\n").partition(b":")
            if field == b"data":
                data += value.removeprefix(b" ") + b"\n"
                if len(data) > wire.BODY_MAX:
                    raise wire.NoAnswer("an event is too long")
            elif not field and not value and data:
                event = answers.json_object(data)
                data = b""
                if event is None:
                    raise wire.NoAnswer("an event is not readable")
                yield event

    def _page(self, ready: wire.Ask, found: Received | None) -> list[Any] | None:
        """The events of a page; None when there is none, and why in `refusal` if it stays so."""
        if found is None:
            return None
        if not found.is_success:
            self._refused(found)
            return None
        page = (answers.json_object(found.body) or {}).get("data")
        if isinstance(page, list):
            return page
        note(ready, wire.NoAnswer("the page is not readable"))
        return None

    def _taken(self, events: list[Any]) -> Iterator[Event]:
        for event in events:
            number = event.get("id") if isinstance(event, dict) else None
            if isinstance(number, int) and number > self.after:
                self.after = number
                yield event

    def _refused(self, received: Received) -> None:
        if not received.may_pass:
            self.refusal = answers.refusal(received)

    def _by(self, seconds: float) -> float:
        return min(time.monotonic() + seconds, self._end)

    def _left(self) -> float:
        return self._end - time.monotonic()

    def _sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, min(seconds, self._left())))
