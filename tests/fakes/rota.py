"""A rota over HTTP that answers well, badly, or not at all."""

import json
import socketserver
import threading
import time
from enum import StrEnum
from typing import Any, Self

WELL = json.dumps({"on_duty": "Mia"}).encode()


class Mood(StrEnum):
    WELL = "well"
    NOBODY = "nobody"
    BAD_GATEWAY = "bad gateway"
    CLOSES = "closes"
    HANGS = "hangs"
    TRICKLES = "trickles"
    TRICKLES_HEAD = "trickles head"
    NONSENSE = "nonsense"


class Rota:
    """Listens on a free port of 127.0.0.1 while entered; `questions` are the bodies it got."""

    def __init__(self) -> None:
        self.mood = Mood.WELL
        self.questions: list[dict[str, Any]] = []
        self.closing = threading.Event()
        rota = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                rota.questions.append(_body(self.rfile))
                try:
                    rota._answer(self.wfile)
                except OSError:
                    return  # the route has hung up

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/questions"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, out: Any) -> None:
        head = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n"
        match self.mood:
            case Mood.WELL:
                out.write(head % (b"200 OK", len(WELL)) + WELL)
            case Mood.NOBODY:
                out.write(head % (b"409 Conflict", 0))
            case Mood.BAD_GATEWAY:
                page = b"<html>rota-7.internal is down</html>"
                out.write(head % (b"502 Bad Gateway", len(page)) + page)
            case Mood.NONSENSE:
                out.write(head % (b"200 OK", 9) + b"not JSON!")
            case Mood.HANGS:
                self.closing.wait(60)
            case Mood.TRICKLES:
                out.write(head % (b"200 OK", 60_000))
                self._drip(out)
            case Mood.TRICKLES_HEAD:
                out.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                self._drip(out)
            case Mood.CLOSES:
                pass

    def _drip(self, out: Any) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and not self.closing.wait(0.05):
            out.write(b" ")


def _body(lines: Any) -> dict[str, Any]:
    length = 0
    while line := lines.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    found: dict[str, Any] = json.loads(lines.read(length))
    return found
