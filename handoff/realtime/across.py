"""Carries nudges between the processes of one deployment, over one Redis group.

Redis is a hint on top of a hint: while it is away nothing waits for it, the watcher finds what
was missed within seconds, and after each (re)connection everybody looks at their rows once.
"""

import asyncio
import logging
import secrets

from channels_redis.pubsub import RedisPubSubChannelLayer
from redis.exceptions import RedisError

from handoff import push

GROUP = "nudges"
BEAT_SECONDS = 5.0
SILENCE_SECONDS = 15.0
PAUSE_SECONDS = 1.0

log = logging.getLogger(__name__)


class Across:
    """One task of a process. It sends our nudges to the group and takes those of the others."""

    def __init__(self, redis_url: str) -> None:
        self._redis_url = redis_url
        self._name = secrets.token_hex(8)
        self._unsent: set[str] = set()
        self._some_unsent = asyncio.Event()
        self._away = False

    async def run(self) -> None:
        """Until cancelled; joins the group again whenever Redis was away."""
        push.carry(self._take)
        while True:
            try:
                await self._stay(RedisPubSubChannelLayer(hosts=[self._redis_url], prefix="handoff"))
            except* (RedisError, OSError) as problems:
                if not self._away:
                    log.warning("Redis is away, nudges stay local: %s", problems.exceptions[0])
                self._away = True
            await asyncio.sleep(PAUSE_SECONDS)

    def _take(self, topic: str) -> None:
        self._unsent.add(topic)
        self._some_unsent.set()

    async def _stay(self, layer: RedisPubSubChannelLayer) -> None:
        """In the group until something breaks, which raises."""
        try:
            channel = await layer.new_channel()
            await layer.group_add(GROUP, channel)
            if self._away:
                log.warning("Redis is back")
            self._away = False
            push.wake_all()
            async with asyncio.TaskGroup() as both:
                both.create_task(self._send(layer))
                both.create_task(self._receive(layer, channel))
        finally:
            await layer.flush()

    async def _send(self, layer: RedisPubSubChannelLayer) -> None:
        """What is unsent, and at least every few seconds something that we ourselves hear."""
        while True:
            topics = sorted(self._unsent)
            self._some_unsent.clear()
            await layer.group_send(GROUP, {"type": "nudge", "from": self._name, "topics": topics})
            self._unsent.difference_update(topics)
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._some_unsent.wait()
            except TimeoutError:
                continue

    async def _receive(self, layer: RedisPubSubChannelLayer, channel: str) -> None:
        """Wake what others nudged. Silence means a dead connection: raises ConnectionError."""
        while True:
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    message = await layer.receive(channel)
            except TimeoutError:
                raise ConnectionError("nothing was heard, not even ourselves") from None
            if message["from"] != self._name:
                for topic in message["topics"]:
                    push.wake(topic)
