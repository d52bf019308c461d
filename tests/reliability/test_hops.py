"""Hops between sibling agents while either end is killed, and two agents that hand to each other.

Everything is asked and judged through the public API, against real processes: the server's, and
the sibling's (hop_sibling.py). Only the clock of a claim is moved in the database.
"""

import collections
import contextlib
import os
import queue
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from handoff_client import Desk
from tests import environment
from tests.client.shop import Shop, shop
from tests.reliability import hop_sibling, hops
from tests.reliability.desks import UNLIMITED
from tests.reliability.figures import report
from tests.reliability.hops import Hop
from tests.reliability.outside import clocks, points
from tests.reliability.outside.hop_points import HopPoint
from tests.reliability.place import SETTINGS
from tests.reliability.rows import Rows
from tests.reliability.sizes import sizes

ENDED_SECONDS: Final = 90.0
QUICK: Final = (HopPoint.AFTER_OFFER,)


class Pair:
    """A desk and its two agents; the server and the sibling are started again when they die."""

    def __init__(self, desk: Shop, folder: Path, database_url: str) -> None:
        self.desk = desk
        self.sides = hops.siblings(desk)
        self.rows = Rows(database_url)
        self.server_kill = folder / "kill"
        self.sibling_kill = folder / "kill-sibling"
        self.hops: list[Hop] = []
        self.kills = 0
        self.tracebacks: list[str] = []
        self._stop = threading.Event()
        self._idle = threading.Event()
        """While set, no sibling runs."""
        self._folder = folder

    @contextlib.contextmanager
    def alive(self) -> Iterator[None]:
        keepers = [threading.Thread(target=keep) for keep in (self._serve, self._work)]
        try:
            for keeper in keepers:
                keeper.start()
            yield
        finally:
            self._stop.set()
            for keeper in keepers:
                keeper.join()

    def kill_at(self, point: str, file: Path) -> None:
        """New hops, with a process that dies on the way; they end all the same."""
        file.write_text(point)
        self.hop_until_ended()
        assert not file.exists(), f"not reached: {point}"
        self.kills += 1

    def hop_until_ended(self, *, number: int = 2, expects: str = "agent") -> None:
        new = [Hop(len(self.hops) + more, self.sides[0], expects=expects) for more in range(number)]
        self.hops += new
        with ThreadPoolExecutor(number) as pool:
            for ended in [pool.submit(self._one, hop) for hop in new]:
                ended.result()

    def lose_one(self) -> None:
        """The sibling is gone for good, and the server dies as it ends the hop for that."""
        self._idle.set()
        self.server_kill.write_text(HopPoint.IN_RETURN)
        self.hop_until_ended(number=1, expects="lost")
        assert not self.server_kill.exists()
        self.kills += 1
        self._idle.clear()

    def _one(self, hop: Hop) -> None:
        desk = self._patient()
        _until(lambda: hop.ask(desk))
        _until(lambda: hop.say(desk, f"Where is order {hop.number}?"))
        if hop.expects == "lost":
            self.rows.write("UPDATE handoff_attempt SET at = '2020-01-01 00:00:00+00:00'")
        ended = desk.wait_resumed(hop.session, seconds=ENDED_SECONDS)
        assert (ended.handoff or {}).get("release") == hop.expects, (hop, ended)

    def _patient(self) -> Desk:
        return Desk(self.desk.url, self.sides[0].token, timeout=6)

    def _serve(self) -> None:
        while not self._stop.is_set():
            # one that dies before it is ready is started again as well
            with contextlib.suppress(AssertionError), self.desk.served() as server:
                while server.process.poll() is None and not self._stop.wait(0.02):
                    pass
                self.tracebacks += [server.log()] if "Traceback (most" in server.log() else []

    def _work(self) -> None:
        while not self._stop.is_set():
            if self._idle.wait(0.02):
                continue
            sibling = subprocess.Popen(
                [sys.executable, "-m", "tests.reliability.hop_sibling"],
                cwd=environment.ROOT,
                env={
                    **os.environ,
                    "DESK_URL": self.desk.url,
                    "DESK_TOKEN": self.sides[1].token,
                    "KILL_FILE": str(self.sibling_kill),
                    "PYTHONPATH": str(environment.ROOT / "client"),
                },
                stderr=subprocess.DEVNULL,  # it says whenever the desk is gone
            )
            while sibling.poll() is None and not self._stop.wait(0.02) and not self._idle.is_set():
                pass
            sibling.kill()
            sibling.wait()


def _until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + ENDED_SECONDS
    while not done():
        assert time.monotonic() < end, "the desk never answered"
        time.sleep(0.1)


@pytest.fixture
def pair(tmp_path: Path, database_url: str) -> Iterator[Pair]:
    environ = {
        **UNLIMITED,
        "DJANGO_SETTINGS_MODULE": SETTINGS,
        points.VARIABLE: str(tmp_path / "kill"),
        clocks.VARIABLE: "1",
    }
    with shop(tmp_path / "desk", database_url, **environ) as desk:
        yield Pair(desk, tmp_path, database_url)


@sizes(quick=1, full=10)
def test_a_kill_of_either_end_loses_no_hop(pair: Pair, size: int) -> None:
    server_points: Sequence[HopPoint] = QUICK if size == 1 else tuple(HopPoint)
    # in the quick size the sibling dies after each step, which is before the next one
    sibling_points = hop_sibling.POINTS[1::2] if size == 1 else hop_sibling.POINTS
    with pair.alive():
        for _ in range(size):
            for point in server_points:
                pair.kill_at(point, pair.server_kill)
            for name in sibling_points:
                pair.kill_at(name, pair.sibling_kill)
            pair.lose_one()
        assert hops.faults(pair.hops, pair.desk.port, pair.sides) == []
        assert hops.mute(pair.hops, pair.desk.url) == []
    assert pair.tracebacks == []
    report(
        "hops",
        f"{pair.kills} kills of the desk ({len(server_points)} points) and of the sibling"
        f" ({len(sibling_points)} points): {len(pair.hops)} hops, 0 lost, 0 delivered or"
        f" replied to twice, each originator heard once, 0 mute bots",
    )


LINES: Final = ("1: is it on its way?", "2: and when does it come?")
REPLIES: Final = ("1: I look.", "2: I have it.")
LOAD: Final = 4
"""Threads of each agent that ask; as many answer."""
WARM_UP: Final = 8
"""Hops until every thread of the server has worked."""


class Mutual:
    """Two agents that hand to each other from many threads, and answer each other."""

    def __init__(
        self, desk: Shop, sides: Sequence[hops.Agent], number: int, *, first: int = 0
    ) -> None:
        self.hops = [Hop(order, sides[order % 2]) for order in range(first, first + number)]
        self._url = desk.url
        self._sides = sides
        self._asked: tuple[queue.Queue[str], ...] = (queue.Queue(), queue.Queue())

    def run(self) -> None:
        waiting = [collections.deque(self.hops[side::2]) for side in (0, 1)]
        with ThreadPoolExecutor(4 * LOAD) as pool:
            work = [
                pool.submit(act, side, waiting[side])
                for act in (self._ask, self._answer)
                for side in (0, 1)
                for _ in range(LOAD)
            ]
            for done in work:
                done.result()

    def _ask(self, side: int, waiting: collections.deque[Hop]) -> None:
        desk = self._sides[side].desk(self._url)
        with contextlib.suppress(IndexError):
            while True:
                hop = waiting.popleft()
                assert hop.ask(desk)
                for line in LINES:
                    assert hop.say(desk, line)
                self._asked[1 - side].put(hop.session)
                ended = desk.wait_resumed(hop.session, seconds=ENDED_SECONDS)
                assert (ended.handoff or {}).get("release") == "agent", ended
        self._asked[1 - side].put("")

    def _answer(self, side: int, _: collections.deque[Hop]) -> None:
        desk = self._sides[side].desk(self._url)
        while session := self._asked[side].get(timeout=ENDED_SECONDS):
            numbers = {hop.session: hop.number for hop in self.hops if hop.session}
            assert not desk.claim(session).is_error
            for words in REPLIES:
                assert not desk.reply(session, words).is_error
            found = {"found": f"order {numbers[session]}"}
            assert not desk.release(session, return_values=found).is_error


@sizes(quick=24, full=1_000)
def test_two_agents_hand_to_each_other_under_load(
    tmp_path: Path, database_url: str, size: int
) -> None:
    with (
        shop(tmp_path / "desk", database_url, **UNLIMITED) as desk,
        desk.served() as server,
    ):
        sides = hops.siblings(desk)
        mutual = Mutual(desk, sides, size)
        warm_up = Mutual(desk, sides, WARM_UP + size // 10, first=size)
        warm_up.run()
        memory = [server.figure("VmRSS")]
        done = threading.Event()

        def sample() -> None:
            while not done.wait(0.1):
                memory.append(server.figure("VmRSS"))

        sampling = threading.Thread(target=sample)
        sampling.start()
        began = time.monotonic()
        try:
            mutual.run()
        finally:
            done.set()
            sampling.join()
        seconds = time.monotonic() - began
        assert hops.faults(warm_up.hops + mutual.hops, desk.port, sides, replies=len(REPLIES)) == []
        assert hops.mute(mutual.hops, desk.url) == []
        assert "Traceback (most" not in server.log()
    quarter = len(memory) // 4
    first, last = (statistics.mean(part) / 1024 for part in (memory[:quarter], memory[-quarter:]))
    assert last < first * 1.1, (first, last)
    report(
        "hops",
        f"two agents, {size} hops between them from {4 * LOAD} threads in {seconds:.0f} s: order"
        f" kept, 0 mute bots; memory {first:.0f} MB in the first quarter and"
        f" {last:.0f} MB in the last",
    )
