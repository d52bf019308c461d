"""A running desk with one shop bot, and short ways to talk to it."""

import contextlib
import json
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tests import environment, factories
from tests.config.servers import Server, running

PRODUCT = "config.settings"
type Frame = dict[str, Any]


class Desk:
    """One server, its database file, and what `seed` made in it."""

    def __init__(self, server: Server, file: Path, seed: dict[str, Any]) -> None:
        self.server = server
        self.file = file
        self.token: str = seed["token"]
        self.other_token: str = seed["other_token"]
        self.channel: int = seed["channel"]
        self.owner: str = seed["owner"]
        self.stranger: str = seed["stranger"]

    def call(
        self, method: str, path: str, body: object = None, *, token: str | None = None
    ) -> tuple[int, Any]:
        """Status and JSON of one REST call."""
        headers = {"Authorization": f"Bearer {token or self.token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        with contextlib.closing(self.server.connection()) as connection:
            text = json.dumps(body) if body is not None else None
            connection.request(method, path, body=text, headers=headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def get(self, path: str, *, token: str | None = None, **query: object) -> tuple[int, Any]:
        return self.call("GET", f"{path}?{urlencode(query)}", token=token)

    def conversation(self) -> str:
        """The id of a new one."""
        body = {"external_id": secrets.token_hex(8), "subscriber": {"name": "Ada"}}
        status, made = self.call("POST", "/api/v1/conversations", body)
        assert status == 201
        return str(made["id"])

    def say(
        self, conversation: str, text: str, *, author: str = "subscriber", client_id: str = ""
    ) -> Any:
        """The answer to one posted turn."""
        body = {"client_id": client_id or secrets.token_hex(8), "author": author, "text": text}
        status, turn = self.call("POST", f"/api/v1/conversations/{conversation}/messages", body)
        assert status in (200, 201), turn
        return turn

    def hand_over(self, conversation: str) -> str:
        """The id of a handoff to the owner's inbox."""
        args = {
            "channel_id": self.channel,
            "summary": factories.SUMMARY,
            "expected_action": factories.EXPECTED_ACTION,
        }
        body = {"name": "handoff_request", "args": args, "conversation": conversation}
        status, answer = self.call("POST", "/api/v1/tool-calls", body)
        assert (status, answer["isError"]) == (200, False), answer
        return str(answer["result"]["handoff_session_id"])

    def cancel(self, session: str) -> None:
        args = {"handoff_session_id": session, "reason": "no longer needed"}
        body = {"name": "handoff_cancel", "args": args}
        status, answer = self.call("POST", "/api/v1/tool-calls", body)
        assert (status, answer["isError"]) == (200, False), answer

    def newest(self) -> int:
        """The number of the shop bot's newest event."""
        [(number,)] = self.sql("SELECT last_event_id FROM handoff_agent WHERE name = 'shop'")
        return int(number)

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(self.file, timeout=20)) as database:
            rows = database.execute(statement, values).fetchall()
            database.commit()
            return rows

    def ticket(self, conversation: str, role: str = "subscriber") -> str:
        path = f"/api/v1/conversations/{conversation}/tickets"
        status, made = self.call("POST", path, {"role": role})
        assert status == 201
        return str(made["ticket"])

    @contextlib.contextmanager
    def socket(
        self, path: str, *, origin: str | None = None, headers: dict[str, str] | None = None
    ) -> Iterator[ClientConnection]:
        with connect(
            f"ws://127.0.0.1:{self.server.port}{path}",
            origin=Origin(origin) if origin else None,
            additional_headers=headers,
            max_queue=None,  # a client that leaves with unread frames still hears the close
        ) as opened:
            yield opened

    @contextlib.contextmanager
    def chat(
        self, conversation: str, *, role: str = "subscriber", after: int | None = None
    ) -> Iterator[tuple[ClientConnection, Frame]]:
        """A chat socket and its hello."""
        query: dict[str, object] = {"ticket": self.ticket(conversation, role)}
        if after is not None:
            query["last_event_id"] = after
        with self.socket(f"/ws/chat?{urlencode(query)}") as socket:
            hello = receive(socket)
            assert hello["type"] == "hello", hello
            yield socket, hello


def receive(socket: ClientConnection, type_: str | None = None, *, seconds: float = 5) -> Frame:
    """The next frame, or the next one of a type: what comes before it is passed over."""
    deadline = time.monotonic() + seconds
    while True:
        frame: Frame = json.loads(socket.recv(timeout=deadline - time.monotonic()))
        if type_ is None or frame["type"] == type_:
            return frame


def closing(socket: ClientConnection, *, seconds: float = 10) -> tuple[int, str]:
    """Code and sentence of a refusal: the last frame says the same as the close frame."""
    said = receive(socket, "error", seconds=seconds)
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=seconds)
    assert closed.value.rcvd is not None
    assert said["data"] == {"code": closed.value.rcvd.code, "error": said["error"]}
    return closed.value.rcvd.code, said["error"]


def send(socket: ClientConnection, type_: str, **data: object) -> None:
    socket.send(json.dumps({"v": 1, "type": type_, "data": data}))


@contextlib.contextmanager
def open_desk(folder: Path, empty: Path, **environ: str) -> Iterator[Desk]:
    """A desk of its own in `folder`, on a copy of an empty database; the watcher is off."""
    file = folder / "desk.sqlite3"
    file.write_bytes(empty.read_bytes())
    url = f"sqlite:///{file}"
    secret = settings.SECRET_KEY  # of this process too: a test signs what it forges
    seeded = subprocess.run(
        [sys.executable, "-m", "tests.realtime.seed"],
        cwd=environment.ROOT,
        env=environment.clean_environment(folder) | {"DATABASE_URL": url, "SECRET_KEY": secret},
        capture_output=True,
        check=True,
        timeout=60,
    )
    fast = {"HANDOFF_TURNS_PER_SECOND": "100000", "HANDOFF_CALLS_PER_MINUTE": "100000"}
    switches = {"HANDOFF_WATCHER": "0", "SECRET_KEY": secret, **fast, **environ}
    with running(folder / "state", url, settings=PRODUCT, **switches) as server:  # type: ignore[arg-type]
        yield Desk(server, file, json.loads(seeded.stdout))
