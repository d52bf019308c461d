"""The fault table of webhooks: a real desk, real receivers, each with a fault of its own.

However a receiver fails, it gets every event in the end, in order; and a desk that is killed after
the receiver took an event, before that was written down, sends it again under the same id.
"""

import contextlib
import dataclasses
import email.utils
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.config.servers import Server
from tests.outbound.asking import answering
from tests.reliability.doors import Doors, Gone
from tests.reliability.figures import report
from tests.reliability.place import Place
from tests.reliability.sizes import sizes
from tests.webhooks import receiver as answers
from tests.webhooks.receiver import Answer, Came, Receiver, status

CLOCKS: Final = {"HANDOFF_DISPATCH_SECONDS": "1"}
PATIENCE_SECONDS: Final = 60.0
HANGS_SECONDS: Final = 1.5


@pytest.fixture
def place(tmp_path: Path, database_url: str) -> Iterator[Place]:
    made = Place(tmp_path / "desk", database_url)
    yield made
    made.stop()


def register(doors: Doors, receiver: Receiver) -> str:
    reply = doors.rest("POST", "/api/v1/webhooks", {"url": receiver.url})
    assert reply.status == 201, reply.text
    receiver.secrets.append(reply.json["secret"])
    return str(reply.json["id"])


def happen(doors: Doors, conversation: str, count: int) -> None:
    for number in range(count):
        reply = doors.say(conversation, f"line {number}", client_id=f"{time.monotonic_ns()}")
        assert reply.status == 201, reply.text


def newest(doors: Doors) -> int:
    return len(doors.rest("GET", "/api/v1/events?limit=200").json["data"])


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def wait_until_all_came(receiver: Receiver, upto: int) -> None:
    wait_until(lambda: upto in {came.event for came in taken(receiver)})


def taken(receiver: Receiver) -> list[Came]:
    """What the receiver said yes to, in the order in which it did."""
    return [came for came in list(receiver.came) if came.accepted]


def disorder(receiver: Receiver, numbers: list[int]) -> list[str]:
    """What is wrong with what a receiver took; a repeat of what it has just taken is none."""
    came = taken(receiver)
    found = [f"{one.event} is not signed" for one in came if not one.verified]
    first = [number for number, _ in itertools.groupby(one.event for one in came)]
    if first != numbers:
        found.append(f"took {first}, not {numbers}")
    ids: dict[int, set[str]] = {}
    for one in receiver.came:
        ids.setdefault(one.event, set()).add(one.id)
    if any(len(same) > 1 for same in ids.values()) or len(set.union(*ids.values())) != len(ids):
        found.append("an event has two ids, or two events have one")
    return found


@dataclasses.dataclass
class Fault:
    """How a receiver behaves for its first few requests."""

    name: str
    answers: list[Answer]
    gets: str = "all"


def in_a_second(_came: Came) -> bytes:
    return status(503, Retry_After=email.utils.formatdate(time.time() + 1.5, usegmt=True))


def faults(loopback: int) -> list[Fault]:
    return [
        Fault("none", []),
        Fault("down", []),
        Fault("slow", [answers.slow(HANGS_SECONDS)] * 2),
        Fault("500", [status(500, b"<h1>Oops</h1>")] * 3),
        Fault("302 to loopback", [status(302, Location=f"http://127.0.0.1:{loopback}/")] * 2),
        Fault("410", [], gets="none"),
        Fault("429, Retry-After: 1", [status(429, Retry_After="1")] * 2),
        Fault("503, Retry-After a date", [in_a_second] * 2),
        Fault("half a body", [answers.HALF, answers.CUT, answers.HALF]),
        Fault("clock 10 minutes ahead", []),
    ]


@contextmanager
def behaving(fault: Fault) -> Iterator[Receiver]:
    """The receiver of a fault; one that is down begins to listen when `up` is called."""
    receiver = Receiver()
    receiver.answers.extend(fault.answers)
    if fault.name.startswith("clock"):
        receiver.clock_ahead = 600.0
        receiver.always = lambda came: answers.ACCEPT if came.verified else status(401)
    if fault.name == "410":
        receiver.always = status(410)
    if fault.name == "down":
        receiver.close()
        yield receiver
        return
    with receiver.running():
        yield receiver


@pytest.mark.slow
def test_every_receiver_gets_every_event_in_order_whatever_its_fault(place: Place) -> None:
    server = place.start(short_clocks=True, **CLOCKS)
    server.wait_until_ready()
    doors = Doors(server.port, place.seed)
    with answering(answers.ACCEPT) as (loopback, asked), ExitStack() as stack:
        table = {
            fault.name: (fault, stack.enter_context(behaving(fault))) for fault in faults(loopback)
        }
        ids = {name: register(doors, receiver) for name, (_, receiver) in table.items()}
        talk = doors.conversation("visitor")
        began = time.monotonic()
        happen(doors, talk, 3)
        wait_until_all_came(table["none"][1], newest(doors))
        at_once = time.monotonic() - began
        down, skewed = table["down"][1], table["clock 10 minutes ahead"][1]
        skewed.wait_for(1, seconds=PATIENCE_SECONDS)
        wait_until(lambda: "not_connected" in calls_of(doors, ids["down"]))
        wait_until(lambda: "gone" in calls_of(doors, ids["410"]))
        reopened = stack.enter_context(Receiver(port=down.port).running())
        reopened.secrets = down.secrets
        skewed.clock_ahead = 0.0
        happen(doors, talk, 2)
        upto = newest(doors)
        for name, (fault, receiver) in table.items():
            receiver = reopened if name == "down" else receiver
            if fault.gets == "all":
                wait_until_all_came(receiver, upto)
                assert disorder(receiver, list(range(1, upto + 1))) == [], name
                assert len(receiver.came) - upto >= len(fault.answers), name
        gone = doors.rest("GET", f"/api/v1/webhooks/{ids['410']}").json
        assert (gone["stopped"], gone["behind"]) == ("gone", upto)
        assert len(skewed.came) > upto
        assert asked == []
        told = {name: calls_of(doors, one) for name, one in ids.items()}
    for name, fate in (
        ("slow", "no_answer"),
        ("down", "not_connected"),
        ("302 to loopback", "redirect"),
        ("410", "gone"),
        ("half a body", "no_answer"),
    ):
        assert fate in told[name], name
    assert place.tracebacks() == []
    for name, found in told.items():
        failed = len(found) - found.count("delivered")
        kinds = ", ".join(sorted(set(found) - {"delivered"})) or "no failure"
        what = "switched off at once" if name == "410" else f"{upto} of {upto} events in order"
        report("webhooks", f"{name}: {what}, after {failed} failed calls ({kinds})")
    report("webhooks", f"beside them a receiver without a fault had 3 events in {at_once:.1f} s")


def calls_of(doors: Doors, webhook: str) -> list[str]:
    page: dict[str, Any] = doors.rest("GET", f"/api/v1/webhooks/{webhook}/calls?limit=200").json
    return [call["fate"] for call in page["data"]]


class Killer:
    """Kills the desk while a receiver has an event, now and then; every other time the receiver
    goes down with it and has taken nothing.
    """

    def __init__(self, kills: int) -> None:
        self.left = kills
        self._server: Server | None = None
        self._random = random.Random(7)
        self._lock = threading.Lock()

    def aim(self, server: Server | None) -> None:
        with self._lock:
            self._server = server

    @property
    def has_struck(self) -> bool:
        """Whether no server is left to be killed."""
        with self._lock:
            return self._server is None

    def __call__(self, _came: Came) -> bytes:
        with self._lock:
            if self._server is None or not self.left or self._random.random() < 0.5:
                return answers.ACCEPT
            self._server.process.kill()
            self._server.process.wait(10)
            self._server = None
            self.left -= 1
            return answers.ACCEPT if self.left % 2 else answers.CUT


@sizes(quick=2, full=40)
def test_a_desk_that_is_killed_around_the_delivery_loses_nothing(place: Place, size: int) -> None:
    killer, upto = Killer(size), 5 + size
    with Receiver().running() as receiver:
        receiver.always = killer
        server = place.start(short_clocks=True, **CLOCKS)
        server.wait_until_ready()
        doors = Doors(server.port, place.seed)
        webhook = register(doors, receiver)
        talk = doors.conversation("visitor")
        happen(doors, talk, 1)
        killer.aim(server)
        with contextlib.suppress(Gone):
            happen(doors, talk, upto - 1)
        end = time.monotonic() + PATIENCE_SECONDS + 10 * size
        while True:
            assert time.monotonic() < end, [came.event for came in receiver.came]
            time.sleep(0.05)
            if killer.has_struck:
                server = place.start(short_clocks=True, **CLOCKS)
                server.wait_until_ready()
                doors = Doors(server.port, place.seed)
                killer.aim(server)
            with contextlib.suppress(Gone):
                if (known := newest(doors)) < upto + killer.left:
                    happen(doors, talk, 1)
                elif stands_at(doors, webhook) == known and not killer.left:
                    break
        assert disorder(receiver, list(range(1, known + 1))) == []
        again = len(receiver.came) - known
    assert again >= size
    assert place.tracebacks() == []
    report(
        "webhooks",
        f"{size} kills while a receiver had an event: {known} of {known} events in order, "
        f"{again} came again, each under its id",
    )


def stands_at(doors: Doors, webhook: str) -> int:
    return int(doors.rest("GET", f"/api/v1/webhooks/{webhook}").json["after"])
