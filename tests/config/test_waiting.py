"""Many who wait, few threads; many nudges, none lost. The counter watcher is off throughout."""

import asyncio
import time
from typing import Final

import pytest
from websockets.asyncio.client import connect

from tests.config.servers import Server

POLLS: Final = 1000
SOCKETS: Final = 50
EACH: Final = 2500


async def _poll(port: int, opening: asyncio.Semaphore, waiting: list[int]) -> bytes:
    async with opening:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /probe/poll?crowd HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await writer.drain()
    waiting.append(1)
    try:
        return await reader.readuntil(b"woken")
    finally:
        writer.close()
        await writer.wait_closed()


async def _thousand_polls(server: Server) -> tuple[int, int, float]:
    """Threads and memory of the server with all of them waiting; seconds to wake the last."""
    opening, waiting = asyncio.Semaphore(50), list[int]()
    async with asyncio.timeout(60), asyncio.TaskGroup() as clients:
        polls = [clients.create_task(_poll(server.port, opening, waiting)) for _ in range(POLLS)]
        while len(waiting) < POLLS:
            await asyncio.sleep(0.1)
        await asyncio.sleep(2)  # the last of them has reached its listener
        await asyncio.to_thread(server.get, "/probe/ping")
        assert not any(poll.done() for poll in polls)
        threads, memory = server.figure("Threads"), server.figure("VmRSS")
        began = time.monotonic()
        await asyncio.to_thread(server.get, "/probe/nudge?topic=crowd")
    assert all(poll.result().startswith(b"HTTP/1.1 200 ") for poll in polls)
    return threads, memory, time.monotonic() - began


@pytest.mark.slow
@pytest.mark.alone
def test_a_thousand_polls_wait_on_few_threads_and_wake_at_once(
    steady: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    idle = steady.figure("VmRSS")
    threads, memory, seconds = asyncio.run(_thousand_polls(steady))
    with capsys.disabled():
        print(  # noqa: T201
            f"\n  1,000 polls: {threads} threads, RSS {idle // 1024} -> {memory // 1024} MB, "
            f"last answer {seconds:.2f} s after the nudge"
        )
    assert threads < 40
    assert seconds < 3


async def _reader(port: int, ready: asyncio.Barrier) -> int:
    """How many frames it took to read every row, each once and in order."""
    async with connect(f"ws://127.0.0.1:{port}/ws/probe") as socket:
        await socket.send(f"read {4 * EACH}")
        assert await socket.recv() == "listening"
        await ready.wait()
        frames = 0
        while True:
            cursor = int(await socket.recv())
            frames += 1
            if cursor == 4 * EACH:
                return frames


async def _burst(server: Server) -> list[int]:
    ready = asyncio.Barrier(SOCKETS + 1)
    readers = [asyncio.create_task(_reader(server.port, ready)) for _ in range(SOCKETS)]
    await ready.wait()
    assert await asyncio.to_thread(server.get, f"/probe/burst?each={EACH}") == (200, b"10000")
    async with asyncio.timeout(20):  # less than the sockets' own look at the rows
        return await asyncio.gather(*readers)


@pytest.mark.slow
def test_ten_thousand_nudges_from_four_threads_reach_every_socket(steady: Server) -> None:
    frames = asyncio.run(_burst(steady))
    assert len(frames) == SOCKETS
    assert max(frames) < 4 * EACH, "nudges did not coalesce"
