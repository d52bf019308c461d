"""Calls of Discord's REST API, as a bot or as a webhook."""

import json
from typing import Any, Final

from django.conf import settings

from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, call, unclear
from handoff.transports.discord_errors import refusal

_VERSION: Final = "1.0"
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
        headers = {
            "User-Agent": f"DiscordBot ({settings.PUBLIC_BASE_URL or _NOWHERE}, {_VERSION})",
        }
        if self._bot_token:
            headers["Authorization"] = f"Bot {self._bot_token}"
        answer = call(
            method,
            f"{settings.DISCORD_API_BASE}{path}",
            deadline=deadline,
            headers=headers,
            json=body,
        )
        if answer.status not in (200, 201):
            raise self._refused(answer, sends=sends)
        return answer

    def _refused(self, answer: HttpAnswer, *, sends: bool) -> TransportError:
        return refusal(answer, sends=sends, secrets=self._secrets)
