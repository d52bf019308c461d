"""Calls of Discord's REST API, as a bot or as a webhook."""

import json
import time
from typing import Any, Final

from django.conf import settings

from handoff.contract.kinds import TransportErrorKind
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, call, unclear
from handoff.transports.discord_errors import kept_out, refusal

_VERSION: Final = "1.0"
_away_until: Final[dict[str, float]] = {}
"""By base address, the `time.monotonic()` until which this process does not call it."""
_NOWHERE: Final = "https://handoff-desk.invalid"
"""In place of an address of ours, where PUBLIC_BASE_URL has none."""


class DiscordApi:
    """Its paths are of our own words and of digits that were checked, never of a whole address."""

    def __init__(self, *, bot_token: str = "", secrets: tuple[str, ...] = ()) -> None:
        self._bot_token = bot_token
        self._secrets = (bot_token, *secrets)

    def ask(
        self, method: str, path: str, *, deadline: float, body: Any = None, sends: bool = False
    ) -> dict[str, Any]:
        """The JSON object of a success.

        `sends` is for a call that posts a message. Raises TransportError.
        """
        answer = self._call(method, path, deadline=deadline, body=body, sends=sends)
        found = answer.json()
        if found is None:
            raise unclear(answer, sends=sends)
        return found

    def ask_list(self, path: str, *, deadline: float) -> list[Any]:
        """The JSON list of a success. Raises TransportError."""
        answer = self._call("GET", path, deadline=deadline, body=None, sends=False)
        try:
            found = json.loads(answer.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list):
            raise unclear(answer, sends=False)
        return found

    def _call(
        self, method: str, path: str, *, deadline: float, body: Any, sends: bool
    ) -> HttpAnswer:
        base = settings.DISCORD_API_BASE
        _stay_away(base)
        headers = {
            "User-Agent": f"DiscordBot ({settings.PUBLIC_BASE_URL or _NOWHERE}, {_VERSION})",
        }
        if self._bot_token:
            headers["Authorization"] = f"Bot {self._bot_token}"
        answer = call(
            method,
            f"{base}{path}",
            deadline=deadline,
            headers=headers,
            json=body,
            secrets=self._secrets,
        )
        if answer.status in (200, 201):
            return answer
        error = refusal(answer, sends=sends)
        if kept_out(answer):
            _away_until[base] = time.monotonic() + (error.retry_after or 0.0)
        raise error


def _stay_away(base: str) -> None:
    """Raises TransportError while our address is kept out: each call would prolong that."""
    left = _away_until.get(base, 0.0) - time.monotonic()
    if left > 0:
        raise TransportError(
            TransportErrorKind.RATE_LIMITED,
            "not called: what stands before Discord keeps this desk's address out",
            retry_after=left,
            provider_code="429",
            hint="Cloudflare keeps this desk's address out for a while; the desk waits.",
        )
