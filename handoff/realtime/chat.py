"""`/ws/chat`: one conversation, for the subscriber's widget or the agent's own front end."""

import asyncio
import collections
import contextlib
from collections.abc import Iterator
from typing import Final

import pydantic
from django.conf import settings
from django.db.models import F

from handoff import push
from handoff.actions.endings import back_to_bot
from handoff.actions.tickets import TicketGrant, redeem
from handoff.actions.turns import Turn, post_turn
from handoff.contract import turns
from handoff.contract.kinds import Author
from handoff.contract.turns import Body, TurnBody
from handoff.contract.wording import problems_of
from handoff.errors import HandoffError
from handoff.models import Conversation
from handoff.realtime import frames, reading
from handoff.realtime.sockets import (
    GONE,
    NOT_YOURS,
    ROWS_AT_ONCE,
    TICKET,
    TOO_FAST,
    Closed,
    DeskSocket,
    Stalled,
)
from handoff.selectors import events

SOCKETS_A_CONVERSATION: Final = 5
TYPING_SECONDS: Final = 6.0
SOCKET_SECONDS: Final = 86_400.0
"""No socket lives longer: the server closes it."""

_open: collections.Counter[int] = collections.Counter()


class ChatSocket(DeskSocket):
    """Opened by a ticket, which fixes the conversation and the role."""

    accepts = frozenset({"message.send", "ack", "typing", "conversation.resume_bot", "pong"})
    grant: TicketGrant

    async def gate(self) -> None:
        grant = await reading.write(redeem, self.asked("ticket"))
        if grant is None:
            raise Closed(TICKET, "That ticket is not valid: ask for a new one.")
        self.grant, self.conversation = grant, grant.conversation
        self.check_origin(*grant.allowed_origins)

    async def live(self) -> None:
        pk, asked = self.grant.conversation_pk, self.asked_event_id()
        others = Author.AGENT if self.grant.role == Author.SUBSCRIBER else Author.SUBSCRIBER
        with _counted(pk):
            async with (
                push.listen(f"conversation:{pk}") as listener,
                push.listen(_typing(pk, others)) as typing,
            ):
                latest = _allowed(await reading.run(_state, pk))
                ahead = asked is not None and asked > latest
                cursor = latest if asked is None else 0 if ahead else asked
                await self.begin(latest=latest, resumed_from=cursor)
                if ahead:
                    await self._reset()
                showing = asyncio.create_task(self._show_typing(typing, others))
                try:
                    await self._follow(listener, cursor)
                finally:
                    showing.cancel()

    async def still_allowed(self) -> None:
        if settings.WATCHER:
            return  # it wakes this socket when the right to it is lost; here are thousands of them
        _allowed(await reading.run(_state, self.grant.conversation_pk))

    async def handle(self, type_: str, data: Body) -> None:
        if isinstance(data, frames.Send):
            await self._say(data)
        elif isinstance(data, frames.Typing) and data.on:
            push.nudge(_typing(self.grant.conversation_pk, self.grant.role))
        elif type_ == "conversation.resume_bot":
            await self._resume_bot()

    async def _follow(self, listener: push.Listener, cursor: int) -> None:
        """Every row after the cursor, once and in order, as long as this chat may go on."""
        pk = self.grant.conversation_pk
        audience: events.Audience = "agent" if self.grant.role == Author.AGENT else "subscriber"
        while True:
            state, shown, upto = await reading.run(_news, pk, after=cursor, audience=audience)
            _allowed(state)
            for frame in shown:
                await self.say(frame)
            if upto == cursor:
                await self.wait(listener)
            cursor = upto

    async def _reset(self) -> None:
        """The client knows more than we do: a restored database. It starts again from nothing."""
        reset = frames.ephemeral("reset", {"reason": "ahead"}, conversation=self.conversation)
        await self.say(reset)

    async def _say(self, data: frames.Send) -> None:
        try:
            body = TurnBody(
                client_id=data.client_id,
                author=self._author(),
                text=data.text,
                files=data.files,
            )
            turn = await reading.write(_post, self.grant.conversation_pk, body)
        except pydantic.ValidationError as error:
            problem = problems_of(error)[0]
            await self.complain("invalid_arguments", f"{problem['field']} {problem['problem']}")
        except HandoffError as error:
            await self.complain(error.code, error.sentence)
        else:
            if turn.superseded:
                await self.complain(
                    "superseded", "A person is answering; this was kept and not shown."
                )

    def _author(self) -> turns.Speaker:
        return "agent" if self.grant.role == Author.AGENT else "subscriber"

    async def _resume_bot(self) -> None:
        if self.grant.role != Author.SUBSCRIBER:
            await self.complain("not_granted", "Only the visitor asks to be back with the bot.")
        elif not await reading.write(back_to_bot, self.grant.conversation_pk):
            await self.complain("already_released", "No handoff is active: the bot answers.")

    async def _show_typing(self, listener: push.Listener, author: str) -> None:
        """On with the first nudge, off when none came for a while. Carries no number."""
        while await listener.wait(SOCKET_SECONDS) and not listener.stopping:
            await self._typing(author, on=True)
            while await listener.wait(TYPING_SECONDS) and not listener.stopping:
                pass
            await self._typing(author, on=False)

    async def _typing(self, author: str, *, on: bool) -> None:
        said = {"on": on, "author": author}
        with contextlib.suppress(Stalled):  # nobody comes back for this one
            await self.say(frames.ephemeral("typing", said, conversation=self.conversation))


def _typing(conversation_pk: int, author: str) -> str:
    return f"typing:{conversation_pk}:{author}"


type _State = tuple[int, bool] | None
"""The newest event number and whether the agent is enabled; None when the conversation is gone."""


def _state(conversation_pk: int) -> _State:
    rows = Conversation.objects.filter(pk=conversation_pk)
    return rows.values_list("last_event_id", F("agent__enabled")).first()


def _allowed(state: _State) -> int:
    """The newest event number; raises Closed when the conversation may not go on here."""
    if state is None:
        raise Closed(GONE, "This conversation is gone.")
    latest, agent_enabled = state
    if not agent_enabled:
        raise Closed(NOT_YOURS, "This chat is switched off.")
    return latest


def _news(
    conversation_pk: int, *, after: int, audience: events.Audience
) -> tuple[_State, list[frames.Frame], int]:
    """The state, the next frames after a number, and the number that was read up to."""
    state = _state(conversation_pk)
    if state is None or state[0] <= after:
        return state, [], after
    return state, *events.frames_after(
        conversation_pk, after=after, limit=ROWS_AT_ONCE, audience=audience
    )


def _post(conversation_pk: int, body: TurnBody) -> Turn:
    return post_turn(Conversation.objects.get(pk=conversation_pk), body)


@contextlib.contextmanager
def _counted(conversation_pk: int) -> Iterator[None]:
    """One of the sockets that a conversation may have in this process; raises Closed past them."""
    if _open[conversation_pk] >= SOCKETS_A_CONVERSATION:
        raise Closed(TOO_FAST, "This conversation has too many sockets open.")
    _open[conversation_pk] += 1
    try:
        yield
    finally:
        _open[conversation_pk] -= 1
        if not _open[conversation_pk]:
            del _open[conversation_pk]
