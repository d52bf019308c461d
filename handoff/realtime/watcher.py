"""Finds the news whose nudge got lost: one task a process, whatever the number of listeners."""

import asyncio
import logging
from collections.abc import Iterable

from django.conf import settings
from django.db import Error as DatabaseError

from handoff import push
from handoff.realtime import reading
from handoff.selectors import events

WATCH_SECONDS = 2.0

log = logging.getLogger(__name__)

type Counters = dict[str, int]
"""Topic -> the number of its newest event."""


async def run() -> None:
    """Until cancelled: every 2 s, while somebody listens, nudge the topics whose counter moved."""
    if not settings.WATCHER:
        return
    known: Counters = {}
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        listened = push.topics()
        if not listened:
            known = {}
            continue
        try:
            current = await reading.run(counters, listened)
        except DatabaseError:
            log.warning("the counters could not be read; the next look is in 2 s")
            continue
        for topic, number in current.items():
            if known.get(topic) != number:
                push.wake(topic)
        known = current


def counters(topics: Iterable[str]) -> Counters:
    """The counters of those topics that have one: two queries, whatever their number."""
    wanted: dict[str, set[int]] = {"conversation": set(), "agent": set()}
    for topic in topics:
        kind, _, pk = topic.partition(":")
        if kind in wanted:
            wanted[kind].add(int(pk))
    return events.counters(conversations=wanted["conversation"], agents=wanted["agent"])
