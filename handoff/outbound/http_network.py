"""The network under one HTTP call: a checked address, one watchdog, and whether anything left."""

import socket
import ssl
from collections.abc import Iterable

import httpcore2

from handoff.outbound.connect import CONNECT_SECONDS, Watchdog, connect
from handoff.outbound.targets import Allowed


class Network(httpcore2.NetworkBackend):
    """Opens the one connection of a call. Raises OSError as the socket does.

    httpcore2's own backend looks names up without a deadline, connects to whatever it finds, and
    its timeouts restart with every byte.
    """

    def __init__(self, watchdog: Watchdog, *, allowed: Allowed | None) -> None:
        self.watchdog = watchdog
        self.allowed = allowed
        self.sent = False
        """Whether a byte of the request has left: from then on the provider may have it."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        connection = connect(host, port, watchdog=self.watchdog, allowed=self.allowed)
        return _Stream(connection, self)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, connection: socket.socket, network: Network) -> None:
        self._socket = connection
        self._network = network

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        self._socket.settimeout(min(CONNECT_SECONDS, self._left()))
        try:
            self._socket.getpeername()  # of a connection that is gone, wrapping loses the handle
            wrapped = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except OSError:
            self.close()
            raise
        return _Stream(wrapped, self._network)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        unsent = memoryview(buffer)
        try:
            while unsent:
                self._socket.settimeout(self._left())
                count = self._socket.send(unsent)
                self._network.sent = True
                unsent = unsent[count:]
        except OSError as error:
            # a server may answer before it has read all, so httpcore2 then looks for an answer
            raise httpcore2.WriteError from error

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._socket.settimeout(self._left())
        return self._socket.recv(max_bytes)

    def close(self) -> None:
        self._socket.close()

    def _left(self) -> float:
        return max(0.001, self._network.watchdog.remaining())
