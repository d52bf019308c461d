"""What many sockets cost one process, and that none of them waits behind another's lock."""

import asyncio
import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest

from tests.config.servers import Server
from tests.reliability.crowd import Crowd, p95, room_for, timed
from tests.reliability.doors import Doors
from tests.reliability.figures import report
from tests.reliability.outside.broken import Variant
from tests.reliability.place import Place
from tests.reliability.sizes import sizes
from tests.reliability.stories import new_mark

pytestmark = [pytest.mark.slow, pytest.mark.alone]

HELD_SECONDS: Final = 1.0
SENDERS: Final = 8
"""More than there are threads for what sockets write."""
TICK: Final = os.sysconf("SC_CLK_TCK")


@sizes(quick=200, full=2_000)
def test_many_chats_at_one_process_are_shown_their_lines_at_once(
    tmp_path: Path, database_url: str, size: int
) -> None:
    room_for(size + 500)
    place = Place(tmp_path / "desk", database_url)
    with place.serving(HANDOFF_WATCHER="1") as doors:
        figures = asyncio.run(measured(place.server, doors, size))
    assert place.tracebacks() == []
    report(8, f"{size} chats at one process: {figures}")


async def measured(server: Server, doors: Doors, size: int) -> str:
    crowd = await asyncio.to_thread(Crowd, doors, size)
    seconds = 3 if size < 1000 else 60
    empty = await idling(server, seconds=seconds)
    before, began = server.figure("VmRSS"), time.monotonic()
    with beside(doors) as calls:
        await crowd.open()
        opened = time.monotonic() - began
    async with crowd:
        grown = (server.figure("VmRSS") - before) / 1024
        idle = await idling(server, seconds=seconds)
        calm = await crowd.say(100, writers=1)
        busy = await crowd.say(200, writers=4)
        threads, memory = server.figure("Threads"), server.figure("VmRSS") // 1024
    assert threads < 40
    assert grown / size < 0.25
    assert p95(calm) < 1000
    return (
        f"opened in {opened:.1f} s (GET /me beside it p95 {p95(calls):.0f} ms), {grown:.0f} MB for"
        f" them, {memory} MB and {threads} threads in all, {idle:.1f} % of a core while nothing"
        f" happens (without them {empty:.1f} %); committed to shown p95 {p95(calm):.0f} ms with one"
        f" writer, {p95(busy):.0f} ms with four that never rest"
    )


@contextlib.contextmanager
def beside(doors: Doors) -> Iterator[list[float]]:
    """Calls of the REST API one after the other, within the block: the seconds that each took."""
    seconds: list[float] = []
    stopped = threading.Event()

    def call() -> None:
        while not stopped.wait(0.05):
            seconds.append(timed(lambda: doors.rest("GET", "/api/v1/me")))

    caller = threading.Thread(target=call)
    caller.start()
    try:
        yield seconds
    finally:
        stopped.set()
        caller.join()


async def idling(server: Server, *, seconds: float) -> float:
    """How busy the server is meanwhile, in percent of a core."""
    before = ticks(server)
    await asyncio.sleep(seconds)
    return (ticks(server) - before) / TICK / seconds * 100


def ticks(server: Server) -> int:
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_no_read_waits_behind_writes_that_wait_for_a_lock(
    tmp_path: Path, database_url: str
) -> None:
    """Against the same on one thread for the process, as `database_sync_to_async` has it."""
    place = Place(tmp_path / "desk", database_url)
    late: dict[str, float] = {}
    for variant in ("", Variant.ONE_THREAD):
        with place.serving(variant=variant) as doors:
            late[variant] = slowest_poll(place, doors)
    own, one = late[""] * 1000, late[Variant.ONE_THREAD] * 1000
    report(
        8,
        f"{SENDERS} chats whose lines wait {HELD_SECONDS:.0f} s for a lock: the slowest poll beside"
        f" them {own:.0f} ms, on one thread {one:.0f} ms (ratio {one / own:.0f})",
    )
    assert one > HELD_SECONDS * 500
    assert own < one / 2


def slowest_poll(place: Place, doors: Doors) -> float:
    """Of some polls of the event log, while chats wait for a lock to write."""
    poll = "/api/v1/wait/events?seconds=0&after=0"
    doors.rest("GET", poll)  # the first one writes down that the token is in use
    with contextlib.ExitStack() as chats:
        talks = [doors.conversation(new_mark()) for _ in range(SENDERS)]
        sockets = [chats.enter_context(doors.chat(doors.ticket(talk))) for talk in talks]
        with held(place) as writer:
            line = {"client_id": new_mark(), "text": "hello"}
            for socket in sockets:
                socket.send(json.dumps({"v": 1, "type": "message.send", "data": line}))
            time.sleep(0.2)
            seconds = []
            while writer.is_alive():
                seconds.append(timed(lambda: doors.rest("GET", poll)))
        for socket in sockets:
            assert json.loads(socket.recv(timeout=10))["type"] == "message.created"
    return max(seconds)


@contextlib.contextmanager
def held(place: Place) -> Iterator[threading.Thread]:
    """A writer outside the desk that has the lock at the beginning, and lets go by itself."""
    has_it = threading.Event()

    def hold() -> None:
        if place.rows.url.startswith("sqlite"):
            file = sqlite3.connect(place.rows.url.removeprefix("sqlite:///"), isolation_level=None)
            with contextlib.closing(file):
                file.execute("BEGIN IMMEDIATE")
                has_it.set()
                time.sleep(HELD_SECONDS)
            return
        with psycopg.connect(place.rows.url) as server:
            server.execute("LOCK TABLE handoff_conversation IN EXCLUSIVE MODE")
            has_it.set()
            time.sleep(HELD_SECONDS)

    writer = threading.Thread(target=hold)
    writer.start()
    try:
        assert has_it.wait(10)
        yield writer
    finally:
        writer.join()
