"""The door in front of Django's pages: a WSGI application on a pool of threads, inside ASGI.

a2wsgi does the crossing; this guards it (measured faults, each with a test):

- the whole body is read here, under a cap, before a thread is asked for: half a form never
  reaches a view, and a slow sender holds no thread; that of a file stays on disk;
- a server that cancels the call never reaches the crossing, where a thread would wait for ever
  for somebody to take its answer; a view runs to its end, and what it says to a client who has
  left is dropped;
- a header with an underscore is dropped, since WSGI cannot tell it from one with a hyphen;
- a content type that Django cannot read is answered: it raises before its own handlers begin;
- whoever waits too long for a free thread is told so, and the view is then never begun.
"""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from a2wsgi import WSGIMiddleware
from django.core.exceptions import BadRequest

from config import refusals, uploads
from config.uploads import Body
from handoff.realtime.wire import Message, Receive, Scope, Send

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)
PATIENCE_SECONDS = 2.0

_under_way: set[asyncio.Task[None]] = set()


def under_way() -> int:
    """How many calls of this process are on a thread or wait for one, clients who left included."""
    return len(_under_way)


class Guard:
    """ASGI application that answers http by `app`, on at most `threads` threads."""

    def __init__(
        self,
        app: "WSGIApplication",
        *,
        threads: int,
        cap: int,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self.pages: Any = WSGIMiddleware(_BegunOnce(app), workers=threads)  # type: ignore[arg-type]
        self.cap = cap
        self.patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cap = uploads.cap(scope["path"], self.cap)
        body = await _received(scope, receive, cap)
        if body is None:
            return
        if body.size > cap:
            await refusals.too_large(scope, send)
            return
        early = body.small() if body.size <= self.cap else b""
        turn = _Turn()
        mouth = _Mouth(send)
        call = asyncio.create_task(self._call(turn, _narrowed(scope, body), body, mouth))
        _under_way.add(call)
        call.add_done_callback(_under_way.discard)
        call.add_done_callback(lambda _: body.file.close())
        await asyncio.wait({call}, timeout=self.patience)
        if turn.give_up():
            mouth.shut()
            await refusals.busy(scope, send, early)
            return
        await asyncio.shield(call)

    async def _call(self, turn: "_Turn", scope: Scope, body: Body, mouth: "_Mouth") -> None:
        body.file.seek(0)

        async def next_block() -> Message:
            part, more = body.block()
            return {"type": "http.request", "body": part, "more_body": more}

        _turn.set(turn)
        await self.pages(scope, next_block, mouth.say)
        if mouth.problem is not None:
            raise mouth.problem


class _Turn:
    """Whether a call has begun on its thread or was given up before: never both."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settled = False

    def begin(self) -> bool:
        return self._settle()

    def give_up(self) -> bool:
        return self._settle()

    def _settle(self) -> bool:
        """True for the first who asks."""
        with self._lock:
            first, self._settled = not self._settled, True
            return first


_turn: contextvars.ContextVar[_Turn] = contextvars.ContextVar("turn")


class _BegunOnce:
    """WSGI application that runs `app` unless its call was given up while it waited."""

    def __init__(self, app: "WSGIApplication") -> None:
        self.app = app

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        if _turn.get().begin():
            try:
                return self.app(environ, start_response)
            except BadRequest:
                return refusals.begun(refusals.MALFORMED, _path(environ), start_response)
            except (asyncio.CancelledError, GeneratorExit):
                # the crossing would take it for its own end, and the client would hear nothing
                log.exception("a view was told to stop")
                return refusals.begun(refusals.FAULT, _path(environ), start_response)
        start_response("503 Service Unavailable", [])
        return []


def _path(environ: "WSGIEnvironment") -> str:
    return str(environ.get("PATH_INFO", "")).encode("latin-1").decode(errors="replace")


class _Mouth:
    """Speaks to the client until shut. Never fails: the crossing would hang on it."""

    def __init__(self, send: Send) -> None:
        self._send: Send | None = send
        self.problem: Exception | None = None

    def shut(self) -> None:
        self._send = None

    async def say(self, message: Message) -> None:
        if self._send is None:
            return
        try:
            await self._send(message)
        except Exception as problem:  # noqa: BLE001  (the outermost door; raised after the call)
            self.problem = problem
            self.shut()


def _narrowed(scope: Scope, body: Body) -> Scope:
    """The scope as WSGI may see it: no underscores, and the length of the body that was read.

    A chunked body has no length of its own, and Django reads none without one.
    """
    dropped = (b"content-length", b"transfer-encoding")
    kept = [
        (name, value)
        for name, value in scope["headers"]
        if b"_" not in name and name not in dropped
    ]
    if body.size or scope["method"] not in ("GET", "HEAD"):
        kept.append((b"content-length", str(body.size).encode()))
    return {**scope, "headers": kept}


async def _received(scope: Scope, receive: Receive, cap: int) -> Body | None:
    """The whole body, or None when the client left before its end.

    A long one may lie in a file of the server's. Reading stops at the first byte over the cap.
    """
    kept = scope.get(uploads.KEPT)
    if kept is not None:
        return Body.kept(kept)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > cap or not message.get("more_body", False):
            return Body.of(bytes(body))
