"""Waits for the end of a handoff in steps, so that threads and event loops can do the waiting."""

import logging
import time
import urllib.parse
from collections.abc import Callable
from typing import Final

from handoff_client import answers
from handoff_client.answers import Answer, Received
from handoff_client.door import Door
from handoff_client.pauses import Pauses

POLL_SECONDS: Final = 25.0
"""The longest that the desk lets a poll wait."""
GRACE: Final = 10.0
ENDED: Final = frozenset({"released", "failed"})

log = logging.getLogger("handoff_client")


class Wait:
    """One wait for one handoff.

    `step` polls once and gives the answer when the wait is over, else None; then sleep for `pause`
    seconds and step again.
    """

    def __init__(
        self, door: Door, session: str, seconds: float, *, status: Callable[[str], Answer]
    ) -> None:
        self.pause = 0.0
        self._door = door
        self._session = session
        self._status = status
        self._end = time.monotonic() + seconds
        self._pauses = Pauses()

    def step(self) -> Answer | None:
        began = time.monotonic()
        found = self._poll(max(0.0, min(POLL_SECONDS, self._end - began)))
        if isinstance(found, Answer):
            return found
        if found is None or found.may_pass:
            return self._later(self._pauses.next(found))
        if not found.is_success:
            return answers.refusal(found)
        handoff = answers.json_object(found.body)
        status = handoff.get("status") if handoff is not None else None
        if not isinstance(status, str):
            log.warning("the handoff that the desk shows is not readable")
            return self._later(self._pauses.next())
        if status in ENDED:
            return self._told()
        self._pauses.reset()
        # a desk with no room for waiters answers at once
        return self._later(0.0 if time.monotonic() - began > 1 else 1.0)

    def _poll(self, seconds: float) -> Received | Answer | None:
        name = urllib.parse.quote(self._session, safe="")
        ready = self._door.prepared("GET", f"/api/v1/wait/handoffs/{name}?seconds={seconds:.1f}")
        if isinstance(ready, Answer):
            return ready
        return self._door.once(ready, time.monotonic() + seconds + GRACE)

    def _told(self) -> Answer | None:
        """The words for the end; None when they could not be had and there is time to ask again."""
        answer = self._status(self._session)
        lost = answer.handoff is None and answer.code in ("incomplete", "desk_unavailable")
        return self._later(self._pauses.next()) if lost else answer

    def _later(self, pause: float) -> Answer | None:
        left = self._end - time.monotonic()
        if left <= 0:
            return self._status(self._session)
        self.pause = min(pause, left)
        return None
