"""Reads what people write in the threads of open handoffs, where the channel asks for it.

One cursor serves all threads: ids of Discord grow with time wherever they are made. It lags one
look behind, since a message may come into one thread while another is being read; what is read
twice is known by its id.
"""

import time
from typing import Any, Final

import pydantic

from handoff.contract.kinds import TransportErrorKind
from handoff.contract.text import scrub
from handoff.errors import TransportError
from handoff.transports.discord_api import DiscordApi
from handoff.transports.discord_commands import Snowflake, User, moment, shown_name
from handoff.transports.discord_errors import UNKNOWN_CHANNEL
from handoff.transports.discord_text import readable
from handoff.transports.inbound import Polled, Said

PAGE: Final = 100
PAGES_MAX: Final = 10
"""Of one thread in one look; the next look goes on."""
NO_INTENT: Final = (
    "Discord hides what people write from the bot: in the Developer Portal, on the page Bot, turn "
    "Message Content Intent on. What was written meanwhile is read then."
)
CLOSED: Final = "A thread of an open handoff cannot be read."
_BY_PEOPLE: Final = frozenset({0, 19})
"""Types of messages: an ordinary one and a reply."""


class _Read(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="ignore")


class _Reference(_Read):
    message_id: Snowflake | None = None
    type: int = 0


class Message(_Read):
    id: Snowflake
    type: int = 0
    author: User
    webhook_id: Snowflake | None = None
    content: str = ""
    mentions: tuple[User, ...] = ()
    attachments: tuple[Any, ...] = ()
    sticker_items: tuple[Any, ...] = ()
    poll: Any = None
    message_reference: _Reference | None = None
    """The message that it answers, or that it passes on (type 1)."""

    @property
    def by_a_person(self) -> bool:
        return not self.author.bot and self.webhook_id is None and self.type in _BY_PEOPLE

    @property
    def is_hidden(self) -> bool:
        """Whether its words were kept from us; nobody can send a message without anything."""
        passed_on = self.message_reference is not None and self.message_reference.type != 0
        return not (
            self.content or self.attachments or self.sticker_items or self.poll or passed_on
        )

    def said(self, *, thread: str, account: str) -> Said:
        names = {user.id: shown_name(user) for user in self.mentions}
        answered = self.message_reference.message_id if self.message_reference else None
        return Said(
            keys=(self.id,),
            account=account,
            at=moment(self.id),
            sender_id=self.author.id,
            sender_name=shown_name(self.author),
            text=scrub(readable(self.content, names)),
            place=thread,
            message_id=self.id,
            replies_to=tuple(filter(None, (answered, thread))),
            thread_key=thread,
            attachments=len(self.attachments),
        )


def look(
    api: DiscordApi, cursor: str, *, threads: tuple[str, ...], account: str, deadline: float
) -> Polled:
    """What people wrote since `cursor` in `threads`, oldest first. Raises TransportError.

    While their words are hidden from the bot the cursor stays where it is. A thread that the bot
    may not read stops no other; that it may read none of them is an error.
    """
    read_before, newest = _opened(cursor)
    top, whole, hidden = newest, True, False
    events: list[Said] = []
    closed: list[TransportError] = []
    wanted = [thread for thread in threads if thread.isdigit()]
    for thread in wanted:
        try:
            found, complete = _of_thread(api, thread, after=read_before, deadline=deadline)
        except TransportError as error:
            if error.kind is not TransportErrorKind.PERMISSION:
                raise
            closed.append(error)
            if len(closed) == len(wanted):
                raise
            continue
        whole = whole and complete
        for message in found:
            top = max(top, int(message.id))
            if not message.by_a_person:
                continue
            if message.is_hidden:
                hidden = True
            else:
                events.append(message.said(thread=thread, account=account))
    events.sort(key=lambda said: int(said.message_id))
    stays = not whole or (hidden and not any(said.text for said in events))
    return Polled(
        events=tuple(events),
        cursor=cursor if stays else f"{newest}:{top}",
        hint=NO_INTENT if hidden else f"{CLOSED} {closed[0].hint}" if closed else "",
    )


def _opened(cursor: str) -> tuple[int, int]:
    """After which id to read, and the newest that the last look saw."""
    before, _, newest = cursor.partition(":")
    return (int(before), int(newest)) if before.isdigit() and newest.isdigit() else (0, 0)


def _of_thread(
    api: DiscordApi, thread: str, *, after: int, deadline: float
) -> tuple[list[Message], bool]:
    """Its messages after that id, oldest first, and whether they are all."""
    found: list[Message] = []
    after = max(after, int(thread))  # all of a thread is younger than the message that it hangs on
    for _ in range(PAGES_MAX):
        if time.monotonic() >= deadline:
            return found, False
        try:
            page = api.ask_list(
                f"/channels/{thread}/messages?after={after}&limit={PAGE}", deadline=deadline
            )
        except TransportError as error:
            if error.provider_code == UNKNOWN_CHANNEL:
                return found, True  # somebody deleted the thread
            raise
        messages = [message for item in page if (message := _read(item))]
        found += sorted(messages, key=lambda message: int(message.id))
        if len(page) < PAGE or not messages:
            return found, True
        after = int(found[-1].id)
    return found, False


def _read(item: Any) -> Message | None:
    """None for what is not of the form of a message: one of many must not stop the rest."""
    try:
        return Message.model_validate(item)
    except pydantic.ValidationError:
        return None
