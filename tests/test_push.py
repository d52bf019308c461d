"""The hub alone: threads nudge, listeners clear and then read; nothing that matters is lost."""

import asyncio
import threading
import time
from collections.abc import Callable

from handoff import push


def _threads(count: int, work: Callable[[], None]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_ten_thousand_nudges_from_four_threads_lose_no_row() -> None:
    rows: list[int] = []
    lock = threading.Lock()

    def write() -> None:
        for _ in range(2500):
            with lock:
                rows.append(len(rows))
            push.nudge("rows")

    async def read() -> int:
        cursor = wakes = 0
        async with push.listen("rows") as listener:
            while cursor < 10_000:
                assert await listener.wait(10)
                wakes += 1
                cursor = len(rows)
        return wakes

    async def everybody() -> list[int]:
        async with asyncio.TaskGroup() as readers:
            reading = [readers.create_task(read()) for _ in range(20)]
            await asyncio.sleep(0)
            writers = _threads(4, write)
        for writer in writers:
            writer.join()
        return [task.result() for task in reading]

    assert max(asyncio.run(everybody())) <= 10_000


def test_a_nudge_between_two_waits_is_kept_and_a_second_one_coalesces() -> None:
    async def listen() -> list[bool]:
        async with push.listen("a", "b") as listener:
            push.nudge("a", "b")
            push.nudge("b")
            await asyncio.sleep(0.01)
            return [await listener.wait(0.01), await listener.wait(0.01)]

    assert asyncio.run(listen()) == [True, False]


def test_an_idle_loop_is_woken_at_once_from_a_thread() -> None:
    async def listen() -> float:
        async with push.listen("topic") as listener:
            threading.Timer(0.1, push.nudge, ("topic",)).start()
            began = time.monotonic()
            assert await listener.wait(5)
            return time.monotonic() - began

    assert asyncio.run(listen()) < 1


def test_topics_are_those_that_somebody_listens_to() -> None:
    async def listen() -> tuple[frozenset[str], frozenset[str]]:
        async with push.listen("a", "b"), push.listen("b"):
            within = push.topics()
        return within, push.topics()

    assert asyncio.run(listen()) == (frozenset({"a", "b"}), frozenset())


def test_a_nudge_without_a_loop_sets_the_signals_of_threads_and_never_raises() -> None:
    asyncio.run(_capture())  # a loop that has ended
    signal = push.thread_signal("test work")
    push.nudge("other work")
    assert not signal.is_set()
    push.nudge("test work")
    assert signal.is_set()


async def _capture() -> None:
    push.capture()
