"""The product's own polls, streams and sockets at SIGTERM, and a thousand of its polls."""

import asyncio
import contextlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from websockets.exceptions import ConnectionClosed

from tests.realtime.desk import Desk, open_desk

pytestmark = pytest.mark.slow

POLLS: Final = 1000


def test_sigterm_answers_polls_ends_streams_and_closes_sockets_with_1012(
    tmp_path: Path, empty_desk: Path
) -> None:
    with (
        open_desk(tmp_path, empty_desk) as desk,
        ThreadPoolExecutor(1) as clients,
        contextlib.closing(desk.server.connection(timeout=5)) as streaming,
        desk.chat(desk.conversation()) as (chat, _),
        desk.socket("/ws/agent", headers={"Authorization": f"Bearer {desk.token}"}) as agent,
    ):
        agent.recv(timeout=5)
        bearer = {"Authorization": f"Bearer {desk.token}"}
        streaming.request("GET", "/api/v1/wait/stream?after=999", headers=bearer)
        stream = streaming.getresponse()
        poll = clients.submit(desk.get, "/api/v1/wait/events", after=999, seconds=20)
        time.sleep(0.5)
        desk.server.terminate()
        began = time.monotonic()
        assert poll.result(5) == (200, {"data": [], "next_after": 999, "has_more": False})
        assert stream.read() == b"retry: 2000\n\n", "the stream ends and is not cut"
        for socket in (chat, agent):
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=5)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
        assert desk.server.wait(3) == 0
        assert time.monotonic() - began < 2
        assert "Traceback" not in desk.server.log()


async def _poll(desk: Desk, after: int, opening: asyncio.Semaphore) -> bytes:
    async with opening:
        reader, writer = await asyncio.open_connection("127.0.0.1", desk.server.port)
        writer.write(
            f"GET /api/v1/wait/events?after={after} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {desk.token}\r\nConnection: close\r\n\r\n".encode()
        )
        await writer.drain()
    try:
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


async def _thousand_polls(desk: Desk) -> tuple[int, int, float, float]:
    """Threads and RSS in MB while all wait; seconds to the first and to the last answer."""
    conversation, after = desk.conversation(), desk.newest()
    opening = asyncio.Semaphore(50)
    async with asyncio.timeout(60), asyncio.TaskGroup() as clients:
        polls = [clients.create_task(_poll(desk, after, opening)) for _ in range(POLLS)]
        await asyncio.sleep(6)
        assert not any(poll.done() for poll in polls)
        threads, memory = desk.server.figure("Threads"), desk.server.figure("VmRSS") // 1024
        began = time.monotonic()
        posting = asyncio.to_thread(desk.say, conversation, "wake up")
        writing = clients.create_task(posting)
        await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
        first = time.monotonic() - began
        await asyncio.wait(polls)
        last = time.monotonic() - began
        await writing
    for poll in polls:
        head, _, body = poll.result().partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert json.loads(body)["data"][0]["data"]["message"]["text"] == "wake up"
    return threads, memory, first, last


@pytest.mark.alone
def test_a_thousand_polls_of_one_agent_are_answered_together(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    threads, memory, first, last = asyncio.run(_thousand_polls(desk))
    with capsys.disabled():
        print(  # noqa: T201
            f"\n  1,000 polls for events: {threads} threads, RSS {memory} MB, "
            f"first answer {first:.2f} s and last {last:.2f} s after the turn was posted"
        )
    assert threads < 40
    assert last < 3
