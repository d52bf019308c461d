"""The access log: one line for each request and socket, never a query, never a capability."""

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

log = logging.getLogger("handoff.access")

_QUIET = frozenset({"/healthz", "/readyz"})


def record(protocol: str, action: str, details: Mapping[str, Any]) -> None:
    """daphne's action logger.

    The path is decoded first, so that `/%72/…` is masked like `/r/…` (`config.logs`), and what
    stands after `?` is left out: it may hold a ticket.
    """
    path = unquote(str(details["path"]).partition("?")[0])
    if path in _QUIET:
        return
    if protocol == "http" and action == "complete":
        seconds = details["time_taken"]
        log.info("%s %s %s %.3f s", details["method"], path, details["status"], seconds)
    elif protocol == "websocket" and action in ("connected", "disconnected", "rejected"):
        log.info("socket %s %s", path, action)
