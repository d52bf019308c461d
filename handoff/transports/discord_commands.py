"""The two slash commands: what Discord is told of them, and what it says when one was typed."""

import datetime as dt
import re
from typing import Annotated, Any, Final

import pydantic

from handoff.contract.text import one_line, scrub
from handoff.transports.base import TestReport
from handoff.transports.discord_api import DiscordApi
from handoff.transports.discord_settings import DiscordSettings
from handoff.transports.discord_text import readable
from handoff.transports.inbound import Said

REPLY: Final = "reply"
RELEASE: Final = "release"
COMMANDS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": REPLY,
        "type": 1,
        "description": "Write to the visitor of this handoff",
        "options": [
            {
                "type": 3,
                "name": "text",
                "description": "What the visitor shall read",
                "required": True,
            }
        ],
    },
    {
        "name": RELEASE,
        "type": 1,
        "description": "End this handoff and give the conversation back to the bot",
        "options": [
            {
                "type": 3,
                "name": "token",
                "description": "Only outside the handoff's thread: the letters after /release",
                "required": False,
            },
            {
                "type": 3,
                "name": "note",
                "description": "What the bot shall know",
                "required": False,
            },
        ],
    },
)
"""As `POST /applications/{id}/guilds/{id}/commands` takes them, one by one."""

_EPOCH_MILLISECONDS: Final = 1_420_070_400_000
_THREADS: Final = frozenset({10, 11, 12})
"""Types of channels that are threads; of any other channel `parent_id` is its category."""

Snowflake = Annotated[str, pydantic.Field(pattern=r"^[0-9]{1,20}$")]


class _Read(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="ignore")


class User(_Read):
    id: Snowflake
    username: str = ""
    global_name: str | None = None
    bot: bool = False


class _Channel(_Read):
    id: Snowflake
    type: int = 0
    parent_id: Snowflake | None = None


class _Option(_Read):
    name: str
    value: str | int | float | bool | None = None


class _Resolved(_Read):
    users: dict[str, User] = {}


class _Data(_Read):
    name: str
    type: int = 1
    options: tuple[_Option, ...] = ()
    resolved: _Resolved = _Resolved()


class Interaction(_Read):
    """Of any interaction, what decides how to read the rest."""

    type: int
    locale: str = "en"


class Command(_Read):
    """An interaction of type 2."""

    id: Snowflake
    channel_id: Snowflake
    channel: _Channel | None = None
    user: User
    nick: str | None = None
    """How the person is called in this server."""
    data: _Data

    @pydantic.model_validator(mode="before")
    @classmethod
    def _of_a_member(cls, given: Any) -> Any:
        """In a server the person stands in `member`, elsewhere by themselves."""
        member = given.get("member") if isinstance(given, dict) else None
        if not isinstance(member, dict):
            return given
        return {**given, "user": member.get("user"), "nick": member.get("nick")}

    def said(self) -> Said | None:
        """What the person meant; None for a command that is not ours."""
        if self.data.type != 1 or self.data.name not in (REPLY, RELEASE):
            return None
        in_thread = self.channel is None or self.channel.type in _THREADS
        parent = self.channel.parent_id if self.channel and in_thread else None
        return Said(
            keys=(self.id,),
            account=parent or self.channel_id,
            at=moment(self.id),
            sender_id=self.user.id,
            sender_name=shown_name(self.user, nick=self.nick),
            text=self._text(),
            place=self.channel_id,
            # a thread has the id of the message that it hangs on
            replies_to=(self.channel_id,) if in_thread else (),
            thread_key=self.channel_id if in_thread else "",
            only_one=parent is None,
        )

    def _token(self) -> str:
        """The token as it was typed, by somebody who may have copied the whole line."""
        typed = one_line(self._option("token")).strip("` ")
        return re.sub(r"^[/!]?release\s+", "", typed, flags=re.IGNORECASE)

    def _text(self) -> str:
        """As somebody would have typed it; without a token the thread says which handoff."""
        if self.data.name == REPLY:
            return self._option("text")
        return f"/{RELEASE} {self._token()}".rstrip() + f"\n{self._option('note')}".rstrip()

    def _option(self, name: str) -> str:
        people = self.data.resolved.users
        names = {key: shown_name(user) for key, user in people.items()}
        for option in self.data.options:
            if option.name == name and isinstance(option.value, str):
                return scrub(readable(option.value, names))
        return ""


def shown_name(user: User, *, nick: str | None = None) -> str:
    """As the person calls themselves: in this server, else everywhere, else the account."""
    return one_line(nick or user.global_name or user.username)


def moment(snowflake: str) -> dt.datetime:
    """When Discord made the thing that has this id."""
    milliseconds = (int(snowflake) >> 22) + _EPOCH_MILLISECONDS
    return dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)


def register(api: DiscordApi, settings: DiscordSettings, *, deadline: float) -> TestReport:
    """Tell Discord of the commands, one by one: a command of that name is replaced, others stay.

    Raises TransportError.
    """
    missing = [
        name for name in ("bot_token", "application_id", "guild_id") if not getattr(settings, name)
    ]
    if missing:
        return TestReport(works=False, lines=(f"Enter {' and '.join(missing)} first.",))
    path = f"/applications/{settings.application_id}/guilds/{settings.guild_id}/commands"
    for command in COMMANDS:
        api.ask("POST", path, body=command, deadline=deadline)
    lines = [f"/{command['name']} is known in the server." for command in COMMANDS]
    if not settings.public_key:
        lines.append("Enter public_key, too: without it the desk believes no command.")
    return TestReport(works=bool(settings.public_key), lines=tuple(lines))
