"""So many at once in this process, and so many of one: whoever finds no place hears so at once."""

import collections
import functools
import threading
from collections.abc import Callable, Hashable


class Places:
    """Who has one, by a key: a channel, an agent, an address."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: collections.Counter[Hashable] = collections.Counter()

    def take(self, key: Hashable, *, total: int, of_one: int) -> Callable[[], None] | None:
        """None when all `total` are taken, or `key` has its share.

        Else what gives the place back, from any thread; a second time it does nothing.
        """
        with self._lock:
            if self._taken.total() >= total or self._taken[key] >= of_one:
                return None
            self._taken[key] += 1
        return functools.partial(self._give_back, [key])

    def _give_back(self, held: list[Hashable]) -> None:
        with self._lock:
            while held:
                key = held.pop()
                self._taken[key] -= 1
                if not self._taken[key]:
                    del self._taken[key]
