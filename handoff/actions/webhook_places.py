"""Places for what an agent's call makes a thread of the web server wait for."""

import contextlib
import threading
from collections.abc import Iterator

from handoff.errors import TooFast


class Busy(TooFast):
    """No place was free: nothing was looked up, sent or written."""

    def __init__(self, words: str, retry_after: int) -> None:
        super().__init__(retry_after)
        self.sentence = f"{words} This call did nothing; call again in {retry_after} seconds."
        self.args = (self.sentence,)


class Places:
    """So many at the same time in this process, and one of each agent."""

    def __init__(self, total: int, *, words: str, retry_after: int) -> None:
        """`words` say why there is none; after `retry_after` seconds, over 1, there may be one."""
        self._total = total
        self._words = words
        self._retry_after = retry_after
        self._lock = threading.Lock()
        self._taken: set[int] = set()

    @contextlib.contextmanager
    def place(self, agent: int) -> Iterator[None]:
        """One of them, by the agent's key; raises Busy at once when there is none for it."""
        with self._lock:
            if agent in self._taken or len(self._taken) >= self._total:
                raise Busy(self._words, self._retry_after)
            self._taken.add(agent)
        try:
            yield
        finally:
            with self._lock:
                self._taken.discard(agent)
