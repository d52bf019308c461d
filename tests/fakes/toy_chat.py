"""The toy's own server, with its rules, and what it posts to our webhook."""

import dataclasses
import itertools
import json
import time
from typing import Any, Final

from tests.fakes import toy
from tests.fakes.providers import Delivery, FakeAnswer, FakeRequest, UnknownPath

KEY: Final = "toy-key-1"
SECRET: Final = "toy-hook-secret"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Posted:
    id: str
    room: str
    thread: str
    text: str
    is_notice: bool
    """It is no part of a handoff."""


class FakeToy:
    """Rooms with threads: the first message opens one, and the others name it."""

    prefix = "/toy/api"

    def __init__(self) -> None:
        self.key = KEY
        self.rooms = {"support": 3, "sales": 2}
        self.posts: list[Posted] = []
        self.queue: list[dict[str, Any]] = []
        """What it gives to whoever asks, instead of posting it."""
        self.hint = ""
        self._by_nonce: dict[str, Posted] = {}
        self._numbers = itertools.count(1)

    def handle(self, request: FakeRequest) -> FakeAnswer:
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return FakeAnswer(401, json={"problem": "no such key"})
        if request.method == "GET" and request.path.startswith("/rooms/"):
            people = self.rooms.get(request.path.removeprefix("/rooms/"))
            return FakeAnswer(json={"people": people}) if people else FakeAnswer(404, json={})
        if request.method == "GET" and request.path == "/queue":
            after = int(request.query["after"] or 0)
            found = self.queue[after : after + 2]
            return FakeAnswer(json={"events": found, "next": after + len(found), "hint": self.hint})
        if request.method != "POST" or request.path != "/messages":
            raise UnknownPath
        asked = request.json()
        if asked["room"] not in self.rooms:
            return FakeAnswer(404, json={"problem": "no such room"})
        if not asked["text"] or len(asked["text"]) > 2000:
            return FakeAnswer(400, json={"problem": "1 to 2000 characters"})
        post = self._by_nonce.get(asked["nonce"]) or self._post(asked)
        return FakeAnswer(json={"id": post.id, "thread": post.thread})

    def _post(self, asked: dict[str, str]) -> Posted:
        number = f"t{next(self._numbers)}"
        thread = asked["thread"] or number
        post = Posted(
            id=number,
            room=asked["room"],
            thread=thread,
            text=asked["text"],
            is_notice=not asked["nonce"],
        )
        self.posts.append(post)
        if asked["nonce"]:
            self._by_nonce[asked["nonce"]] = post
        return post


_events: Final = itertools.count(1)


def said(text: str, *, sender: str = "u-mia", name: str = "Mia", **more: Any) -> dict[str, Any]:
    """What the toy posts when somebody wrote; `thread` or `answers` say where."""
    return {**event("said", **more), "sender": sender, "name": name, "text": text}


def event(type_: str, *, room: str = "support", **more: Any) -> dict[str, Any]:
    return {"id": f"e{next(_events)}", "room": room, "type": type_, **more}


def signed(
    *events: dict[str, Any], secret: str = SECRET, at: float | None = None, body: bytes = b""
) -> Delivery:
    """One call of the toy to our webhook."""
    written = body or json.dumps(list(events)).encode()
    timestamp = str(int(time.time() if at is None else at))
    return Delivery(
        body=written,
        headers={
            "X-Toy-Timestamp": timestamp,
            "X-Toy-Signature": toy.signature(secret, timestamp, written),
        },
    )
