"""The base of the three sockets: gate, push, heartbeat, refusals (contract.md section 7)."""

import asyncio
import contextlib
import functools
import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import ClassVar
from urllib.parse import parse_qs

from autobahn.exception import Disconnected
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import Error as DatabaseError

from handoff import push
from handoff.contract.turns import Body
from handoff.realtime import frames, wire
from handoff.realtime.origins import may_call

BAD_FRAME, TICKET, NOT_YOURS, NO_PONG, GONE, TOO_FAST = 4400, 4401, 4403, 4408, 4410, 4429
UNAVAILABLE, FAULT = 4503, 4500
FRAMES_A_SECOND = 20.0
ROWS_AT_ONCE = 25
"""What one socket holds in memory at most, beside what its client has not taken yet."""
LAST_WORD_SECONDS = 1.0
CHECK_SECONDS = 5.0
"""How often a socket of an agent or an owner is asked whether it may still be here. Those of a chat
are many: the watcher asks for all of them at once.
"""

log = logging.getLogger(__name__)


class Closed(Exception):
    """Ends a socket: one error frame with this sentence, then this close code."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class Stalled(Closed):
    """The client reads nothing: it can be told no more, and comes back for what it missed."""

    def __init__(self) -> None:
        super().__init__(NO_PONG, "You did not read what was sent.")


class DeskSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One socket. Rows are read and sent by one task, so frames are in order; the client's
    frames are handled one by one beside it. No row is read before the client took the last ones.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"ack", "pong"})
    scope: wire.Scope
    conversation: str | None = None
    """The public id that ephemeral frames name."""

    async def gate(self) -> None:
        """Who this is; raises Closed. Runs before the handshake is answered."""
        raise NotImplementedError

    async def live(self) -> None:
        """Listen, `begin()`, then send what there is, until cancelled or Closed."""
        raise NotImplementedError

    async def still_allowed(self) -> None:
        """Checked with every heartbeat; raises Closed."""

    async def handle(self, type_: str, data: Body) -> None:
        """One frame of a type in `accepts`, other than ack and pong; raises Closed."""

    async def connect(self) -> None:
        self._accepted = self._over = False
        self._tokens, self._refilled = FRAMES_A_SECOND, time.monotonic()
        self._life = asyncio.create_task(self._guarded(self._whole_life))
        self._life.add_done_callback(self._ended)

    async def disconnect(self, code: int) -> None:
        self._life.cancel()
        await asyncio.wait({self._life})

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self._over:
            return  # it was refused; what it had sent by then is not taken any more
        self._heard = time.monotonic()
        await self._guarded(functools.partial(self._frame, text_data))

    async def begin(self, *, latest: int | None = None, resumed_from: int | None = None) -> None:
        """Answer the handshake and say hello. Call it inside `push.listen`."""
        await self._open()
        heartbeat = settings.HEARTBEAT_SECONDS
        hello = {"latest_event_id": latest, "resumed_from": resumed_from, "heartbeat_s": heartbeat}
        await self.say(frames.ephemeral("hello", hello, conversation=self.conversation))

    async def say(self, frame: frames.Frame, *, patience: float | None = None) -> None:
        """Send one frame; to a client who has just left, nothing.

        Waits while the client does not keep up; raises Stalled after `patience` seconds of that,
        the time between two heartbeats unless given.
        """
        text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
        try:
            async with asyncio.timeout(patience or settings.HEARTBEAT_SECONDS):
                await self.send(text_data=text)
        except Disconnected:
            pass  # `disconnect` is on its way
        except TimeoutError:
            raise Stalled from None

    async def complain(self, code: str, sentence: str) -> None:
        """Refuse one frame; the socket stays open."""
        await self.say(frames.error(code, sentence, conversation=self.conversation))

    async def wait(self, listener: push.Listener, seconds: float | None = None) -> None:
        """Until there may be news (or `seconds` passed), with a heartbeat whenever it is due."""
        if listener.stopping:
            await asyncio.Future()  # the server sends the close frame and ends this
        due = self._beat + settings.HEARTBEAT_SECONDS - time.monotonic()
        woken = await listener.wait(max(0.0, due if seconds is None else min(due, seconds)))
        if not woken and time.monotonic() >= self._beat + settings.HEARTBEAT_SECONDS:
            await self._heartbeat()

    def asked(self, name: str) -> str:
        """One parameter of the address; "" when it is absent."""
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        return str(query.get(name, [""])[0])

    def asked_event_id(self) -> int | None:
        """`last_event_id` of the address; None means from now. Raises Closed."""
        text = self.asked("last_event_id")
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise Closed(BAD_FRAME, "last_event_id is not a number.")
        return int(text)

    def check_origin(self, *origins: str) -> None:
        """Raises Closed unless the page that opened this socket is ours or one of `origins`.

        A client that is no browser sends no Origin, and has no visitor's cookies to abuse.
        """
        origin = wire.header(self.scope, b"origin")
        if not may_call(origin, origins):
            log.warning("socket refused: a page of %r may not open it", origin[:200])
            raise Closed(NOT_YOURS, "This page may not open that socket.")

    async def _whole_life(self) -> None:
        await self.gate()
        await self.live()

    async def _open(self) -> None:
        if not self._accepted:
            self._accepted = True
            self._beat = self._heard = time.monotonic()
            await self.accept(_subprotocol(self.scope))

    async def _guarded(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except Closed as closed:
            await self._refuse(closed)
        except DatabaseError:
            log.exception("the database is not there")
            await self._refuse(Closed(UNAVAILABLE, "The desk can't work now. Come back shortly."))

    async def _refuse(self, closed: Closed) -> None:
        if self._over:
            return
        self._over = True
        # closing before the handshake is answered would show a browser a bare 403
        await self._open()
        if not isinstance(closed, Stalled):
            said = frames.error(closed.code, closed.sentence, conversation=self.conversation)
            with contextlib.suppress(Stalled):
                await self.say(said, patience=LAST_WORD_SECONDS)
        await self.close(code=closed.code)
        if asyncio.current_task() is not self._life:
            self._life.cancel()

    def _ended(self, life: asyncio.Task[None]) -> None:
        """A fault of ours must not leave a socket that is open and says nothing."""
        if not life.cancelled() and (problem := life.exception()):
            log.error("a socket failed", exc_info=problem)
            self._closing = asyncio.create_task(self.close(code=FAULT))

    async def _heartbeat(self) -> None:
        if self._heard < self._beat:
            raise Closed(NO_PONG, "Nothing was heard from you since the last heartbeat.")
        await self.still_allowed()
        self._beat = time.monotonic()
        await self.say(frames.ephemeral("heartbeat", {}, conversation=self.conversation))

    async def _frame(self, text: str | None) -> None:
        self._take_token()
        try:
            type_, data = frames.read(text)
        except frames.BadFrame as problem:
            raise Closed(BAD_FRAME, str(problem)) from problem
        if type_ not in self.accepts:
            raise Closed(BAD_FRAME, f"{type_} is not for this socket.")
        if type_ not in ("ack", "pong"):
            await self.handle(type_, data)

    def _take_token(self) -> None:
        now = time.monotonic()
        refilled = self._tokens + (now - self._refilled) * FRAMES_A_SECOND
        self._tokens, self._refilled = min(FRAMES_A_SECOND, refilled), now
        if self._tokens < 1:
            raise Closed(TOO_FAST, "Too many frames a second.")
        self._tokens -= 1


class NoSocket(DeskSocket):
    """What stands at every address without a socket."""

    async def gate(self) -> None:
        raise Closed(GONE, "There is no socket at this address.")


def _subprotocol(scope: wire.Scope) -> str | None:
    """Ours when the client offers it: a browser fails a handshake that picks none of its own."""
    return "handoff.v1" if "handoff.v1" in scope.get("subprotocols", ()) else None
