"""Files through the doors of a real server."""

import contextlib
import http.client
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests import environment
from tests.realtime.desk import Desk

CHUNK = 64 * 1024


@dataclass(frozen=True)
class Reply:
    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


def ask(
    desk: Desk,
    method: str,
    path: str,
    body: bytes | Iterable[bytes] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """One call; an iterable goes out in chunks, without a length."""
    with contextlib.closing(desk.server.connection(60)) as connection:
        chunked = body is not None and not isinstance(body, bytes)
        with contextlib.suppress(ConnectionError):
            connection.request(
                method, path, body=body, headers=dict(headers or {}), encode_chunked=chunked
            )
        response = connection.getresponse()
        return Reply(response.status, response.headers, response.read())


def upload(
    desk: Desk,
    conversation: str,
    content: bytes | Iterable[bytes],
    *,
    kind: str,
    name: str = "x",
    token: str = "",
) -> Reply:
    """As the agent, by its token."""
    headers = {"Authorization": f"Bearer {token or desk.token}", "Content-Type": kind}
    if not isinstance(content, bytes):
        headers["Transfer-Encoding"] = "chunked"
    path = f"/api/v1/conversations/{conversation}/files?{urlencode({'name': name})}"
    return ask(desk, "POST", path, content, headers)


def upload_with(
    desk: Desk, ticket: str, content: bytes, *, kind: str, name: str, **headers: str
) -> Reply:
    """As the visitor, by a ticket."""
    path = f"/files/?{urlencode({'ticket': ticket, 'name': name})}"
    return ask(desk, "POST", path, content, {"Content-Type": kind, **headers})


def fetch(desk: Desk, file: str, *, token: str = "") -> Reply:
    headers = {"Authorization": f"Bearer {token or desk.token}"}
    return ask(desk, "GET", f"/api/v1/files/{file}", headers=headers)


def say(desk: Desk, conversation: str, text: str, *files: str, author: str = "subscriber") -> Any:
    """The answer to a line that files come with."""
    body = {"client_id": text, "author": author, "text": text, "files": list(files)}
    return desk.call("POST", f"/api/v1/conversations/{conversation}/messages", body)


def here(url: str) -> str:
    """The path of an address of ours."""
    assert url.startswith(environment.PUBLIC_BASE_URL + "/")
    return urlsplit(url).path
