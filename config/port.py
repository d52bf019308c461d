"""`python -m config.port HOST PORT`: says so when the port can't be listened on, before bin/run
shows addresses that would not answer."""

import socket
import sys


def problem(host: str, port: int) -> str:
    """A sentence, or nothing when the port is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return f"Cannot listen on {host}, port {port}: {error.strerror}. Name another with --port."
    return ""


if __name__ == "__main__":
    if said := problem(sys.argv[1], int(sys.argv[2])):
        sys.exit(f"run: {said}")
