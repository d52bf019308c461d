"""Row 8, at the sockets: slow and frozen readers miss nothing, and cost little while they sleep."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from tests.reliability.deaf import cut_off, deaf_agents
from tests.reliability.doors import Doors
from tests.reliability.figures import report
from tests.reliability.followers import Follower, Seen
from tests.reliability.outside.broken import Variant
from tests.reliability.place import Place
from tests.reliability.races import answered
from tests.reliability.sizes import sizes
from tests.reliability.stopped_reader import StoppedReader, following
from tests.reliability.stories import new_mark

LINES: Final = 500
LONG: Final = "😀" * 7900
"""Nearly the longest line, 32 kB as UTF-8."""
LONG_LINES: Final = 150
SETTLE_SECONDS: Final = 2.0


def burst(doors: Doors, conversation: str, count: int, text: str = "line") -> None:
    """Post so many lines, four at a time."""

    def say(number: int) -> None:
        answered(lambda: doors.say(conversation, f"{text} {number}", client_id=new_mark()))

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(say, range(count)))


PING: Final = b"\x89\xfd" + bytes(4) + bytes(125)
"""A frame of a client, masked with zeros."""
PINGS: Final = 60_000


class SlowReader(Follower):
    """Reads everything, but slower than it is written."""

    def __init__(self, token: str, conversation: str, ports: Sequence[int]) -> None:
        super().__init__(token, conversation, ports, heard=self._hear)

    def _hear(self, seen: Seen) -> None:
        self.seen.append(seen)
        time.sleep(0.03)


@sizes(quick=6, full=90)
def test_slow_frozen_and_restless_readers_see_every_line_once(
    tmp_path: Path, database_url: str, size: int
) -> None:
    """`size`: for how many seconds the frozen one reads nothing; a heartbeat is a second, or 25."""
    place = Place(tmp_path / "desk", database_url)
    beat = "1" if size < 60 else "25"
    with place.serving(HANDOFF_HEARTBEAT_SECONDS=beat) as doors:
        conversation = doors.conversation(new_mark())
        token, ports = doors.seed.token, [doors.port]
        slow = SlowReader(token, conversation, ports)
        restless = Follower(token, conversation, ports, drop_after=8)
        frozen = StoppedReader(token, conversation, ports)
        with following(slow, restless, frozen):
            burst(doors, conversation, 5)
            frozen.wait_for(5, seconds=20)
            frozen.pause()
            froze = time.monotonic()
            burst(doors, conversation, LINES - 5)
            posted = time.monotonic()
            late = [
                max(0.0, reader.wait_for(LINES, seconds=60) - posted) for reader in (slow, restless)
            ]
            while restless.connections < 51:
                time.sleep(0.05)
            time.sleep(max(0.0, froze + size - time.monotonic()))
            woke = time.monotonic()
            assert frozen.seen[-1].at < froze + 0.5, "it did not freeze"
            frozen.go_on()
            caught_up = frozen.wait_for(LINES, seconds=30) - woke
    expected = list(range(1, LINES + 1))
    for reader in (slow, restless, frozen):
        assert reader.ids() == expected
    assert place.tracebacks() == []
    report(
        8,
        f"{LINES} lines: a slow reader has all {late[0]:.1f} s after the last, one that left"
        f" {restless.connections - 1} times {late[1]:.1f} s, one frozen for {woke - froze:.0f} s"
        f" {caught_up:.1f} s after it woke: 0 gaps, 0 repeats",
    )


@sizes(quick=20, full=200)
def test_clients_that_read_nothing_cost_little_and_are_cut_off(
    tmp_path: Path, database_url: str, size: int
) -> None:
    """`size`: how many. The same without back-pressure shows what that is worth."""
    place = Place(tmp_path / "desk", database_url)
    with place.serving(HANDOFF_HEARTBEAT_SECONDS="5") as doors:
        conversation = doors.conversation(new_mark())
        burst(doors, conversation, LONG_LINES, LONG)
        with deaf_agents(doors.port, doors.seed.token, size) as clients:
            bounded = grown(place, size)
            time.sleep(5)
            assert all(cut_off(client, within=12) for client in clients)
        reader = Follower(doors.seed.token, conversation, [doors.port])
        with following(reader):
            reader.wait_for(LONG_LINES, seconds=20)
        assert reader.ids() == list(range(1, LONG_LINES + 1)), "who comes back gets all of it"
        with deaf_agents(doors.port, doors.seed.token, 2):
            time.sleep(1)
            place.server.terminate()
            assert place.server.wait(8) == 0, "they hold up the end of the process"
    with (
        place.serving(variant=Variant.NO_BACK_PRESSURE) as doors,
        deaf_agents(doors.port, doors.seed.token, size),
    ):
        unbounded = grown(place, size)
    assert place.tracebacks() == []
    report(
        8,
        f"{size} clients that read nothing of {LONG_LINES} lines of 32 kB: {bounded:.2f} MB each,"
        f" and cut off; without back-pressure {unbounded:.2f} MB each",
    )
    assert bounded < 2.5
    assert unbounded > 1.8 * bounded


@pytest.mark.slow
def test_a_client_that_pings_and_reads_nothing_is_sent_no_more_pongs(
    tmp_path: Path, database_url: str
) -> None:
    place = Place(tmp_path / "desk", database_url)
    with place.serving() as doors, deaf_agents(doors.port, doors.seed.token, 1) as [client]:
        assert client.recv(1000), "the handshake"
        client.sendall(PING * 500)
        time.sleep(0.5)
        kilobytes = 1024 * grown(place, 1, meanwhile=lambda: client.sendall(PING * PINGS))
        assert kilobytes < PINGS * len(PING) / 1024 / 4


def grown(place: Place, size: int, *, meanwhile: Callable[[], None] = lambda: None) -> float:
    """Megabytes that each of so many new clients costs the youngest server, once all is settled."""
    server = place.server
    highest = before = server.figure("VmRSS")
    meanwhile()
    end = quiet = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < min(quiet, end + 10 * SETTLE_SECONDS):
        time.sleep(0.1)
        if (now := server.figure("VmRSS")) > highest + 256:
            quiet = time.monotonic() + SETTLE_SECONDS
        highest = max(highest, now)
    return (highest - before) / 1024 / size
