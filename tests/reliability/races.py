"""Actors that meet at the doors of a desk at the same moment."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from handoff import links
from tests import factories
from tests.reliability.doors import Doors, Reply, session_of
from tests.reliability.rows import Rows


def handed_over(doors: Doors, mark: str) -> str:
    """The id of a new session whose recipient is the owner's inbox."""
    args = {
        "channel_id": doors.seed.inbox,
        "summary": f"{mark} {factories.SUMMARY}",
        "expected_action": factories.EXPECTED_ACTION,
        "expected_return": factories.FIELDS,
    }
    reply = answered(lambda: doors.tool("handoff_request", args, conversation=mark, key=mark))
    assert "action" in reply.json["result"], reply.text
    return session_of(reply)


def answered(call: Callable[[], Reply]) -> Reply:
    """The first answer that is not `come back later`."""
    while True:
        reply = call()
        if reply.status != 503:
            assert reply.status in (200, 201, 302), reply.text
            return reply


def together[T](actors: Sequence[Callable[[], T]], *, within: float = 0.0) -> list[T]:
    """What each came back with; all start within so many seconds of each other."""
    start = threading.Barrier(len(actors))

    def go(actor: Callable[[], T]) -> T:
        start.wait()
        time.sleep(random.uniform(0, within))
        return actor()

    with ThreadPoolExecutor(len(actors)) as pool:
        return list(pool.map(go, actors))


def token_of(rows: Rows, session: str) -> str:
    """The token of one session's return link."""
    [row] = rows.read(
        "SELECT l.link_id FROM handoff_returnlink l JOIN handoff_session s"
        f" ON s.id = l.session_id WHERE s.public_id = '{session}'"
    )
    return links.return_token(row["link_id"])
