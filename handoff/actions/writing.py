"""`with writing():` around every write: the one helper that all actions use."""

import contextlib
import threading
from collections.abc import Iterator
from functools import partial
from typing import Final

from django.db import connection, transaction

from handoff import push

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


def nudge_on_commit(*topics: str) -> None:
    """Wake whoever listens once the rows are there; a nudge that fails is only a late one."""
    transaction.on_commit(partial(push.nudge, *topics), robust=True)
