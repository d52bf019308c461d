"""The product's application with a poll, a stream and a socket that need no rows."""

from typing import Any

from channels.generic.http import AsyncHttpConsumer
from channels.generic.websocket import AsyncWebsocketConsumer

from config import asgi
from handoff import push
from handoff.realtime.wire import Receive, Scope, Send
from tests.config.probe.urls import LOG


class Poll(AsyncHttpConsumer):  # type: ignore[misc]
    """Answers when the topic of the query is nudged, or after a minute."""

    async def handle(self, body: bytes) -> None:
        topic = self.scope["query_string"].decode()
        async with push.listen(topic) as listener:
            woken = await listener.wait(60)
        said = b"stopping" if listener.stopping else b"woken" if woken else b"nothing"
        await self.send_response(200, said)


class Stream(AsyncHttpConsumer):  # type: ignore[misc]
    """Says one word, then waits for the end of the server."""

    async def handle(self, body: bytes) -> None:
        await self.send_headers(headers=[(b"content-type", b"text/event-stream")])
        await self.send_body(b": open\n\n", more_body=True)
        async with push.listen("nobody") as listener:
            while not listener.stopping:
                await listener.wait(60)
        await self.send_body(b"")


class Socket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Echoes text; `read <n>` reads the probe's log until n rows were sent."""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        command, _, count = (text_data or "").partition(" ")
        if command != "read":
            await self.send(text_data=text_data)
            return
        cursor = 0
        async with push.listen("probe") as listener:
            await self.send(text_data="listening")
            while cursor < int(count):
                rows = LOG[cursor:]
                if rows:
                    assert rows == list(range(cursor, cursor + len(rows)))
                    cursor += len(rows)
                    await self.send(text_data=str(cursor))
                await listener.wait(25)


PROBES: dict[str, Any] = {
    "/probe/poll": Poll.as_asgi(),
    "/probe/events": Stream.as_asgi(),
    "/ws/probe": Socket.as_asgi(),
}


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await PROBES.get(scope.get("path", ""), asgi.application)(scope, receive, send)
