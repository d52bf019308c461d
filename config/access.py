"""The access log: one line for each request and socket, never a query, never a capability."""

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

log = logging.getLogger("handoff.access")

_QUIET = frozenset({"/healthz", "/readyz"})


def record_request(*, method: bytes, uri: bytes, status: int | None, seconds: float) -> None:
    """One answered request; `status` is None when the client left before its answer began."""
    path = _path(uri.decode("latin-1"))
    if path not in _QUIET:
        said = status if status is not None else "left"
        log.info("%s %s %s %.3f s", method.decode("latin-1"), path, said, seconds)


def record(protocol: str, action: str, details: Mapping[str, Any]) -> None:
    """daphne's action logger, of which we use what it says about sockets.

    Its line for a request is written with the last piece of the answer, and so never when the
    client has read the whole answer and left before that.
    """
    if protocol == "websocket" and action in ("connected", "disconnected", "rejected"):
        log.info("socket %s %s", _path(str(details["path"])), action)


def _path(uri: str) -> str:
    """Decoded, so that `/%72/…` is masked like `/r/…` (`config.logs`), and without what stands
    after `?`: it may hold a ticket.
    """
    return unquote(uri.partition("?")[0])
