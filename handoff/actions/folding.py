"""A flood of refusals is counted, not listed: the trail must be no way to fill a disk."""

import collections
import dataclasses
import threading
import time
from typing import Final

ROWS_A_MINUTE: Final = 60
"""Refusals of one token, of one webhook, or of all who have neither, that this process lists one by
one."""
MINUTE: Final = 60.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Who:
    """Whose refusals: an agent whose secret verified, a channel's webhook, or nobody that is known.

    What comes from providers is counted by what it is, in `action`: "" for the calls of agents.
    """

    agent: str = ""
    token: str = ""
    channel: int | None = None
    action: str = ""


@dataclasses.dataclass(kw_only=True)
class Fold:
    """One minute of refusals of one caller."""

    who: Who
    began: float = dataclasses.field(default_factory=time.monotonic)
    listed: int = 0
    folded: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    """How many were not listed, by their reason."""


_folds: dict[Who, Fold] = {}
"""One for each caller of the last minute: at most the tokens and channels that exist, and two."""
_lock: Final = threading.Lock()


def is_listed(who: Who, reason: str) -> bool:
    """Counts one refusal; True when it is to have a row of its own."""
    with _lock:
        fold = _folds.setdefault(who, Fold(who=who))
        if fold.listed < ROWS_A_MINUTE:
            fold.listed += 1
            return True
        fold.folded[reason] += 1
        return False


def take_over(*, unfinished: bool = False) -> list[Fold]:
    """Hand out the minutes that are over, or all of them, for whoever writes them down."""
    now = time.monotonic()
    with _lock:
        over = [fold for fold in _folds.values() if unfinished or now - fold.began >= MINUTE]
        for fold in over:
            del _folds[fold.who]
    return [fold for fold in over if fold.folded]


def give_back(folds: list[Fold]) -> None:
    """They could not be written: the next round has them, with what was counted meanwhile."""
    with _lock:
        for fold in folds:
            newer = _folds.setdefault(fold.who, fold)
            if newer is not fold:
                newer.began = min(newer.began, fold.began)
                newer.listed += fold.listed
                newer.folded += fold.folded
