"""The database for code on the loop, on a few threads of its own.

Not `database_sync_to_async`: that is one thread for the whole process, and a slow read of one
socket would hold up all others. Writes have other threads than reads, as they wait for locks; and
neither waits for those that serve pages, or keeps one of them.
"""

import asyncio
import functools
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import close_old_connections

READERS = 3
WRITERS = 4

_readers = ThreadPoolExecutor(READERS, thread_name_prefix="reading")
_writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="writing")
_queued: dict[Hashable, asyncio.Future[Any]] = {}
_queueing = threading.Lock()
"""A thread may begin a read before the loop has noted that it is queued."""


async def run[**P, T](call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `call` returns or raises; its connection is checked before and given back after."""
    work = functools.partial(_fresh, call, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_readers, work)


async def write[**P, T](call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """As `run`, for what changes rows."""
    work = functools.partial(_fresh, call, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_writers, work)


async def shared[**P, T](call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """As `run`, but one read for all who ask the same while it still waits for a thread.

    Arguments are hashable. Nobody joins a read that has begun: whoever cleared a mark and then
    asks here sees every row that was committed before the mark.
    """
    key = (call, args, tuple(sorted(kwargs.items())))
    with _queueing:
        queued: asyncio.Future[T] | None = _queued.get(key)
        if queued is None:
            work = functools.partial(_begun, key, call, *args, **kwargs)
            queued = asyncio.get_running_loop().run_in_executor(_readers, work)
            _queued[key] = queued
    # one who leaves must not cancel it for the others
    return await asyncio.shield(queued)


def _begun[**P, T](key: Hashable, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    with _queueing:
        _queued.pop(key, None)
    return _fresh(call, *args, **kwargs)


def _fresh[**P, T](call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    close_old_connections()
    try:
        return call(*args, **kwargs)
    finally:
        close_old_connections()
