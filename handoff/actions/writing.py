"""`with writing():` around every write: the one helper that all actions use."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from django.db import (
    InterfaceError,
    OperationalError,
    close_old_connections,
    connection,
    transaction,
)

from handoff import push

PAUSE_SECONDS: Final = 0.5
_one_writer: Final = threading.RLock()


@contextlib.contextmanager
def queued() -> Iterator[None]:
    """Around a single statement, which is its own transaction unless it stands in one.

    On SQLite the process's writers queue here, in order, not on the file.
    """
    with _one_writer if connection.vendor == "sqlite" else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """One transaction, in the queue of writers.

    Nothing slow and no provider inside it. Lock order: conversation, session, bucket, channel, and
    the agent's counter last.
    """
    with queued(), transaction.atomic():
        yield


def patiently[T](call: Callable[[], T], *, until: float) -> T:
    """What `call` returns; it is tried again while the database is lost or busy.

    Raises what it raised last when `until` (of `time.monotonic()`) would pass before the next try.
    """
    while True:
        try:
            return call()
        except (OperationalError, InterfaceError):
            if time.monotonic() + PAUSE_SECONDS > until:
                raise
        time.sleep(PAUSE_SECONDS)
        close_old_connections()


def nudge_on_commit(*topics: str) -> None:
    """Wake whoever listens once the rows are there; a nudge that fails is only a late one."""
    transaction.on_commit(partial(push.nudge, *topics), robust=True)
