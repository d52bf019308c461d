"""Many chats at one process, all on one loop of the test's own."""

import asyncio
import datetime as dt
import itertools
import json
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, Self
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect

from tests.reliability.doors import Doors
from tests.reliability.races import answered
from tests.reliability.stories import new_mark

AT_ONCE: Final = 20
PONG: Final = '{"v":1,"type":"pong"}'


class Crowd:
    """So many chats, each alone in its conversation; `late` has the seconds from the event's time
    in the database, just before its commit, until its frame was read.
    """

    def __init__(self, doors: Doors, count: int) -> None:
        self._doors = doors
        self.late: list[float] = []
        with ThreadPoolExecutor(4) as pool:
            self.conversations = list(pool.map(lambda _: self._talk(), range(count)))
        self._reading: list[asyncio.Task[None]] = []
        self._room = asyncio.Semaphore(AT_ONCE)

    def _talk(self) -> str:
        return self._doors.conversation(new_mark())

    async def open(self) -> None:
        """Returns when all are greeted. Closed by `async with`."""
        greeted = [asyncio.Event() for _ in self.conversations]
        self._reading = [
            asyncio.create_task(self._follow(talk, event))
            for talk, event in zip(self.conversations, greeted, strict=True)
        ]
        for event, reading in zip(greeted, self._reading, strict=True):
            entered = asyncio.create_task(event.wait())
            await asyncio.wait({entered, reading}, return_when=asyncio.FIRST_COMPLETED)
            assert entered.done(), "a chat was not let in"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)

    async def say(self, lines: int, *, writers: int) -> list[float]:
        """Post so many lines, one in a chat and again from the first; how late each was shown."""
        already, expected = len(self.late), len(self.late) + lines
        await asyncio.to_thread(self._post, lines, writers)
        async with asyncio.timeout(30):
            while len(self.late) < expected:
                await asyncio.sleep(0.02)
        assert len(self.late) == expected, "a line was shown twice"
        return self.late[already:]

    def _post(self, lines: int, writers: int) -> None:
        def say(conversation: str) -> None:
            mark = new_mark()
            answered(partial(self._doors.say, conversation, "hello", client_id=mark))

        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(say, itertools.islice(itertools.cycle(self.conversations), lines)))

    async def _follow(self, conversation: str, greeted: asyncio.Event) -> None:
        async with self._room:
            ticket = await asyncio.to_thread(self._doors.ticket, conversation)
            address = f"ws://127.0.0.1:{self._doors.port}/ws/chat?{urlencode({'ticket': ticket})}"
            socket = await connect(address, open_timeout=60, ping_interval=None)
            try:
                assert json.loads(await socket.recv())["type"] == "hello"
            except BaseException:
                await socket.close()
                raise
        greeted.set()
        async with socket:
            await self._read(socket)

    async def _read(self, socket: ClientConnection) -> None:
        while True:
            frame: dict[str, Any] = json.loads(await socket.recv())
            if frame["type"] == "message.created":
                at = dt.datetime.fromisoformat(frame["at"])
                self.late.append(time.time() - at.timestamp())
            elif frame["type"] == "heartbeat":
                await socket.send(PONG)


def room_for(files: int) -> None:
    """Let this process have so many files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))


def timed(call: Callable[[], object]) -> float:
    """How many seconds it took."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def p95(seconds: Sequence[float]) -> float:
    """In milliseconds."""
    return statistics.quantiles(seconds, n=20)[18] * 1000
