"""The chat providers on loopback: one server, the rules of each in a module of its own.

with Providers() as fakes:
    settings.TELEGRAM_API_BASE = fakes.base("telegram")
    fakes.script("telegram", [FakeAnswer(429, json={...}), Taken(Rude.SILENT)], path="sendMessage")
    ...
    assert fakes.requests("telegram", path="sendMessage")[0].json()["chat_id"] == 42

Tests take the fixture `providers`, which points the settings at it and fails the test on a path
that no fake knows. Without a script each fake answers as its provider would.
"""

import collections
import dataclasses
import http.client
import json
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from types import TracebackType
from typing import Any, Final, Protocol, Self
from urllib.parse import parse_qsl, urlsplit

from django.test import Client

from tests.fakes.rude import Rude, misbehave

FAKES: Final = {
    "telegram": "tests.fakes.telegram.FakeTelegram",
    "slack": "tests.fakes.slack.FakeSlack",
    "discord": "tests.fakes.discord.FakeDiscord",
    "whatsapp": "tests.fakes.whatsapp.FakeWhatsApp",
}
BASES: Final = {provider: f"{provider.upper()}_API_BASE" for provider in FAKES}
"""The setting that names each provider's base."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class FakeRequest:
    provider: str
    method: str
    path: str
    """Below the provider's base: `/bot123:abc/sendMessage`."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes
    at: float
    """Seconds since the epoch."""

    def json(self) -> Any:
        """The body read as JSON; ValueError when it is none."""
        return json.loads(self.body)

    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclasses.dataclass(frozen=True)
class FakeAnswer:
    """`json` is written out as the body where it is given."""

    status: int = 200
    json: Any = None
    body: bytes = b""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def written(self) -> tuple[dict[str, str], bytes]:
        body = self.body if self.json is None else json.dumps(self.json).encode()
        kind = {} if self.json is None else {"Content-Type": "application/json; charset=utf-8"}
        return {**kind, "Content-Length": str(len(body)), **self.headers}, body


@dataclasses.dataclass(frozen=True)
class Taken:
    """The provider does what was asked, and then its answer gets lost in this way."""

    how: Rude


type Scripted = FakeAnswer | Rude | Taken


class UnknownPath(Exception):
    """What a fake raises for a path or a method that its provider does not have."""


class FakeProvider(Protocol):
    prefix: str
    """Path of its base on this server, such as `/slack/api`."""

    def handle(self, request: FakeRequest) -> FakeAnswer:
        """Answer as the provider would. One at a time, so that it needs no lock."""
        ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Delivery:
    """One call of a provider to our webhook, signed; the provider's module builds it."""

    body: bytes = b""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    query: str = ""
    method: str = "POST"
    content_type: str = "application/json"


@dataclasses.dataclass(frozen=True)
class Delivered:
    """What our webhook answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Providers:
    """Listens on 127.0.0.1 while its `with` block runs; safe to use from any thread.

    `heard` is called with each request as it arrives; `others` are fakes beside those that ship.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        heard: Callable[[FakeRequest, FakeAnswer | None], None] | None = None,
        others: Mapping[str, FakeProvider] | None = None,
    ) -> None:
        self.fakes: dict[str, Any] = {name: _load(path) for name, path in FAKES.items()} | dict(
            others or {}
        )
        """The fake of each provider, for what only its own module knows."""
        self.problems: list[str] = []
        """What no provider would have been asked; the fixture fails the test for any."""
        self.stopping = threading.Event()
        self._heard = heard
        self._requests: list[FakeRequest] = []
        self._scripts: dict[str, list[tuple[str, Scripted]]] = collections.defaultdict(list)
        self._changed = threading.Condition(threading.RLock())
        self._turns = {name: threading.Lock() for name in self.fakes}
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.providers = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="fake providers", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def base(self, provider: str) -> str:
        """What the provider's `*_API_BASE` has to say."""
        return self.url + str(self.fakes[provider].prefix)

    def script(self, provider: str, responses: Iterable[Scripted], *, path: str = "") -> None:
        """The next answers of a provider, in order, to requests whose path contains `path`.

        A FakeAnswer or a Rude comes in place of the provider's own answer, which then does
        nothing; a Taken comes after it did what was asked.
        """
        with self._changed:
            self._scripts[provider] += [(path, response) for response in responses]

    def requests(self, provider: str, *, path: str = "") -> list[FakeRequest]:
        """What came for a provider, in order, scripted or not."""
        with self._changed:
            return [
                request
                for request in self._requests
                if request.provider == provider and path in request.path
            ]

    def wait_for_request(
        self, provider: str, *, path: str = "", number: int = 1, seconds: float = 10
    ) -> FakeRequest:
        """The `number`th request, waiting for it at most `seconds`."""
        with self._changed:
            came = self._changed.wait_for(
                lambda: len(self.requests(provider, path=path)) >= number, timeout=seconds
            )
            found = self.requests(provider, path=path)
            assert came, f"{len(found)} of {number} requests came within {seconds} s"
            return found[number - 1]

    def deliver(self, delivery: Delivery, *, to: str, client: Client | None = None) -> Delivered:
        """Post a signed event to our webhook: `to` is a URL, or a path for a Django test client."""
        url = f"{to}?{delivery.query}" if delivery.query else to
        if client is not None:
            response = client.generic(
                delivery.method, url, delivery.body, delivery.content_type,
                headers=dict(delivery.headers),
            )  # fmt: skip
            content = b"".join(response) if response.streaming else response.content
            return Delivered(response.status_code, _lower(response.headers.items()), content)
        place = urlsplit(url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port or 80, timeout=30)
        try:
            connection.request(
                delivery.method,
                f"{place.path}?{place.query}" if place.query else place.path,
                body=delivery.body,
                headers={"Content-Type": delivery.content_type, **delivery.headers},
            )
            answer = connection.getresponse()
            return Delivered(answer.status, _lower(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def answer(self, request: FakeRequest) -> FakeAnswer | Rude:
        """What to say to a request, recorded first."""
        with self._changed:
            self._requests.append(request)
            scripted = self._next(request)
            self._changed.notify_all()
        if isinstance(scripted, FakeAnswer | Rude):
            return self._told(request, scripted)
        answer = self._handled(request)
        return self._told(request, scripted.how if scripted else answer)

    def locate(self, path: str) -> tuple[str, str]:
        """The provider, and the path below its base; ("", path) for nobody's."""
        for name, fake in self.fakes.items():
            if path.startswith(f"{fake.prefix}/"):
                return name, path.removeprefix(fake.prefix)
        return "", path

    def _next(self, request: FakeRequest) -> Scripted | None:
        waiting = self._scripts[request.provider]
        for number, (path, response) in enumerate(waiting):
            if path in request.path:
                del waiting[number]
                return response
        return None

    def _handled(self, request: FakeRequest) -> FakeAnswer:
        try:
            if request.provider not in self.fakes:
                raise UnknownPath
            with self._turns[request.provider]:
                answer: FakeAnswer = self.fakes[request.provider].handle(request)
        except UnknownPath:
            self.problems.append(f"nobody has {request.method} {request.provider}{request.path}")
        except Exception:  # noqa: BLE001  (whatever a fake throws fails the test)
            self.problems.append(traceback.format_exc())
        else:
            return answer
        return FakeAnswer(500, body=b"no such path at any provider")

    def _told(self, request: FakeRequest, answer: FakeAnswer | Rude) -> FakeAnswer | Rude:
        if self._heard is not None:
            self._heard(request, answer if isinstance(answer, FakeAnswer) else None)
        return answer


def _load(path: str) -> FakeProvider:
    module, _, name = path.rpartition(".")
    fake: FakeProvider = getattr(import_module(module), name)()
    return fake


def _lower(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}


class _Server(ThreadingHTTPServer):
    providers: Providers
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Called inside of an except clause."""
        problem = traceback.format_exc()
        if "ConnectionResetError" not in problem and "BrokenPipeError" not in problem:
            self.providers.problems.append(problem)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        providers = self.server.providers
        place = urlsplit(self.path)
        provider, path = providers.locate(place.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer = providers.answer(
            FakeRequest(
                provider=provider,
                method=self.command,
                path=path,
                query=dict(parse_qsl(place.query, keep_blank_values=True)),
                headers=_lower(self.headers.items()),
                body=body,
                at=time.time(),
            )
        )
        if isinstance(answer, Rude):
            self.close_connection = True
            misbehave(self.connection, answer, stop=providers.stopping)
            return
        headers, written = answer.written()
        self.send_response(answer.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(written)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Tests read `requests`."""
