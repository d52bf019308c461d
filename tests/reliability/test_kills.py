"""Row 1: the web process is killed at every named point of the flow and at random moments.

Each cycle starts a server on the same data, lets the outside actors go on with what was left
unanswered and with something new, and kills it. At the end a server that lives resolves the rest.
"""

import collections
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from tests.config.servers import START_SECONDS, Server
from tests.fakes.smtp import Mode, SmtpServer
from tests.reliability import facts
from tests.reliability.doors import Doors, Gone
from tests.reliability.figures import report
from tests.reliability.mails import Mails
from tests.reliability.outside import broken
from tests.reliability.outside.broken import Variant
from tests.reliability.outside.points import Point
from tests.reliability.place import Place
from tests.reliability.stories import Story, line_faults, link_faults, story_faults

ACTORS: Final = 4
NEW_EACH: Final = 6
RESOLVED_SECONDS: Final = 120.0
ANSWERED_SECONDS: Final = 600.0
CLOCKS: Final = {"HANDOFF_DISPATCH_SECONDS": "2", "HANDOFF_CALL_SECONDS": "3"}
PATIENCE_SECONDS: Final = 3.5
"""From the start of an attempt until the short clocks call it unknown."""

_SENDING: Final = "FROM handoff_attempt WHERE status = 'sending'"


class Cycles:
    """Kills servers on one set of data, and keeps what the actors know."""

    def __init__(self, place: Place, smtp: SmtpServer, **environ: str) -> None:
        self.place = place
        self.smtp = smtp
        self.mails = Mails(smtp)
        self.stories: list[Story] = []
        self.kills: collections.Counter[str] = collections.Counter()
        self._environ = environ
        self._random = random.Random(1)

    def kill_at(self, point: Point) -> None:
        """One cycle that ends at a named point."""
        if point is Point.IN_SWEEP:
            self.kill_at(Point.AFTER_ACCEPT)
            time.sleep(PATIENCE_SECONDS)
        server = self._start()
        if point is Point.PROVIDER_HAS_IT:
            self._kill_with_provider(server)
        else:
            if point is not Point.IN_SWEEP:
                server.wait_until_ready()
            self.place.kill_file.write_text(point)
            self._act(server)
            assert server.wait(START_SECONDS) == -9, f"not reached: {point}\n{server.log()}"
        self.kills[point] += 1

    def kill_at_random(self) -> None:
        """One cycle that ends anywhere from the start of the process to the end of the work."""
        server = self._start()
        if self._random.random() < 0.15:
            time.sleep(self._random.uniform(0, 2))
        else:
            server.wait_until_ready()
            killer = threading.Timer(self._random.uniform(0, 0.7), server.process.kill)
            killer.start()
            self._act(server)
            killer.join()
        server.process.kill()
        server.wait(10)
        self.kills["random"] += 1

    def settle(self, *, short_clocks: bool) -> float:
        """A server that lives resolves what was left open, then everybody is answered.

        Returns the seconds until no attempt was open.
        """
        server = self._start(short_clocks=short_clocks)
        server.wait_until_ready()
        began = time.monotonic()
        while self.place.rows.count(f"SELECT count(*) AS n {_SENDING}"):
            assert time.monotonic() < began + RESOLVED_SECONDS, "unresolved after two minutes"
            time.sleep(0.2)
        seconds = time.monotonic() - began
        while self._unfinished() or self._open():
            assert time.monotonic() < began + ANSWERED_SECONDS, "somebody is never answered"
            self._act(server, new=0)
            time.sleep(0.2)
        self.place.stop()
        return seconds

    def faults(self) -> list[str]:
        rows = self.place.rows
        with self.place.serving() as doors:
            links = link_faults(self.mails, doors)
        return [
            *facts.contact_faults(rows, self.mails.all()),
            *facts.release_faults(rows),
            *story_faults(self.stories, rows),
            *line_faults(self.stories, self.mails, rows),
            *links,
            *self.place.tracebacks(),
        ]

    def _start(self, *, short_clocks: bool = True) -> Server:
        seconds = CLOCKS if short_clocks else {}
        return self.place.start(short_clocks=short_clocks, **seconds, **self._environ)

    def _kill_with_provider(self, server: Server) -> None:
        server.wait_until_ready()
        self.smtp.mode = Mode.HANG_AFTER_DOT
        number = len(self.smtp.messages) + 1
        acting = threading.Thread(target=self._act, args=(server,))
        acting.start()
        self.smtp.wait_for_message(number=number)
        server.process.kill()
        acting.join()
        server.wait(10)
        self.smtp.mode = Mode.ACCEPT

    def _act(self, server: Server, *, new: int = NEW_EACH) -> None:
        """All actors do what they can until the server is gone or nothing is left to do."""
        begun = len(self.stories)
        self.stories += [Story(begun + extra) for extra in range(new)]
        waiting = collections.deque(self._unfinished())
        doors = Doors(server.port, self.place.seed)

        def act() -> None:
            while waiting:
                try:
                    waiting.popleft().advance(doors, self.mails)
                except (Gone, IndexError):
                    return

        with ThreadPoolExecutor(ACTORS) as pool:
            for finished in [pool.submit(act) for _ in range(ACTORS)]:
                finished.result()

    def _unfinished(self) -> list[Story]:
        return [story for story in self.stories if not story.done]

    def _open(self) -> int:
        return self.place.rows.count(
            f"SELECT (SELECT count(*) {_SENDING})"
            " + (SELECT count(*) FROM handoff_delivery WHERE status = 'due') AS n"
        )


@pytest.fixture
def place(tmp_path: Path, database_url: str, smtp: SmtpServer) -> Iterator[Place]:
    made = Place(tmp_path / "desk", database_url, smtp_url=smtp.url)
    yield made
    made.stop()


@pytest.mark.parametrize(
    ("each", "randomly", "short_clocks"),
    [
        pytest.param(1, 1, True, id="quick", marks=pytest.mark.slow),
        pytest.param(10, 100, False, id="full", marks=[pytest.mark.slow, pytest.mark.full]),
    ],
)
def test_a_kill_loses_nothing_and_does_nothing_twice(
    place: Place,
    smtp: SmtpServer,
    each: int,
    randomly: int,
    short_clocks: bool,
) -> None:
    cycles = Cycles(place, smtp)
    for _ in range(each):
        for point in Point:
            cycles.kill_at(point)
    for _ in range(randomly):
        cycles.kill_at_random()
    cycles.kill_at(Point.AFTER_ACCEPT)
    seconds = cycles.settle(short_clocks=short_clocks)
    assert cycles.faults() == []
    mails = cycles.mails.all()
    requests = [mail for mail in mails if mail.is_request]
    lines = collections.Counter((mail.session, mail.number) for mail in mails)
    again = sum(times - 1 for times in lines.values())
    assert again <= cycles.kills.total(), "a line came twice without a kill"
    report(
        1,
        f"{cycles.kills.total()} kills ({cycles.kills['random']} random, the rest at"
        f" {len(Point)} named points), {len(cycles.stories)} calls, {len(requests)} requests that"
        " people got: 0 lost, 0 asked twice, 0 released twice, 0 marked as sent and not sent,"
        f" 0 unresolved {seconds:.0f} s after the start; {again} lines came twice",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "point", "faults"),
    [
        (
            Variant.SEND_THEN_COMMIT,
            Point.AFTER_ACCEPT,
            ["asked 2 times", "sent, and no row knows of it", "the link that was sent answers 404"],
        ),
        (Variant.MARK_THEN_SEND, Point.AFTER_OUTCOME, ["marked as accepted, and never sent"]),
    ],
)
def test_a_broken_variant_is_caught(
    place: Place,
    smtp: SmtpServer,
    variant: Variant,
    point: Point,
    faults: list[str],
) -> None:
    cycles = Cycles(place, smtp, **{broken.VARIABLE: variant})
    cycles.kill_at(point)
    cycles.settle(short_clocks=True)
    found = "\n".join(cycles.faults())
    assert [fault for fault in faults if fault not in found] == []
