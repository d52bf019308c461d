"""`/ws/agent`: the agent's whole event log, for a process that holds its token."""

from handoff import push
from handoff.errors import NotAuthorised, TooFast
from handoff.realtime import frames, reading
from handoff.realtime.door import known_caller
from handoff.realtime.sockets import (
    CHECK_SECONDS,
    ROWS_AT_ONCE,
    TICKET,
    TOO_FAST,
    Closed,
    DeskSocket,
)
from handoff.selectors import events
from handoff.selectors.tokens import Caller


class AgentSocket(DeskSocket):
    """Opened by the bearer header, as REST is; a page of a browser cannot send one."""

    async def gate(self) -> None:
        self.check_origin()
        await self._caller()

    async def live(self) -> None:
        asked = self.asked_event_id()
        agent = (await self._caller()).agent
        async with push.listen(f"agent:{agent.pk}") as listener:
            latest = (await self._caller()).agent.last_event_id
            ahead = asked is not None and asked > latest
            cursor = latest if asked is None else 0 if ahead else asked
            await self.begin(latest=latest, resumed_from=cursor)
            if ahead:
                await self.say(frames.ephemeral("reset", {"reason": "ahead"}))
            while True:
                page = await reading.run(events.page, agent, after=cursor, limit=ROWS_AT_ONCE)
                for event in page.data:
                    await self.say(_frame(event.body()))
                if page.next_after == cursor:
                    await self.wait(listener, CHECK_SECONDS)
                    await self._caller()
                cursor = page.next_after

    async def _caller(self) -> Caller:
        try:
            return await known_caller(self.scope)
        except NotAuthorised as error:
            raise Closed(TICKET, error.sentence) from error
        except TooFast as error:
            raise Closed(TOO_FAST, error.sentence) from error


def _frame(event: frames.Frame) -> frames.Frame:
    return {
        "v": frames.VERSION,
        "id": event["id"],
        "type": event["type"],
        "at": event["at"],
        "conversation": event["conversation"],
        "handoff": event["handoff"],
        "data": event,
    }
