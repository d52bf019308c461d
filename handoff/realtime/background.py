"""The tasks that each serving process keeps on its loop: the watcher, and nudges across."""

import asyncio

from django.conf import settings

from handoff import push
from handoff.realtime import watcher
from handoff.realtime.across import Across

_tasks: list[asyncio.Task[None]] = []


def begin() -> None:
    """Start them on the running loop, once; later calls do nothing."""
    push.capture()
    if _tasks:
        return
    _tasks.append(asyncio.create_task(watcher.run(), name="watcher"))
    if settings.REDIS_URL:
        across = Across(settings.REDIS_URL)
        _tasks.append(asyncio.create_task(across.run(), name="nudges across"))


async def end() -> None:
    """Stop them. The last nudges of a draining process were sent before this."""
    for task in _tasks:
        task.cancel()
    if _tasks:
        await asyncio.wait(_tasks, timeout=2.0)
