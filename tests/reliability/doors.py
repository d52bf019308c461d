"""The desk as the world meets it: HTTP calls of an agent, a recipient and an owner."""

import contextlib
import dataclasses
import http.client
import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

from websockets.sync.client import ClientConnection, connect

FORM_TYPE: Final = "application/x-www-form-urlencoded"
CSRF: Final = "c" * 32


class Gone(Exception):
    """The server is not there, or went away before it had answered."""


@dataclasses.dataclass(frozen=True)
class Seed:
    """What tests/reliability/seed.py made."""

    token: str
    owner: str
    """The session cookie of the agent's owner."""
    email: int
    inbox: int
    """Ids of the two channels."""


@dataclasses.dataclass(frozen=True)
class Reply:
    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Doors:
    """Any thread; each call has a connection of its own. All raise Gone."""

    def __init__(self, port: int, seed: Seed) -> None:
        self.port = port
        self.seed = seed

    def tool(
        self,
        name: str,
        args: dict[str, Any],
        *,
        conversation: str = "",
        key: str = "",
        run: str = "",
    ) -> Reply:
        """One tool call; `conversation` is the agent's own id of it."""
        body: dict[str, Any] = {"name": name, "args": args}
        if conversation:
            body["conversation"] = {"external_id": conversation}
        if run:
            body["run"] = run
        return self.rest("POST", "/api/v1/tool-calls", body, key=key)

    def rest(self, method: str, path: str, body: object = None, *, key: str = "") -> Reply:
        headers = {
            "Authorization": f"Bearer {self.seed.token}",
            "Content-Type": "application/json",
        }
        if key:
            headers["Idempotency-Key"] = key
        return self._ask(method, path, json.dumps(body) if body is not None else "", headers)

    def conversation(self, external_id: str) -> str:
        """The desk's id of a conversation."""
        reply = self.rest("POST", "/api/v1/conversations", {"external_id": external_id})
        assert reply.status in (200, 201), reply.text
        return str(reply.json["id"])

    def say(self, conversation: str, text: str, *, client_id: str) -> Reply:
        """One turn of the subscriber."""
        body = {"client_id": client_id, "author": "subscriber", "text": text}
        return self.rest("POST", f"/api/v1/conversations/{conversation}/messages", body)

    def form(self, token: str, submission: str, **entries: str) -> Reply:
        """Send the return form behind a link; entries by field name."""
        fields = {
            "submission_id": submission,
            "outcome": "resolved",
            "note": "",
            "send_anyway": "1",
            **{f"value.{name}": text for name, text in entries.items()},
        }
        return self._ask("POST", f"/r/{token}/", urlencode(fields), {"Content-Type": FORM_TYPE})

    def look(self, path: str) -> Reply:
        """A page without any credential."""
        return self._ask("GET", path, "", {})

    def press(self, button: str, session: str, **fields: str) -> Reply:
        """A button of the owner's inbox."""
        headers = {
            "Content-Type": FORM_TYPE,
            "Cookie": f"sessionid={self.seed.owner}; csrftoken={CSRF}",
        }
        body = urlencode({"csrfmiddlewaretoken": CSRF, **fields})
        return self._ask("POST", f"/inbox/h/{session}/{button}/", body, headers)

    @contextlib.contextmanager
    def chat(self, ticket: str) -> Iterator[ClientConnection]:
        """The subscriber's socket, open and greeted."""
        url = f"ws://127.0.0.1:{self.port}/ws/chat?{urlencode({'ticket': ticket})}"
        with connect(url) as socket:
            socket.recv(timeout=20)
            yield socket

    def ticket(self, conversation: str) -> str:
        """A ticket for the subscriber's socket."""
        path = f"/api/v1/conversations/{conversation}/tickets"
        reply = self.rest("POST", path, {"role": "subscriber"})
        assert reply.status == 201, reply.text
        return str(reply.json["ticket"])

    def _ask(self, method: str, path: str, body: str, headers: dict[str, str]) -> Reply:
        try:
            with contextlib.closing(
                http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            ) as connection:
                connection.request(method, path, body=body or None, headers=headers)
                response = connection.getresponse()
                return Reply(response.status, response.headers, response.read().decode())
        except (OSError, http.client.HTTPException) as error:
            raise Gone from error


def ask_for_the_bot(socket: ClientConnection) -> None:
    """The subscriber asks to be back with the bot, and waits until the chat has said something."""
    socket.send(json.dumps({"v": 1, "type": "conversation.resume_bot", "data": {}}))
    socket.recv(timeout=20)


def read_to(socket: ClientConnection, last: int) -> list[dict[str, Any]]:
    """The numbered frames of a socket up to one number."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["id"] < last:
        frame = json.loads(socket.recv(timeout=20))
        if "id" in frame:
            found.append(frame)
    return found


def session_of(reply: Reply) -> str:
    """The `handoff_session_id` that an answer to `handoff_request` names; "" for none."""
    found = re.search(r'"handoff_session_id":"(hs_[a-z2-7]+)"', reply.text)
    if found is None:
        found = re.search(r'"handoff":\{"id":"(hs_[a-z2-7]+)"', reply.text)
    return found[1] if found else ""
