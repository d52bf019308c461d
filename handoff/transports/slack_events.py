"""What Slack posts, read once into frozen values: events, and slash commands as forms."""

import datetime as dt
import re
from typing import Annotated, Any, Final

import pydantic

from handoff.contract.commands import read_release
from handoff.contract.text import scrub
from handoff.transports.inbound import Said
from handoff.transports.slack_text import plain

_BY_PEOPLE: Final = frozenset({"", "thread_broadcast", "file_share"})
_RELEASE: Final = re.compile(r"[/!]?release(?![\w-])", re.ASCII | re.IGNORECASE)
_Id = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
_Ts = Annotated[str, pydantic.Field(pattern=r"^[0-9]{1,11}\.[0-9]{1,9}$")]
"""A message's id in its channel and its time. A text: as a number it would lose its end."""


class _Read(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="ignore")


class Authorization(_Read):
    user_id: str | None = None
    is_bot: bool | None = None


class Message(_Read):
    channel: _Id
    channel_type: str | None = None
    user: _Id
    parent_user_id: str | None = None
    text: str | None = ""
    ts: _Ts
    thread_ts: _Ts | None = None
    subtype: str | None = None
    bot_id: str | None = None
    bot_profile: dict[str, Any] | None = None
    hidden: bool | None = None
    files: tuple[Any, ...] | None = None

    def is_by_a_machine(self) -> bool:
        """Of a bot, or news about another message, such as that it was edited."""
        news = (self.subtype or "") not in _BY_PEOPLE
        return bool(news or self.hidden or self.bot_id or self.bot_profile)


class Event(_Read):
    """An `event_callback` with a message in it."""

    event_id: _Id
    authorizations: tuple[Authorization, ...] | None = None
    event: Message

    def said(self) -> Said | None:
        """What a person said in a thread of ours, or to the bot alone; None for all else.

        In the open channel, and in a thread that somebody else began, nothing counts but a whole
        release line: what people say there among themselves is not kept.
        """
        message = self.event
        ourselves = frozenset(
            who.user_id for who in self.authorizations or () if who.is_bot and who.user_id
        )
        if message.is_by_a_machine() or message.user in ourselves:
            return None
        text = scrub(plain(message.text or "", ourselves=ourselves))
        alone = message.thread_ts is None
        private = alone and message.channel_type == "im"
        others = message.parent_user_id and ourselves and message.parent_user_id not in ourselves
        if (alone and not private) or others:
            command = read_release(text)
            if command is None or not command.token:
                return None
        return Said(
            keys=(self.event_id, f"{message.channel}:{message.ts}"),
            account=message.channel,
            at=_moment(message.ts),
            sender_id=message.user,
            text=text,
            place=message.channel,
            message_id=f"{message.channel}:{message.ts}",
            replies_to=() if alone else (f"{message.channel}:{message.thread_ts}",),
            thread_key=message.thread_ts or "",
            only_one=private,
            attachments=len(message.files or ()),
        )


class SlashCommand(_Read):
    """A command in the open channel, whatever its name: Slack takes none in a thread."""

    channel_id: _Id
    user_id: _Id
    user_name: str = ""
    text: str = ""
    trigger_id: str = ""

    def said(self, *, key: str) -> Said:
        """A release line. `key` stands in where Slack gave no trigger."""
        return Said(
            keys=(self.trigger_id[:200] or key,),
            account=self.channel_id,
            sender_id=self.user_id,
            sender_name=scrub(self.user_name)[:100],
            text=_release_line(scrub(plain(self.text))),
            place=self.channel_id,
        )


def _release_line(text: str) -> str:
    """With `release` in front, which the name of the command stands for."""
    found = _RELEASE.match(text)
    return f"/release {text[found.end() :].strip() if found else text}".rstrip()


def _moment(ts: str) -> dt.datetime | None:
    try:
        return dt.datetime.fromtimestamp(int(ts.partition(".")[0]), dt.UTC)
    except (ValueError, OverflowError, OSError):
        return None
