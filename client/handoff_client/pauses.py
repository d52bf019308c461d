"""How long to wait before a lost connection is taken up again."""

import random
from typing import Final

from handoff_client.answers import Received

FIRST: Final = 0.5
LONGEST: Final = 30.0


class Pauses:
    """Each is twice as long as the one before, a little spread, until `reset`."""

    def __init__(self) -> None:
        self._next = FIRST

    def reset(self) -> None:
        self._next = FIRST

    def next(self, received: Received | None = None) -> float:
        """Seconds; what the desk asked for by `Retry-After` goes before, up to a minute."""
        length = self._next * random.uniform(0.5, 1)  # noqa: S311  (spreads load, hides nothing)
        self._next = min(self._next * 2, LONGEST)
        asked = received.headers.get("retry-after", "") if received is not None else ""
        if asked.isascii() and asked.isdigit():
            return max(length, min(float(asked[:4]), 60.0))
        return length
