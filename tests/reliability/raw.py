"""HTTP by hand, for requests that no client library would send."""

import contextlib
import socket
from collections.abc import Iterable

from tests.config.servers import Server


def answered(server: Server, *parts: bytes, seconds: float = 10.0) -> tuple[int, bytes]:
    """Status and body of what the server says to these bytes; 0 when it only hangs up."""
    with contextlib.closing(server.socket()) as client:
        send(client, parts)
        return read(client, seconds=seconds)


def send(client: socket.socket, parts: Iterable[bytes]) -> None:
    """Everything, unless the server stops listening first."""
    with contextlib.suppress(OSError):
        for part in parts:
            client.sendall(part)


def read(client: socket.socket, *, seconds: float) -> tuple[int, bytes]:
    """Status and body, read to the end; the connection has to be one that is closed."""
    client.settimeout(seconds)
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while chunk := client.recv(65_536):
            received += chunk
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    return (int(head.split(b" ", 2)[1]) if head else 0), body
