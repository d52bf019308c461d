"""`/api/v1/wait/…`: the agent's polls and its event stream (contract.md section 4)."""

import contextlib
import time
from collections.abc import Iterator

import pydantic
from django.conf import settings

from handoff import push
from handoff.contract import limits
from handoff.contract.kinds import SessionStatus
from handoff.errors import Invalid
from handoff.models import Agent, Session
from handoff.realtime import reading, wire
from handoff.realtime.door import WaitingConsumer, known_caller
from handoff.selectors import events, handoffs, payloads
from handoff.selectors.tokens import Caller

COMMENT_SECONDS = 15.0
REAUTHORISE_SECONDS = 60.0
RETRY_LINE = b"retry: 2000\n\n"
COMMENT = b": still here\n\n"
EVENT_STREAM = b"text/event-stream"
ENDED = frozenset({SessionStatus.RELEASED, SessionStatus.FAILED})

_waiters = 0


class EventsQuery(pydantic.BaseModel):
    after: int = pydantic.Field(default=0, ge=0, le=limits.EVENT_ID_MAX)
    limit: int = pydantic.Field(default=limits.PAGE_DEFAULT, ge=1, le=limits.PAGE_MAX)
    seconds: float = pydantic.Field(
        default=limits.WAIT_SECONDS_MAX, ge=0, le=limits.WAIT_SECONDS_MAX, allow_inf_nan=False
    )


class HandoffQuery(EventsQuery):
    after: int | None = pydantic.Field(default=None, ge=0, le=limits.EVENT_ID_MAX)  # type: ignore[assignment]


class StreamQuery(pydantic.BaseModel):
    after: int = pydantic.Field(default=0, ge=0, le=limits.EVENT_ID_MAX)


class WaitEvents(WaitingConsumer):
    """The same page as `/api/v1/events`, as soon as there is something; empty at the end."""

    async def wait(self, caller: Caller) -> None:
        query = self.query(EventsQuery)
        agent = caller.agent
        with _waiting(query.seconds) as seconds:
            end = time.monotonic() + seconds
            async with push.listen(f"agent:{agent.pk}") as listener:
                while True:
                    body, found = await reading.shared(_page, agent, query.after, query.limit)
                    left = end - time.monotonic()
                    if found or left <= 0 or listener.stopping:
                        break
                    await listener.wait(left)
        await self.reply(200, body)


class WaitHandoff(WaitingConsumer):
    """H as soon as an event about it comes after `after`, or as it is at the end of the wait.

    Without `after`: after now; and at once when the handoff has ended, so that a release between
    two polls is not waited for.
    """

    async def wait(self, caller: Caller) -> None:
        query = self.query(HandoffQuery)
        agent, public_id = caller.agent, self.scope["path"].rpartition("/")[2]
        session = await reading.run(handoffs.find, agent, public_id)
        after = agent.last_event_id if query.after is None else query.after
        ended = query.after is None and session.status in ENDED
        with _waiting(0 if ended else query.seconds) as seconds:
            end = time.monotonic() + seconds
            async with push.listen(f"handoff:{session.pk}", _watched(session)) as listener:
                while True:
                    news = await reading.shared(
                        events.events_of_handoff, agent, public_id, after=after
                    )
                    left = end - time.monotonic()
                    if news or left <= 0 or listener.stopping:
                        break
                    await listener.wait(left)
        await self.reply(200, await reading.shared(_handoff, agent, public_id))


class WaitStream(WaitingConsumer):
    """The event log as server-sent events; `Last-Event-ID` goes before `after`."""

    async def wait(self, caller: Caller) -> None:
        after = self._after()
        await self.begin(EVENT_STREAM)
        await self._say(RETRY_LINE)
        with _waiting(COMMENT_SECONDS) as comment_seconds:
            await self._follow(caller.agent, after, comment_seconds)
        await self.base_send({"type": "http.response.body", "body": b""})

    def _after(self) -> int:
        """The number to begin after; raises Invalid."""
        after = self.query(StreamQuery).after
        last = wire.header(self.scope, b"last-event-id").strip()
        if not last:
            return after
        if (
            not (last.isascii() and last.isdigit() and len(last) < 20)
            or int(last) > limits.EVENT_ID_MAX
        ):
            problem = {"field": "Last-Event-ID", "problem": "is not the number of an event"}
            raise Invalid(
                f"The header can't be used: Last-Event-ID {problem['problem']}.",
                details={"problems": [problem]},
            )
        return int(last)

    async def _follow(self, agent: Agent, after: int, comment_seconds: float) -> None:
        """Until the server stops; only what is there now when there are too many waiters."""
        checked = time.monotonic()
        async with push.listen(f"agent:{agent.pk}") as listener:
            while True:
                lines, after, has_more = await reading.shared(_lines, agent, after)
                if lines:
                    await self._say(lines)
                if has_more:
                    continue
                if not comment_seconds or listener.stopping:
                    return
                if not await listener.wait(comment_seconds):
                    await self._say(COMMENT)
                if time.monotonic() - checked > REAUTHORISE_SECONDS:
                    await known_caller(self.scope)
                    checked = time.monotonic()

    async def _say(self, lines: bytes) -> None:
        await self.base_send({"type": "http.response.body", "body": lines, "more_body": True})


def _page(agent: Agent, after: int, limit: int) -> tuple[bytes, bool]:
    """The page as JSON, and whether it holds anything."""
    page = events.page(agent, after=after, limit=limit)
    return wire.as_json(page.body()), bool(page.data)


def _lines(agent: Agent, after: int) -> tuple[bytes, int, bool]:
    """The next events as an event stream's text, the number read up to, and whether more wait."""
    page = events.page(agent, after=after, limit=limits.PAGE_DEFAULT)
    lines = b"".join(
        b"id: %d\nevent: %s\ndata: %s\n\n" % (e.id, e.type.encode(), wire.as_json(e.body()))
        for e in page.data
    )
    return lines, page.next_after, page.has_more


def _watched(session: Session) -> str:
    """A topic with a counter: the watcher finds a lost nudge by it."""
    if session.conversation_id is None:
        return f"agent:{session.agent_id}"
    return f"conversation:{session.conversation_id}"


def _handoff(agent: Agent, public_id: str) -> bytes:
    return wire.as_json(payloads.handoff(handoffs.find(agent, public_id)).body())


@contextlib.contextmanager
def _waiting(seconds: float) -> Iterator[float]:
    """Counts one waiter: how long it may wait, 0 when there are too many already."""
    global _waiters
    _waiters += 1
    try:
        yield seconds if _waiters <= settings.MAX_WAITERS else 0.0
    finally:
        _waiters -= 1
