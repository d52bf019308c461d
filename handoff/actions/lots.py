"""Tokens that this process took in advance: a read must not cost a write each time."""

import dataclasses
import threading
import time
from typing import Final

KEPT_SECONDS: Final = 10.0
"""What is not spent by then is lost, so that nobody saves up beside the bucket."""


@dataclasses.dataclass
class _Lot:
    left: int
    until: float
    """`time.monotonic()`."""


_lots: dict[str, _Lot] = {}
"""At most one for each bucket whose name a good token stands behind."""
_lock: Final = threading.Lock()


def spend(name: str) -> bool:
    """Spend one token of a lot; False when none is left."""
    with _lock:
        lot = _lots.get(name)
        if lot is None or not lot.left or time.monotonic() >= lot.until:
            return False
        lot.left -= 1
        return True


def keep(name: str, tokens: int) -> None:
    """A lot was taken from the bucket; it replaces what is left of an older one."""
    with _lock:
        _lots[name] = _Lot(left=tokens, until=time.monotonic() + KEPT_SECONDS)
