"""Requests to one desk: who asks, how long, and what is tried again."""

import json
import logging
import ssl
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

from handoff_client import answers, wire
from handoff_client.answers import Answer, Received

FIRST_SHARE: Final = 2 / 3
"""Of the time of one call: the rest is for a second try."""
PAUSE: Final = 0.3

log = logging.getLogger("handoff_client")


class Door:
    """The REST API of a desk for one token."""

    def __init__(
        self, url: str, token: str | None, *, timeout: float, context: ssl.SSLContext | None
    ) -> None:
        self.timeout = timeout
        self._place = wire.Place(url, context)
        self._token = wire.Token(token)

    def __repr__(self) -> str:
        return repr(self._place)

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Received | Answer | None:
        """One request that may be repeated, tried twice within `timeout`.

        An Answer when it could not even be sent, None when no HTTP answer came.
        """
        ready = self.prepared(method, path, body, headers)
        if isinstance(ready, Answer):
            return ready
        end = time.monotonic() + self.timeout
        found = self.once(ready, end - self.timeout * (1 - FIRST_SHARE))
        if found is None:
            time.sleep(min(PAUSE, self.timeout / 20))
            found = self.once(ready, end)
        return found

    def prepared(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> wire.Ask | Answer:
        """The request as it goes out, or why it can't."""
        if not self._token:
            return answers.failure(answers.NO_CREDENTIAL, "no_credential")
        data = None
        if body is not None:
            try:
                data = json.dumps(body, allow_nan=False, default=_plain).encode()
            except (TypeError, ValueError, RecursionError):
                return answers.failure(answers.NOT_SENDABLE, "not_sendable")
        return wire.Ask(method, path, self._token, data, headers or {})

    def once(self, ready: wire.Ask, deadline: float) -> Received | None:
        """The answer to one try; None, and a line in the log, when there was none."""
        try:
            return wire.exchange(self._place, ready, deadline)
        except wire.NoAnswer as problem:
            note(ready, problem)
            return None

    def opened(self, ready: wire.Ask, deadline: float) -> AbstractContextManager[wire.Opened]:
        """As `wire.opened`."""
        return wire.opened(self._place, ready, deadline)


def note(ready: wire.Ask, problem: wire.NoAnswer) -> None:
    path = ready.path.partition("?")[0]
    log.warning("no answer to %s %s: %s", ready.method, path, problem)


def _plain(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError("not plain JSON")
