"""daphne's WebSocket with both of its queues bounded.

Stock daphne hands every frame to Twisted at once, however much of it lies there unsent, and keeps
every frame of a client until the application asks for it: one client that does not read, or one
that only writes, can fill the memory of the process.
"""

import asyncio
import json
from typing import Any, Final

from daphne.ws_protocol import WebSocketProtocol

from handoff.realtime import frames
from handoff.realtime.sockets import TOO_FAST

FRAMES_WAITING: Final = 64
"""So many frames of a client may wait for the application; three seconds' worth of the limit."""


class BoundedWebSocket(WebSocketProtocol):  # type: ignore[misc]
    """A push producer of its transport: while 64 KiB or more are unsent, `room()` waits."""

    _room: asyncio.Event

    def onOpen(self) -> None:  # noqa: N802
        self._room = asyncio.Event()
        self._room.set()
        # what spoke HTTP here is still registered
        self.transport.unregisterProducer()
        self.registerProducer(self, True)
        super().onOpen()

    def pauseProducing(self) -> None:  # noqa: N802
        self._room.clear()

    def resumeProducing(self) -> None:  # noqa: N802
        self._room.set()

    def stopProducing(self) -> None:  # noqa: N802
        """The connection is lost: nobody waits for it any more."""
        self._room.set()

    async def room(self) -> None:
        """Until what was sent is on its way, or the connection is lost. No limit of its own."""
        if self.state == self.STATE_OPEN:
            await self._room.wait()

    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: N802, N803
        if self.state != self.STATE_OPEN:
            return
        if self.application_queue.qsize() >= FRAMES_WAITING:
            refusal = frames.error(TOO_FAST, "Too many frames at once.")
            self.sendMessage(json.dumps(refusal).encode())
            self.sendClose(code=TOO_FAST)
            return
        super().onMessage(payload, isBinary)

    def onPing(self, payload: bytes) -> None:  # noqa: N802
        """A client that does not read is sent no pongs, which would pile up."""
        if self._room.is_set():
            super().onPing(payload)

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:  # noqa: N802, N803
        if hasattr(self, "_room"):
            self._room.set()
        super().onClose(wasClean, code, reason)


async def sent(protocol: Any) -> None:
    """Until a socket's client keeps up; anything else is not waited for."""
    if isinstance(protocol, BoundedWebSocket):
        await protocol.room()
