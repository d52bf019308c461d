"""Subscribers who write while their conversation is handed over and given back."""

import dataclasses
import random
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from tests import factories
from tests.reliability.doors import Doors, session_of
from tests.reliability.mails import Mail
from tests.reliability.races import answered
from tests.reliability.rows import Row, Rows
from tests.reliability.stories import new_mark

WRITERS: Final = 5
LINES: Final = 5
"""Of each writer."""
BETWEEN_SECONDS: Final = 0.1


@dataclasses.dataclass(frozen=True)
class Post:
    """One line, and where the desk said that it went."""

    conversation: str
    writer: int
    mark: str
    id: str
    routed_to: str


class Talk:
    """One conversation with its writers; handed over and given back at random times."""

    def __init__(self, doors: Doors, number: int) -> None:
        self._doors = doors
        self.by_mail = number % 2 == 0
        self._ends_by_form = number % 4 < 2
        self.mark = new_mark()
        self.session = ""
        self.posts: list[Post] = []

    def run(self) -> "Talk":
        conversation = self._doors.conversation(self.mark)
        writers = [
            threading.Thread(target=self._write, args=(conversation, writer))
            for writer in range(WRITERS)
        ]
        for writer in writers:
            writer.start()
        self._hand_over_and_back()
        for writer in writers:
            writer.join()
        assert len(self.posts) == WRITERS * LINES, "a writer was not answered"
        return self

    def _write(self, conversation: str, writer: int) -> None:
        for _ in range(LINES):
            time.sleep(random.uniform(0, BETWEEN_SECONDS))
            mark = new_mark()
            reply = answered(partial(self._doors.say, conversation, mark, client_id=mark))
            message = reply.json["message"]
            self.posts.append(Post(self.mark, writer, mark, message["id"], message["routed_to"]))

    def _hand_over_and_back(self) -> None:
        doors, seed = self._doors, self._doors.seed
        time.sleep(random.uniform(0, BETWEEN_SECONDS))
        args = {
            "channel_id": seed.email if self.by_mail else seed.inbox,
            "summary": factories.SUMMARY,
            "expected_action": factories.EXPECTED_ACTION,
            "include_transcript": False,
        }
        reply = answered(
            lambda: doors.tool("handoff_request", args, conversation=self.mark, key=self.mark)
        )
        self.session = session_of(reply)
        assert "action" in reply.json["result"], reply.text
        time.sleep(random.uniform(0, 5 * BETWEEN_SECONDS))
        if self._ends_by_form:
            answered(lambda: doors.press("release", self.session, outcome="resolved"))
        else:
            answered(lambda: doors.tool("handoff_cancel", {"handoff_session_id": self.session}))


def talks(doors: Doors, number: int, *, at_once: int = 3) -> list[Talk]:
    """So many conversations from beginning to end."""
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda talk: talk.run(), [Talk(doors, n) for n in range(number)]))


def settle(rows: Rows, *, seconds: float = 120) -> None:
    """Wait until the outbox is empty."""
    until = time.monotonic() + seconds
    while rows.count("SELECT count(*) AS n FROM handoff_delivery WHERE status = 'due'"):
        assert time.monotonic() < until, "the outbox does not empty"
        time.sleep(0.2)


def agents_log(doors: Doors) -> list[dict[str, Any]]:
    """Every subscriber's line that the event log gives to the agent, in its order."""
    lines, after, more = [], 0, True
    while more:
        path = f"/api/v1/events?limit=200&after={after}"
        page = answered(partial(doors.rest, "GET", path)).json
        lines += [event["data"]["message"] for event in page["data"] if _is_for_agent(event)]
        after, more = page["next_after"], page["has_more"]
    return lines


def _is_for_agent(event: dict[str, Any]) -> bool:
    message = event["data"].get("message", {})
    wanted = ("message.created", "subscriber", "agent")
    return (event["type"], message.get("author"), message.get("routed_to")) == wanted


def undelivered(doors: Doors, talk: Talk) -> set[str]:
    """The ids of the lines of which the handoff says that they never arrived."""
    reply = answered(lambda: doors.rest("GET", f"/api/v1/handoffs/{talk.session}"))
    return set(reply.json["undelivered"])


def partition_faults(
    talk: Talk,
    *,
    rows: Sequence[Row],
    agent: Iterable[str],
    mails: Iterable[Mail],
    lost: set[str],
) -> Iterator[str]:
    """Lines that were handled by both or by nobody, and lines out of their order.

    `rows` are the talk's messages in the order of the conversation, `agent` and `mails` what the
    two got, in the order in which they got it, `lost` the ids that the handoff names.
    """
    place = {row["text"]: number for number, row in enumerate(rows)}
    to_agent = [mark for mark in agent if mark in place]
    if talk.by_mail:
        to_person = [mark for mail in mails if not mail.is_request for mark in mail.marks]
    else:  # the owner's inbox reads the rows
        to_person = [row["text"] for row in rows if row["routed_to"] == "recipient"]
    for post in talk.posts:
        times = to_agent.count(post.mark) + to_person.count(post.mark) + (post.id in lost)
        if times != 1:
            yield f"{post.mark}: handled {times} times"
        if (post.mark in to_agent) != (post.routed_to == "agent"):
            yield f"{post.mark}: the answer said {post.routed_to}"
    for log in (to_agent, to_person):
        if [place[mark] for mark in log] != sorted(place[mark] for mark in log):
            yield f"{talk.mark}: lines came out of order"
    for writer in range(WRITERS):
        mine = [place[post.mark] for post in talk.posts if post.writer == writer]
        if mine != sorted(mine):
            yield f"{talk.mark}: a writer's lines changed places"


def bypass_faults(talk: Talk, rows: Sequence[Row], bounds: Mapping[str, int]) -> Iterator[str]:
    """Lines that went to the person outside the bypass, or to the agent within it.

    `bounds` are the conversation's numbers of the start and of the note that ends it.
    """
    for row in rows:
        within = bounds["start"] < row["event_id"] < bounds["end"]
        if row["routed_to"] and within != (row["routed_to"] == "recipient"):
            yield f"{talk.mark}: line {row['event_id']} to {row['routed_to']}, bypass {bounds}"
