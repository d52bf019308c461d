"""A desk, and a shop on another origin that embeds its chat just as docs/chat-widget.md says."""

import contextlib
import dataclasses
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from http import cookies, server
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from playwright.sync_api import Browser, Page, Playwright

from tests import environment, factories, programs
from tests.config.servers import Server, running
from tests.fakes.smtp import SmtpServer

PAGE: Final = environment.ROOT / "docs" / "chat-widget.md"
DOCUMENTED: Final = "https://desk.example.org"
HOST: Final = "shop.example"
ELSEWHERE: Final = "evil.example"
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_POLICY: Final = re.compile(r"^    Content-Security-Policy: (.*)$", re.MULTILINE)


def documented(language: str) -> str:
    """The first block of a language in the page."""
    blocks: list[tuple[str, str]] = _BLOCK.findall(PAGE.read_text())
    return next(text for name, text in blocks if name == language)


def documented_policy() -> str:
    found = _POLICY.search(PAGE.read_text())
    assert found is not None
    return found[1]


@dataclasses.dataclass
class Desk:
    """A server of the desk, its mail server, and what was made in it."""

    server: Server
    smtp: SmtpServer
    seed: dict[str, Any]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def call(self, path: str, body: object) -> Any:
        """The JSON answer to a POST of the agent's."""
        request = urllib.request.Request(
            self.url + path,
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.seed['token']}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def conversation(self, visitor: str) -> str:
        return str(self.call("/api/v1/conversations", {"external_id": visitor})["id"])

    def says(self, visitor: str, text: str, *, author: str = "agent") -> None:
        turn = {"client_id": secrets.token_hex(8), "author": author, "text": text}
        self.call(f"/api/v1/conversations/{self.conversation(visitor)}/messages", turn)

    def hand_over(self, visitor: str, channel: str) -> str:
        """The id of a handoff to `inbox` or `mail`."""
        args = {
            "channel_id": self.seed[channel],
            "summary": factories.SUMMARY,
            "expected_action": factories.EXPECTED_ACTION,
        }
        call = {
            "name": "handoff_request",
            "args": args,
            "conversation": {"external_id": visitor},
        }
        answer = self.call("/api/v1/tool-calls", call)
        named = answer["result"].get("details", answer["result"])
        return str(named["handoff_session_id"])

    def cancel(self, session: str) -> None:
        args = {"handoff_session_id": session, "reason": "no longer needed"}
        self.call("/api/v1/tool-calls", {"name": "handoff_cancel", "args": args})


class Shop:
    """The shop's own server. Each browser context is a visitor, named by its cookie."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.html = ""
        self.headers: dict[str, str] = {}
        self.ticket: Callable[[str], Any] = lambda visitor: {}

    def url(self, host: str = HOST) -> str:
        return f"http://{host}:{self.port}"

    def embed(self, desk_url: str, token: str) -> None:
        """Take page, policy and backend from the documentation, for a desk at another address."""
        here = desk_url.replace("http", "ws", 1)
        self.html = documented("html").replace(DOCUMENTED, desk_url)
        policy = documented_policy().replace(DOCUMENTED, desk_url)
        policy = policy.replace(DOCUMENTED.replace("https", "wss"), here)
        self.headers = {
            "Content-Security-Policy": f"{policy}; require-trusted-types-for 'script'",
            "Cross-Origin-Embedder-Policy": "require-corp",
        }
        scope: dict[str, Any] = {}
        with patch.dict(os.environ, DESK_URL=desk_url, DESK_TOKEN=token):
            exec(documented("python"), scope)
        self.ticket = lambda visitor: scope["chat_ticket"](visitor, "Ana")

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        listening = server.ThreadingHTTPServer(("127.0.0.1", self.port), self._handler())
        thread = threading.Thread(target=listening.serve_forever, name="shop", daemon=True)
        thread.start()
        try:
            yield
        finally:
            listening.shutdown()
            thread.join(5)
            listening.server_close()

    def _handler(self) -> type[server.BaseHTTPRequestHandler]:
        shop = self

        class Handler(server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kind = {"Content-Type": "text/html; charset=utf-8"}
                if self.path != "/":
                    self._answer(404, b"", {})
                elif self._visitor():
                    self._answer(200, shop.html.encode(), kind | shop.headers)
                else:
                    fresh = f"visitor={secrets.token_hex(6)}"
                    self._answer(
                        200, shop.html.encode(), kind | shop.headers | {"Set-Cookie": fresh}
                    )

            def do_POST(self) -> None:
                body = json.dumps(shop.ticket(self._visitor())).encode()
                self._answer(201, body, {"Content-Type": "application/json"})

            def _visitor(self) -> str:
                found = cookies.SimpleCookie(self.headers.get("Cookie", "")).get("visitor")
                return found.value if found else ""

            def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Says nothing."""

        return Handler


class Wire:
    """A relay of TCP in front of the desk, to be cut and mended."""

    def __init__(self, target: int) -> None:
        self.port = programs.free_port()
        self._target = target
        self._whole = threading.Event()
        self._ends: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, name="wire", daemon=True).start()
        self._whole.set()

    def cut(self) -> None:
        """Every connection breaks, and new ones get nowhere."""
        self._whole.clear()
        while self._ends:
            _end(self._ends.pop())

    def mend(self) -> None:
        self._whole.set()

    def close(self) -> None:
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if not self._whole.is_set():
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                self._ends += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    _end(sink)
    source.close()


def _end(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def launch(playwright: Playwright, chromium_path: str) -> Browser:
    """A browser for which the shop's names are this machine."""
    names = f"MAP {HOST} 127.0.0.1, MAP {ELSEWHERE} 127.0.0.1"
    return playwright.chromium.launch(
        executable_path=chromium_path, args=["--no-sandbox", f"--host-resolver-rules={names}"]
    )


@contextlib.contextmanager
def embedded(folder: Path, database_url: str, **environ: str) -> Iterator[tuple[Desk, Shop]]:
    """Both are running, and the agent's list holds the shop's origin and no other."""
    shop, port = Shop(programs.free_port()), programs.free_port()
    settings = {
        "DATABASE_URL": database_url,
        "PUBLIC_BASE_URL": f"http://127.0.0.1:{port}",
        "SECRET_KEY": "one key for the seed and the server",
        "HANDOFF_ENCRYPTION_KEYS": "A" * 43 + "=",
        "HANDOFF_COLLECT_SECONDS": "0.1",
        **environ,
    }
    folder.mkdir(mode=0o700)
    with SmtpServer() as smtp, shop.open():
        _run(folder, settings, "manage.py", "prepare")
        seeded = _run(folder, settings, "-m", "tests.browser.embed_seed", shop.url(), smtp.url)
        with running(
            folder, database_url, settings="config.settings", port=port, environ=settings
        ) as started:
            desk = Desk(started, smtp, json.loads(seeded))
            shop.embed(desk.url, desk.seed["token"])
            yield desk, shop


def _run(folder: Path, settings: dict[str, str], *program: str) -> str:
    return subprocess.run(
        [sys.executable, *program],
        cwd=environment.ROOT,
        env=environment.clean_environment(folder) | settings,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout


def visitor_of(page: Page) -> str:
    """The name under which the shop knows the visitor of a page."""
    return next(one["value"] for one in page.context.cookies() if one["name"] == "visitor")
