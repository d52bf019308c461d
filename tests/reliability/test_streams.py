"""The event stream is complete whatever happens to the connection; who left is not waited for."""

import contextlib
import http.client
import itertools
import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.realtime.desk import Desk
from tests.reliability.desks import open_desks
from tests.reliability.figures import report
from tests.reliability.sizes import sizes

WAITERS = 40
RELEASE_SECONDS = 5.0


class StreamReader(threading.Thread):
    """As an EventSource, but one that is cut off after every few events, in the midst of one."""

    def __init__(self, desks: Sequence[Desk], *, after: int, cut_after: int) -> None:
        super().__init__(daemon=True)
        self.ids: list[int] = []
        self.connections = 0
        self._desks = itertools.cycle(desks)
        self._last = after
        self._cut_after = cut_after
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._stay(next(self._desks))

    def _stay(self, desk: Desk) -> None:
        headers = {"Authorization": f"Bearer {desk.token}", "Last-Event-ID": str(self._last)}
        with contextlib.closing(desk.server.connection(timeout=1)) as connection:
            connection.request("GET", "/api/v1/wait/stream?after=0", headers=headers)
            response = connection.getresponse()
            assert response.status == 200
            self.connections += 1
            number, read = 0, 0
            while line := response.readline().decode():
                if line.startswith("id: "):
                    number = int(line[4:])
                    if read == self._cut_after:
                        return  # its data is never read: it has to come again
                elif line.startswith("data: "):
                    assert json.loads(line[6:])["id"] == number
                    self.ids.append(number)
                    self._last, read = number, read + 1


@sizes(quick=150, full=2_000)
def test_a_stream_that_is_cut_again_and_again_has_every_event_once(
    size: int, tmp_path: Path, database_url: str
) -> None:
    """`size`: how many messages, each an event of its own or two."""
    with open_desks(tmp_path, database_url, "one", "two") as desks:
        talk = desks[0].conversation()
        after = newest(desks[0])
        reader = StreamReader(desks, after=after, cut_after=4)
        reader.start()
        for number in range(size):
            desks[number % 2].say(talk, f"line {number}")
        last, posted = newest(desks[0]), time.monotonic()
        while not (reader.ids and reader.ids[-1] >= last):
            assert time.monotonic() < posted + 60, (reader.ids[-3:], last)
            time.sleep(0.02)
        caught_up = time.monotonic() - posted
        reader.stopped.set()
        reader.join(10)
        assert reader.ids == list(range(after + 1, last + 1))
        for desk in desks:
            assert "Traceback" not in desk.server.log()
    report(
        "events",
        f"{len(reader.ids)} events over a stream cut {reader.connections - 1} times at 2 "
        f"processes: 0 gaps, 0 repeats, all read {caught_up:.1f} s after the last",
    )


def newest(desk: Desk) -> int:
    """The number of the agent's newest event."""
    after = 0
    while True:
        _, page = desk.get("/api/v1/events", after=after, limit=200)
        after = page["next_after"]
        if not page["has_more"]:
            return int(after)


@pytest.mark.slow
def test_abandoned_waits_make_room_within_five_seconds(tmp_path: Path, database_url: str) -> None:
    with open_desks(tmp_path, database_url, "one", HANDOFF_MAX_WAITERS=str(WAITERS)) as [desk]:
        after = newest(desk)
        waits = itertools.cycle(
            [f"/api/v1/wait/events?after={after}&seconds=25", f"/api/v1/wait/stream?after={after}"]
        )
        with contextlib.ExitStack() as leaving:
            # Some more than the cap: one that a busy machine answers early must not undo it.
            for _, path in zip(range(WAITERS + 8), waits, strict=False):
                client = leaving.enter_context(contextlib.closing(desk.server.connection()))
                client.request("GET", path, headers={"Authorization": f"Bearer {desk.token}"})
            deadline = time.monotonic() + 10
            while waited(desk, after) > 0.3:
                assert time.monotonic() < deadline, "one more than the cap still waits"
        left = time.monotonic()
        while waited(desk, after) < 0.5:
            assert time.monotonic() < left + RELEASE_SECONDS, "nobody has made room"
        released = time.monotonic() - left - 0.5
        assert "Traceback" not in desk.server.log()
    report(
        "events",
        f"past {WAITERS} waiting clients a further one is answered at once; those who left made "
        f"room within {max(0.0, released):.2f} s",
    )


def waited(desk: Desk, after: int) -> float:
    """For how long a poll of half a second waits: not at all past the cap."""
    asked = time.monotonic()
    assert desk.get("/api/v1/wait/events", after=after, seconds=0.5)[0] == 200
    return time.monotonic() - asked
