"""Places for what an agent's call makes a thread of the web server wait for."""

import contextlib
from collections.abc import Iterator

from handoff.actions.places import Places
from handoff.errors import TooFast


class Busy(TooFast):
    """No place was free: nothing was looked up, sent or written."""

    def __init__(self, words: str, retry_after: int) -> None:
        super().__init__(retry_after)
        self.sentence = f"{words} This call did nothing; call again in {retry_after} seconds."
        self.args = (self.sentence,)


class AgentPlaces:
    """So many at the same time in this process, and one of each agent."""

    def __init__(self, total: int, *, words: str, retry_after: int) -> None:
        """`words` say why there is none; after `retry_after` seconds, over 1, there may be one."""
        self._total = total
        self._words = words
        self._retry_after = retry_after
        self._places = Places()

    @contextlib.contextmanager
    def place(self, agent: int) -> Iterator[None]:
        """One of them, by the agent's key; raises Busy at once when there is none for it."""
        give_back = self._places.take(agent, total=self._total, of_one=1)
        if give_back is None:
            raise Busy(self._words, self._retry_after)
        try:
            yield
        finally:
            give_back()
