"""The guard alone, around real WSGI applications, with scripted clients."""

import asyncio
import json
import threading
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from django.core.handlers.wsgi import WSGIHandler

from config.guard import Guard, under_way
from handoff.contract.answers import DESK_FAULT
from handoff.realtime.wire import Message, Scope

SCOPE: Scope = {
    "type": "http",
    "http_version": "1.1",
    "method": "POST",
    "path": "/api/v1/tool-calls",
    "query_string": b"",
    "headers": [(b"x_forwarded_for", b"6.6.6.6"), (b"content-length", b"999")],
    "server": ("127.0.0.1", 80),
    "client": ("127.0.0.1", 1),
}


class Client:
    """Says some messages, then leaves; keeps what it hears."""

    def __init__(self, *says: Message) -> None:
        self._says = [*says, {"type": "http.disconnect"}]
        self.heard: list[Message] = []

    async def receive(self) -> Message:
        return self._says.pop(0)

    async def send(self, message: Message) -> None:
        self.heard.append(message)


class Recorder:
    """A WSGI application that remembers its calls."""

    def __init__(self) -> None:
        self.seen: list[tuple[WSGIEnvironment, bytes]] = []

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        self.seen.append((environ, environ["wsgi.input"].read(length)))
        start("200 OK", [("Content-Type", "text/plain")])
        return [b"seen"]


def _part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_client_that_leaves_before_the_end_of_its_body_never_reaches_the_view() -> None:
    app, client = Recorder(), Client(_part(b"amount=1&note=hal", more=True))
    asyncio.run(Guard(app, threads=1, cap=100)(SCOPE, client.receive, client.send))
    assert app.seen == []
    assert client.heard == []


def test_the_view_sees_no_underscored_header_and_the_length_that_was_read() -> None:
    app, client = Recorder(), Client(_part(b"amount=1", more=True), _part(b"&note=all"))
    asyncio.run(Guard(app, threads=1, cap=100)(SCOPE, client.receive, client.send))
    [(environ, body)] = app.seen
    assert "HTTP_X_FORWARDED_FOR" not in environ
    assert (environ["CONTENT_LENGTH"], body) == ("17", b"amount=1&note=all")
    assert client.heard[0]["status"] == 200


@pytest.mark.parametrize(("size", "status"), [(100, 200), (101, 413)])
def test_the_cap_is_counted_over_all_parts(size: int, status: int) -> None:
    app, client = Recorder(), Client(_part(b"x" * 60, more=True), _part(b"x" * (size - 60)))
    asyncio.run(Guard(app, threads=1, cap=100)(SCOPE, client.receive, client.send))
    assert client.heard[0]["status"] == status
    assert len(app.seen) == (status == 200)


def test_a_cancelled_call_runs_to_its_end_and_frees_its_thread() -> None:
    released, ended = threading.Event(), threading.Event()

    def app(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        start("200 OK", [])
        released.wait(5)
        for _ in range(100):  # more than the crossing keeps for a client that does not read
            yield b"x"
        ended.set()

    async def leave_and_come_back() -> Message:
        guard = Guard(app, threads=1, cap=100)
        first = Client(_part(b""))
        call = asyncio.create_task(guard(SCOPE, first.receive, first.send))
        await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.wait({call})
        assert call.cancelled()
        assert under_way() == 1
        released.set()
        second = Client(_part(b""))
        await guard(SCOPE, second.receive, second.send)
        return second.heard[0]

    assert asyncio.run(leave_and_come_back())["status"] == 200
    assert ended.is_set()
    assert under_way() == 0


def test_a_client_that_cannot_be_spoken_to_does_not_hold_the_thread() -> None:
    def app(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        start("200 OK", [])
        return [b"x"] * 100

    async def deaf(message: Message) -> None:
        raise ValueError("no such header")

    async def speak() -> Message:
        guard = Guard(app, threads=1, cap=100)
        with pytest.raises(ValueError, match="no such header"):
            await guard(SCOPE, Client(_part(b"")).receive, deaf)
        other = Client(_part(b""))
        await guard(SCOPE, other.receive, other.send)
        return other.heard[0]

    assert asyncio.run(speak())["status"] == 200


def test_a_call_given_up_for_want_of_a_thread_is_never_begun() -> None:
    app, free = Recorder(), threading.Event()

    def busy(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        free.wait(5)
        return app(environ, start)

    async def two_calls() -> tuple[Client, Client]:
        guard = Guard(busy, threads=1, cap=100, patience=0.2)
        first, second = Client(_part(b"1")), Client(_part(b"2"))
        calls = [
            asyncio.create_task(guard(SCOPE, client.receive, client.send))
            for client in (first, second)
        ]
        await calls[1]
        free.set()
        await calls[0]
        while under_way():
            await asyncio.sleep(0.01)
        return first, second

    first, second = asyncio.run(two_calls())
    assert first.heard[0]["status"] == 200
    assert second.heard[0]["status"] == 503
    assert (b"retry-after", b"30") in second.heard[0]["headers"]
    assert [body for _, body in app.seen] == [b"1"]


@pytest.mark.parametrize("stop", [asyncio.CancelledError, GeneratorExit])
def test_a_view_that_is_told_to_stop_is_a_fault_that_the_client_hears_of(
    stop: type[BaseException],
) -> None:
    def app(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        raise stop

    client = Client(_part(b""))
    scope = {**SCOPE, "path": "/api/v1/tool-calls"}
    asyncio.run(Guard(app, threads=1, cap=100)(scope, client.receive, client.send))
    assert client.heard[0]["status"] == 500
    body = json.loads(b"".join(message.get("body", b"") for message in client.heard))
    assert body == {"error": DESK_FAULT, "code": "desk_fault"}
    assert under_way() == 0


def test_a_content_type_that_django_cannot_read_is_answered() -> None:
    headers = [(b"content-type", b"application/json; " + b"a" * 11_000)]
    client = Client(_part(b"{}"))
    guard = Guard(WSGIHandler(), threads=1, cap=100)
    scope = {**SCOPE, "path": "/api/v1/tool-calls", "headers": headers}
    asyncio.run(guard(scope, client.receive, client.send))
    assert client.heard[0]["status"] == 400
    body = b"".join(message.get("body", b"") for message in client.heard)
    assert json.loads(body)["code"] == "malformed"


@pytest.mark.parametrize("owner", [False, True])
def test_a_form_that_finds_no_thread_comes_back_with_what_was_typed(*, owner: bool) -> None:
    free = threading.Event()

    def busy(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        free.wait(5)
        start("200 OK", [])
        return []

    body = b"submission_id=abc&value.notes=left+%3Cb%3E&outcome=resolved&note=&answered_by=Kim"
    path = "/r/owner/hs_1/" if owner else "/r/token.signature/"

    async def two_calls() -> Client:
        guard = Guard(busy, threads=1, cap=1000, patience=0.2)
        first, second = Client(_part(b"1")), Client(_part(body))
        call = asyncio.create_task(guard(SCOPE, first.receive, first.send))
        await asyncio.sleep(0.05)
        await guard({**SCOPE, "path": path}, second.receive, second.send)
        free.set()
        await call
        while under_way():
            await asyncio.sleep(0.01)
        return second

    start, content = asyncio.run(two_calls()).heard
    page = content["body"].decode()
    assert start["status"] == 503
    assert (b"referrer-policy", b"no-referrer") in start["headers"]
    assert "notes: left &lt;b&gt;" in page
    # an owner's form needs a token that only a view can make
    assert ('action="/r/token.signature/"' in page) is not owner
    assert ('name="submission_id" value="abc"' in page) is not owner
