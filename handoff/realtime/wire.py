"""What the doors outside Django's handlers share: ASGI types, headers, short answers."""

import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

type Scope = dict[str, Any]
type Message = dict[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type App = Callable[[Scope, Receive, Send], Awaitable[None]]
type Headers = list[tuple[bytes, bytes]]

JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"
HTML = b"text/html; charset=utf-8"
CSP = b"default-src 'none'; frame-ancestors 'none'"
SOCKET_BYTES = 64 * 1024
"""The longest message that a socket takes."""


def header(scope: Scope, name: bytes) -> str:
    """The value of one request header (`name` in lower case); "" when it is absent.

    A header given several times is joined by commas, as WSGI does it.
    """
    return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


def headers(kind: bytes, extra: Iterable[tuple[bytes, bytes]] = (), *, csp: bytes = CSP) -> Headers:
    """Response headers for an answer that no Django middleware sees, with a new request id."""
    return [
        (b"content-type", kind),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"content-security-policy", csp),
        (b"x-request-id", secrets.token_hex(8).encode()),
        *extra,
    ]


def as_json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


async def answer(
    send: Send,
    status: int,
    body: bytes,
    *,
    kind: bytes = JSON,
    csp: bytes = CSP,
    extra: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """One whole response."""
    length = (b"content-length", str(len(body)).encode())
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": headers(kind, [length, *extra], csp=csp),
        }
    )
    await send({"type": "http.response.body", "body": body})
