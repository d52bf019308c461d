"""Clients that open a socket and read nothing of it, by hand: no library holds still like that."""

import base64
import contextlib
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Final

WINDOW_BYTES: Final = 4096
"""What the system takes for such a client; the rest has to stay where it comes from."""


def open_deaf(port: int, path: str, headers: Mapping[str, str]) -> socket.socket:
    """A WebSocket whose handshake was sent and whose answer nobody reads."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW_BYTES)
    client.settimeout(10)
    client.connect(("127.0.0.1", port))
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1",
        "Host: localhost",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {key}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    client.sendall("\r\n".join([*lines, "", ""]).encode())
    return client


@contextlib.contextmanager
def deaf_agents(port: int, token: str, count: int) -> Iterator[list[socket.socket]]:
    """So many of an agent's sockets that ask for the whole log and read none of it."""
    with contextlib.ExitStack() as closing:
        headers = {"Authorization": f"Bearer {token}"}
        yield [
            closing.enter_context(
                contextlib.closing(open_deaf(port, "/ws/agent?last_event_id=0", headers))
            )
            for _ in range(count)
        ]


def cut_off(client: socket.socket, *, within: float) -> bool:
    """Whether the server ends this connection; what it had sent by then is read and forgotten.

    Reading lets the server send more, so a client that was not cut off by now never is.
    """
    deadline = time.monotonic() + within
    client.settimeout(0.5)
    try:
        while time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                if not client.recv(65_536):
                    return True
    except ConnectionError:
        return True
    return False
