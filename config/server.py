"""daphne's server with a drain, a cap on bodies and a log that holds no secret.

Measured on stock daphne: SIGTERM cuts running requests, drops sockets without a close frame and
may never exit; a body of any size is read into memory before the application is asked.
"""

import asyncio
import functools
import io
import logging
import time
from collections.abc import Callable
from typing import Any

# daphne.server installs the reactor, so it comes before anything else of Twisted
from daphne.server import Server  # isort: skip
from autobahn.websocket.protocol import WebSocketProtocol as States
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import WebRequest
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import reactor as installed_reactor
from twisted.internet.defer import Deferred
from twisted.logger import (
    FilteringLogObserver,
    LogLevel,
    LogLevelFilterPredicate,
    STDLibLogObserver,
    globalLogPublisher,
)

from config import access, guard, places, refusals, sockets, uploads
from handoff import push
from handoff.realtime import background
from handoff.realtime.wire import SOCKET_BYTES

DRAIN_SECONDS = 15.0
CANCEL_SECONDS = 2.0
LINGER_SECONDS = 2.0
RESTARTING = 1012
"""RFC 6455 registry: the service is restarting, a client may come back soon."""

log = logging.getLogger(__name__)
reactor: Any = installed_reactor
"""Typed loosely: the interfaces of Twisted need a mypy plugin of zope."""


class CappedRequest(WebRequest):  # type: ignore[misc]
    """A request whose body is refused with 413 as soon as it is known to be too long, and with
    408 when it has not arrived within `patience` seconds of its first line.

    Stock Twisted minds only silence: a byte a minute keeps a connection for ever. `gotLength` and
    `handleContentChunk` are Twisted's own hooks and "not intended for users":
    versions are pinned, and raw-socket tests hold both.
    """

    def __init__(self, *args: Any, cap: int, patience: float, **kwargs: Any) -> None:
        super().__init__(*args, parsePOSTFormSubmission=False, **kwargs)
        self._cap = cap
        self._seen = 0
        self._refused = False
        self._recorded = False
        self._replaced = False
        self._give_back: Callable[[], None] = lambda: None
        self._patience = patience
        self._late = reactor.callLater(patience, self._refuse, refusals.TOO_SLOW)

    def gotLength(self, length: int | None) -> None:  # noqa: N802
        super().gotLength(length)
        usual = self._cap
        self._cap = uploads.cap(self._target().partition("?")[0], usual)
        if length and length > self._cap:
            self._refuse(refusals.TOO_LARGE)
        elif self._cap > usual and (length is None or length > usual):
            place = places.for_body()
            if place is None:
                self._refuse(refusals.FULL)
            else:
                self._give_back = place

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        self._seen += len(data)
        if self._seen > self._cap:
            self._refuse(refusals.TOO_LARGE)
        if not self._refused:
            super().handleContentChunk(data)

    def process(self) -> Any:
        self._arrived()
        return None if self._refused else super().process()

    def finish(self) -> None:
        self._record()
        self._give_back()
        super().finish()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802
        self._arrived()
        self._record()
        self._give_back()
        super().connectionLost(reason)

    def handle_reply(self, message: dict[str, Any]) -> None:
        if self._replaced:
            return
        if message["type"] == "http.response.start" and self.channel:
            large = places.is_large(message)
            if push.stopping or large:
                self.setHeader(b"connection", b"close")
                self.channel.persistent = False
            if large and not self._may_lie_in_memory():
                self._replace(message)
                return
        super().handle_reply(message)

    def _replace(self, start: dict[str, Any]) -> None:
        """Send a refusal in place of the answer that begins with `start`."""
        self._replaced = True
        why = refusals.FULL
        headers, body = refusals.whole(why, self.path.decode("latin-1"))
        super().handle_reply({**start, "status": why.status, "headers": headers})
        super().handle_reply({"type": "http.response.body", "body": body})

    def _may_lie_in_memory(self) -> bool:
        """Take a place for a large answer until its connection ends, at the latest by force.

        What a POST did is told in any case: it must not be denied.
        """
        give_back = places.for_answer(self.path.decode("latin-1"))
        if give_back is None:
            return self.method not in (b"GET", b"HEAD")
        channel, end = self.channel, self.channel.connectionLost
        patience = places.ANSWER_PATIENCES * self._patience
        late = reactor.callLater(patience, self.transport.abortConnection)

        def ended(reason: Any) -> None:
            give_back()
            if late.active():
                late.cancel()
            end(reason)

        channel.connectionLost = ended
        return True

    def handle_exception(self, exception: BaseException) -> None:
        """500, or an aborted connection when the answer had begun.

        Stock daphne raises here in the second case, and its housekeeping ends with that.
        """
        if not self._response_started:
            super().handle_exception(exception)
        elif self.transport is not None:
            self.transport.abortConnection()

    def _record(self) -> None:
        """The line of the access log, once; a socket and half a request have none."""
        if not self._recorded and self.application_queue is not None:
            access.record_request(
                method=self.method,
                uri=self.uri,
                status=self.code if self._response_started else None,
                seconds=self.duration(),
            )
        self._recorded = True

    def _arrived(self) -> None:
        if self._late.active():
            self._late.cancel()

    def _target(self) -> str:
        """What the first line asks for; Twisted says so itself once the whole body is there."""
        target: bytes = getattr(self.channel, "_path", b"")
        return target.decode("latin-1")

    def _refuse(self, why: refusals.Refusal) -> None:
        """Say why, once, then throw away what still comes, for a short time.

        Closing at once would reset the connection under a client that is still sending, and the
        answer would be lost with it.
        """
        if self._refused:
            return
        self._refused = True
        self._arrived()
        self.transport.write(refusals.unread(why, self._target()))
        self.transport.loseWriteConnection()
        reactor.callLater(LINGER_SECONDS, self.transport.abortConnection)


class DeskServer(Server):  # type: ignore[misc]
    """One listening server that ends what runs before it ends itself."""

    def __init__(
        self,
        application: Any,
        *,
        host: str,
        port: int,
        cap: int,
        patience: float,
        when_ready: Callable[[], None],
        when_draining: Callable[[], None],
    ) -> None:
        super().__init__(
            application,
            endpoints=build_endpoint_description_strings(host=host, port=port),
            action_logger=access.record,
            ping_interval=20,
            ping_timeout=20,
            websocket_max_message_size=SOCKET_BYTES,
            websocket_max_frame_size=SOCKET_BYTES,
            application_close_timeout=3,
            ready_callable=self._ready,
            server_name="",
            verbosity=1,
        )
        self.cap = cap
        self.patience = patience
        self.failed = ""
        self._ports: list[Any] = []
        self._when_ready = when_ready
        self._when_draining = when_draining

    def listen_success(self, port: Any) -> None:
        # kept here: what daphne keeps is a Deferred whose result is no longer the port
        self._ports.append(port)
        super().listen_success(port)

    def listen_error(self, failure: Any) -> None:
        self.failed = failure.getErrorMessage()
        self.stop()

    def _ready(self) -> None:
        """Before the reactor runs: our request class, Twisted's warnings, our own beginning."""
        build = self.http_factory.buildProtocol

        def build_capped(addr: Any) -> Any:
            protocol = build(addr)
            protocol.requestFactory = functools.partial(
                CappedRequest, cap=self.cap, patience=self.patience
            )
            return protocol

        self.http_factory.buildProtocol = build_capped
        # A message that is too long gets a close frame with 1009, not a dropped connection; a page
        # without an origin of its own (`null`) is refused by our gates, in words.
        self.ws_factory.setProtocolOptions(failByDrop=False, allowNullOrigin=True)
        self.ws_factory.protocol = sockets.BoundedWebSocket
        publisher: Any = globalLogPublisher
        publisher.addObserver(_observer_of_warnings())
        reactor.callLater(0, background.begin)
        reactor.callLater(0, self._when_ready)

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """As daphne's; but a frame counts as sent only when its client keeps up with reading."""
        await super().handle_reply(protocol, message)
        if message["type"] == "websocket.send":
            await sockets.sent(protocol)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """As daphne's; but the body of a file is not put into memory: it is left where it lies."""
        if scope["type"] == "http" and uploads.takes(scope["path"]):
            scope[uploads.KEPT], protocol.content = protocol.content, io.BytesIO()
        return super().create_application(protocol, scope)

    def kill_all_applications(self) -> Deferred[None]:
        """Twisted waits for this before it stops the loop."""
        return Deferred.fromFuture(asyncio.ensure_future(self._drain()))

    async def _drain(self) -> None:
        for port in self._ports:
            port.stopListening()
        self._when_draining()
        push.stop()
        await self._settle(DRAIN_SECONDS)
        for task in self._running():
            task.cancel()
        await self._settle(CANCEL_SECONDS)
        await background.end()

    async def _settle(self, seconds: float) -> None:
        """Until nothing runs and every answer is on its way, at most `seconds`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._close_sockets()
            if not (self._running() or guard.under_way() or reactor.getWriters()):
                return
            await asyncio.sleep(0.02)
        log.warning("%d requests were still running after %g s", len(self._running()), seconds)

    def _running(self) -> list[asyncio.Task[None]]:
        applications = [c.get("application_instance") for c in self.connections.values()]
        return [task for task in applications if task is not None and not task.done()]

    def _close_sockets(self) -> None:
        # not through the application: `sendClose` takes no code of the 1012 kind
        for protocol in list(self.connections):
            if isinstance(protocol, WebSocketProtocol) and protocol.state == States.STATE_OPEN:
                protocol.sendCloseFrame(code=RESTARTING, reasonUtf8=b"restarting", isReply=False)


def _observer_of_warnings() -> Any:
    """Hands what Twisted says from warning upwards to `logging`; daphne throws all of it away."""
    observer: Any = STDLibLogObserver("twisted")
    predicate: Any = LogLevelFilterPredicate(defaultLogLevel=LogLevel.warn)
    return FilteringLogObserver(observer, [predicate])
