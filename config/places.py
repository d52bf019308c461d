"""So many at once, and so many of one: large bodies and answers fill neither memory nor disk."""

import collections
from collections.abc import Callable
from typing import Any, Final


class Places:
    """Counted on the loop alone. A place is given back by calling what `take` returned."""

    def __init__(self, *, total: int, of_one: int) -> None:
        self._total = total
        self._of_one = of_one
        self._taken: collections.Counter[str] = collections.Counter()

    def take(self, name: str) -> Callable[[], None] | None:
        """None when there is no place, or `name` has its share. Giving back twice does nothing."""
        if self._taken.total() >= self._total or self._taken[name] >= self._of_one:
            return None
        self._taken[name] += 1
        held = [name]

        def give_back() -> None:
            if held:
                self._taken[held.pop()] -= 1

        return give_back


LARGE_BYTES: Final = 2 * 1024 * 1024
"""An answer of more lies in memory until its client has read it: only so many at once, and each
for so long."""
LARGE_SECONDS: Final = 300.0
ANSWERS: Final = Places(total=16, of_one=4)
BODIES: Final = Places(total=16, of_one=16)
"""Bodies of files that arrive; what is too long for any other address lies on disk meanwhile."""


def is_large(start: dict[str, Any]) -> bool:
    """Does the message that begins an answer announce a large one?"""
    lengths = [value for name, value in start["headers"] if name.lower() == b"content-length"]
    return any(int(value) > LARGE_BYTES for value in lengths)
