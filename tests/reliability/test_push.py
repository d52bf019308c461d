"""Row 8: every message reaches every client that stays or comes back, once and in order.

Two processes of the product on PostgreSQL and on a Redis that dies under them.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.realtime.desk import Desk
from tests.reliability.desks import open_desks
from tests.reliability.figures import report
from tests.reliability.followers import Follower
from tests.reliability.redis_server import OwnRedis
from tests.reliability.sizes import sizes
from tests.reliability.stopped_reader import StoppedReader, following

pytestmark = pytest.mark.postgres

CATCH_UP_SECONDS = 5.0


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    server = OwnRedis(tmp_path)
    server.start()
    yield server
    server.kill()


def ports(desks: Sequence[Desk]) -> list[int]:
    return [desk.server.port for desk in desks]


def burst(desks: Sequence[Desk], conversation: str, count: int) -> int:
    """Post so many messages, in turn at each process, four at a time; the newest number."""
    with ThreadPoolExecutor(4) as writers:
        turns = writers.map(
            lambda number: desks[number % len(desks)].say(conversation, f"line {number}"),
            range(count),
        )
        return max(int(turn["message"]["event_id"]) for turn in turns)


def messages(desk: Desk, conversation: str) -> list[int]:
    """The event numbers of all messages of a conversation, from the rows."""
    found: list[int] = []
    while True:
        after = found[-1] if found else 0
        path = f"/api/v1/conversations/{conversation}/messages"
        _, page = desk.get(path, after=after, limit=200)
        found += [message["event_id"] for message in page["data"]]
        if not page["has_more"]:
            return found


def check(follower: Follower, expected: Sequence[int]) -> None:
    """No gap and no repeat, by number; in order."""
    seen = follower.ids()
    assert len(seen) == len(set(seen)), "a number came twice"
    assert seen == sorted(seen), "out of order"
    assert follower.ids("message.created") == list(expected)


@sizes(quick=10, full=90)
def test_every_message_is_seen_once_and_in_order_whatever_breaks(
    size: int, tmp_path: Path, database_url: str, own_redis: OwnRedis
) -> None:
    """`size`: for how many seconds the slow consumer reads nothing."""
    with open_desks(tmp_path, database_url, "one", "two", REDIS_URL=own_redis.url) as desks:
        redis_dies(desks, own_redis, count=500 if size > 10 else 200)
        reader_sleeps(desks, seconds=size)
        clients_come_back(desks)
        for desk in desks:
            assert "Traceback" not in desk.server.log()


def redis_dies(desks: Sequence[Desk], own_redis: OwnRedis, *, count: int) -> None:
    """In the middle of a burst, and is back before its end; some read here, some there."""
    conversation = desks[0].conversation()
    followers = [Follower(desks[0].token, conversation, [port]) for port in ports(desks) * 2]
    with following(*followers):
        burst(desks, conversation, count // 3)
        own_redis.kill()
        last = burst(desks, conversation, count // 3)
        posted = time.monotonic()
        late = max(f.wait_for(last, seconds=CATCH_UP_SECONDS) for f in followers)
        without = max(0.0, late - posted)
        own_redis.start()
        last = burst(desks, conversation, count // 3)
        posted = time.monotonic()
        late = max(f.wait_for(last, seconds=CATCH_UP_SECONDS) for f in followers)
    expected = messages(desks[0], conversation)
    for follower in followers:
        check(follower, expected)
    report(
        8,
        f"Redis killed and started within {len(expected)} messages, {len(followers)} clients at "
        f"2 processes: 0 gaps, 0 repeats, the last {without:.2f} s after its post "
        f"without Redis, {max(0.0, late - posted):.2f} s with it",
    )


def reader_sleeps(desks: Sequence[Desk], *, seconds: int) -> None:
    """For longer than a ping may take, in the full size: it is cut off and comes back."""
    conversation = desks[0].conversation()
    reader = StoppedReader(desks[0].token, conversation, ports(desks))
    with following(reader):
        reader.wait_for(burst(desks, conversation, 5), seconds=20)
        reader.pause()
        slept = time.monotonic()
        last = burst(desks, conversation, 500)
        time.sleep(max(0.0, slept + seconds - time.monotonic()))
        woke = time.monotonic()
        assert reader.seen[-1].at < slept + 0.5, "it did not stop"
        reader.go_on()
        caught_up = reader.wait_for(last, seconds=20) - woke
    check(reader, messages(desks[0], conversation))
    assert caught_up < CATCH_UP_SECONDS
    report(
        8,
        f"a reader stopped for {woke - slept:.0f} s in a burst of 500: 0 gaps, 0 repeats, "
        f"caught up in {caught_up:.2f} s",
    )


def clients_come_back(desks: Sequence[Desk]) -> None:
    """Fifty times, each time at the other process, while it goes on."""
    conversation = desks[0].conversation()
    client = Follower(desks[0].token, conversation, ports(desks), drop_after=8)
    with following(client):
        last = burst(desks, conversation, 400)
        posted = time.monotonic()
        caught_up = max(0.0, client.wait_for(last, seconds=30) - posted)
        while client.connections < 51:
            last = burst(desks, conversation, 20)
            client.wait_for(last, seconds=30)
    check(client, messages(desks[0], conversation))
    report(
        8,
        f"{client.connections - 1} reconnects within {len(client.seen)} messages: 0 gaps, "
        f"0 repeats, the burst was read {caught_up:.2f} s after its end",
    )
