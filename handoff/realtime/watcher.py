"""Finds the news whose nudge got lost: one task a process, whatever the number of listeners.

That somebody may no longer listen is news, too: an agent was disabled, a conversation deleted.
"""

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

type Counters = dict[str, tuple[int, bool] | None]
"""Topic -> the number of its newest event and whether the agent is enabled; None: it is gone."""


async def run() -> None:
    """Until cancelled: every 2 s, while somebody listens, nudge the topics that changed."""
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
        for topic, state in current.items():
            if topic not in known or known[topic] != state:
                push.wake(topic)
        known = current


def counters(topics: Iterable[str]) -> Counters:
    """The counters of those topics that have one: two queries, whatever their number."""
    wanted: dict[str, set[int]] = {"conversation": set(), "agent": set()}
    for topic in topics:
        kind, _, pk = topic.partition(":")
        if kind in wanted:
            wanted[kind].add(int(pk))
    gone: Counters = {f"{kind}:{pk}": None for kind, pks in wanted.items() for pk in pks}
    return gone | events.counters(conversations=wanted["conversation"], agents=wanted["agent"])
