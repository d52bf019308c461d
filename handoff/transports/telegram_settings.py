"""The settings of one Telegram channel (channels.md 1.7), checked by name and all at once."""

import re
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, BeforeValidator, Field

from handoff.transports.base import TransportSettings

GENERAL_TOPIC: Final = 1
"""The topic that every forum has. Telegram takes messages to it only without a topic."""
_TOKEN: Final = re.compile(r"[1-9][0-9]{0,19}:[A-Za-z0-9_-]{3,128}")
_CHAT: Final = re.compile(r"-?[1-9][0-9]{0,19}|@[A-Za-z][A-Za-z0-9_]{3,63}")


class Mode(StrEnum):
    WEBHOOK = "webhook"
    POLL = "poll"


def _bot_token(text: str) -> str:
    if not _TOKEN.fullmatch(text):
        raise ValueError("must be the token that BotFather gave, such as 123456789:AAE…")
    return text


def _chat_id(text: str) -> str:
    if not _CHAT.fullmatch(text):
        raise ValueError(
            "must be the number of a chat, such as 123456789 or -1001234567890, or the @name of "
            "a public group"
        )
    return text


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _secret(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,256}", text):
        raise ValueError("must be at most 256 letters, digits, _ and -")
    return text


class TelegramSettings(TransportSettings):
    secret_keys: ClassVar[frozenset[str]] = frozenset({"bot_token", "webhook_secret"})
    made_keys: ClassVar[frozenset[str]] = frozenset({"webhook_secret"})
    dormant_keys: ClassVar[frozenset[str]] = frozenset({"bot_username"})

    bot_token: Annotated[str, AfterValidator(_bot_token), Field(repr=False)]
    """The token that BotFather gave for the bot, such as 123456789:AAE…"""
    chat_id: Annotated[str, BeforeValidator(_as_text), AfterValidator(_chat_id)]
    """Where the messages go: the number of a chat, negative for a group. Not known yet? Enter 1,
    write to the bot, save and press Test: it lists the chats that it was written from."""
    topic_id: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    """In a group with topics: the number of the topic. Empty: the topic General."""
    mode: Mode = Mode.WEBHOOK
    """How the desk hears replies. webhook: Telegram posts to the desk, which needs a public
    https address. poll: the desk asks Telegram."""
    webhook_secret: Annotated[str, AfterValidator(_secret), Field(repr=False)] = ""
    """What Telegram proves itself with when it posts to the desk."""
    bot_username: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{0,64}$")] = ""
    """The bot's name, as Telegram's own answers said it: commands to another bot are not ours."""

    @property
    def topic(self) -> int | None:
        """The topic as Telegram wants it named."""
        return None if self.topic_id == GENERAL_TOPIC else self.topic_id
