"""One read for all who ask the same, and never one that had begun."""

import asyncio
import itertools

from handoff.realtime import reading


def test_whoever_asks_after_a_read_began_gets_a_read_of_their_own() -> None:
    """The thread is often faster than the loop that queued the read."""
    numbers = itertools.count()

    async def one_after_the_other() -> list[int]:
        return [await reading.shared(next, numbers) for _ in range(2000)]

    assert asyncio.run(one_after_the_other()) == list(range(2000))
