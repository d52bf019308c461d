"""Row 20: slow, oversized and oddly framed requests are refused, and cost no memory."""

import contextlib
import json
import socket
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.config.servers import Server
from tests.realtime.desk import Desk
from tests.reliability import raw
from tests.reliability.desks import open_desks
from tests.reliability.figures import report
from tests.reliability.sizes import sizes

PATIENCE = 4.0
MIB = 1024 * 1024
ROOM_KIB = 24 * 1024
"""By how much the resident memory may grow: an allocator's mood, not what was sent."""
CALL = b"POST /api/v1/tool-calls HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
TOO_SLOW = {"error": "The call came too slowly.", "code": "too_slow"}

DRIPS: dict[str, tuple[bytes, bytes]] = {
    "headers": (CALL, b"X: y\r\n"),
    "a declared body": (CALL + b"Content-Length: 100000\r\n\r\n", b"x"),
    "chunks": (CALL + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
}
"""How each slow sender begins, and what it sends over and over."""
ODD_FRAMES: dict[str, tuple[bytes, set[int]]] = {
    "no length": (CALL + b"\r\n", {401}),
    "no length, and a body": (CALL + b'\r\n{"name": "x"}', {401}),
    "a negative length": (CALL + b"Content-Length: -1\r\n\r\n", {400}),
    "a length in words": (CALL + b"Content-Length: many\r\n\r\n", {400}),
    "two lengths": (CALL + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", {400}),
    "length and chunks": (
        CALL + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        {400, 401},
    ),
    "an unknown encoding": (CALL + b"Transfer-Encoding: gzip\r\n\r\n", {400, 501}),
    "a chunk of no size": (CALL + b"Transfer-Encoding: chunked\r\n\r\nz\r\n", {400}),
    "a huge header": (CALL + b"X: " + b"y" * 20_000 + b"\r\n\r\n", {0, 400, 431}),
    "many headers": (CALL + b"X: y\r\n" * 2000 + b"\r\n", {0, 400, 431}),
    "a NUL in a header": (CALL + b"X: \x00\r\n\r\n", {400}),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", {400}),
    "a body between the caps, in chunks": (
        CALL + b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"x" * 65_536 + b"\r\n"
        b"10000\r\n" + b"x" * 65_536 + b"\r\n" + b"10000\r\n" + b"x" * 65_536 + b"\r\n"
        b"10000\r\n" + b"x" * 65_536 + b"\r\n1\r\nx\r\n0\r\n\r\n",
        {413},
    ),
}  # fmt: skip
"""What is sent, and what may be the answer; 0 is a connection that is only closed."""


@pytest.mark.once
@sizes(quick=60, full=600)
def test_bad_senders_are_refused_and_cost_no_memory(
    size: int, tmp_path: Path, database_url: str
) -> None:
    """`size`: how many slow senders at the same time."""
    with open_desks(tmp_path, database_url, "one", HANDOFF_RECEIVE_SECONDS=str(PATIENCE)) as [desk]:
        server = desk.server
        odd = check_frames(server)
        check_sockets(desk, 4)
        before = server.figure("VmRSS")
        slowest = check_drips(server, size)
        check_sockets(desk, 20)
        grown = server.figure("VmRSS") - before
        assert grown < ROOM_KIB
        assert "Traceback" not in server.log()
    report(
        20,
        f"{size} slow senders refused, others were answered within {slowest:.2f} s meanwhile; "
        f"{odd} odd frames and 24 messages of 2 MiB refused; memory grew by {grown / 1024:.1f} MiB",
    )


def check_frames(server: Server) -> int:
    """Each is refused in its way, and none is a fault of ours; how many."""
    for name, (request, expected) in ODD_FRAMES.items():
        status, _ = raw.answered(server, request)
        assert status in expected, (name, status)
    return len(ODD_FRAMES)


def check_drips(server: Server, count: int) -> float:
    """All are answered 408 in time, and nobody else waits for them; the slowest other answer."""
    drips = list(DRIPS.values())
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(server.socket())) for _ in range(count)]
        began = time.monotonic()
        for place, client in enumerate(clients):
            raw.send(client, [drips[place % len(drips)][0]])
        slowest = 0.0
        while time.monotonic() < began + PATIENCE - 1:
            drip(clients, [more for _, more in drips])
            asked = time.monotonic()
            assert server.get("/r/x/")[0] == 404
            slowest = max(slowest, time.monotonic() - asked)
        for client in clients:
            status, body = raw.read(client, seconds=PATIENCE + 5)
            assert (status, json.loads(body)) == (408, TOO_SLOW)
        assert time.monotonic() - began < PATIENCE + 5
    assert slowest < 2
    return slowest


def drip(clients: Sequence[socket.socket], more: Sequence[bytes]) -> None:
    for place, client in enumerate(clients):
        raw.send(client, [more[place % len(more)]])
    time.sleep(0.2)


def check_sockets(desk: Desk, count: int) -> None:
    """A message of 2 MiB ends the socket with 1009, whole or in fragments."""
    for place in range(count):
        ticket = desk.ticket(desk.conversation())
        with connect(f"ws://127.0.0.1:{desk.server.port}/ws/chat?ticket={ticket}") as chat:
            chat.recv(timeout=5)
            whole = "x" * (2 * MIB)
            with contextlib.suppress(ConnectionClosed):
                chat.send(whole if place % 2 else ["x" * 65_000] * 33)
            with pytest.raises(ConnectionClosed) as closed:
                chat.recv(timeout=5)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
