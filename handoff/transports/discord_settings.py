"""The settings of one Discord channel (channels.md 1.7), checked by name and all at once."""

import re
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, ValidationInfo

from handoff.transports.base import TransportSettings

_SNOWFLAKE: Final = re.compile(r"[1-9][0-9]{0,19}")
_WEBHOOK: Final = re.compile(
    r"https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?"
    r"webhooks/(?P<id>[1-9][0-9]{0,19})/(?P<token>[A-Za-z0-9_-]{1,200})/?"
)
"""Of Discord and of nobody else: the rest of the address is called on DISCORD_API_BASE."""


def _token(text: str) -> str:
    text = text.removeprefix("Bot ").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", text):
        raise ValueError("must be one word, as the Bot page shows it")
    return text


def _id(text: str) -> str:
    if text and not _SNOWFLAKE.fullmatch(text):
        raise ValueError("must be the digits that Discord copies as the ID")
    return text


def _channel(text: str, info: ValidationInfo) -> str:
    has_token = info.data.get("bot_token") != ""  # one that was refused is one, too
    if has_token and not text:
        raise ValueError("is required with bot_token")
    if text and not has_token:
        raise ValueError("needs bot_token, too")
    return _id(text)


def _webhook(text: str, info: ValidationInfo) -> str:
    if text and not _WEBHOOK.fullmatch(text):
        raise ValueError("must look like https://discord.com/api/webhooks/123…/abc…")
    if text and info.data.get("bot_token"):
        raise ValueError("must be empty where a bot_token is given")
    if not text and info.data.get("bot_token") == info.data.get("channel_id") == "":
        raise ValueError("is required, or bot_token and channel_id in its place")
    return text


def _of_a_bot[T: str | bool](value: T, info: ValidationInfo) -> T:
    if value and info.data.get("webhook_url"):
        raise ValueError("is of no use with webhook_url: only a bot can be answered")
    return value


def _key(text: str) -> str:
    if text and not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise ValueError("must be the 64 letters and digits of the Public Key")
    return text.lower()


_Id = Annotated[str, Field(coerce_numbers_to_str=True), AfterValidator(_id)]


class DiscordSettings(TransportSettings):
    secret_keys: ClassVar[frozenset[str]] = frozenset({"bot_token", "webhook_url"})

    bot_token: Annotated[str, Field(repr=False), AfterValidator(_token)] = ""
    """The token of the Bot page. With channel_id; or give webhook_url in place of both."""
    channel_id: Annotated[
        str,
        Field(coerce_numbers_to_str=True, validate_default=True),
        AfterValidator(_channel),
    ] = ""
    """The text channel to post in: right-click it, Copy Channel ID."""
    webhook_url: Annotated[
        str, Field(repr=False, validate_default=True), AfterValidator(_webhook)
    ] = ""
    """In place of a bot: posts only, and nobody can answer in Discord."""
    application_id: Annotated[_Id, AfterValidator(_of_a_bot)] = ""
    """The Application ID of General Information: for the button Register commands."""
    public_key: Annotated[str, AfterValidator(_key), AfterValidator(_of_a_bot)] = ""
    """The Public Key of General Information: verifies /reply and /release. Empty: none."""
    guild_id: Annotated[_Id, AfterValidator(_of_a_bot)] = ""
    """The server: right-click it, Copy Server ID. For the button Register commands."""
    poll_replies: Annotated[bool, AfterValidator(_of_a_bot)] = False
    """Also read what people write in a handoff's thread; needs the Message Content Intent."""

    @property
    def webhook(self) -> tuple[str, str]:
        """Id and token of webhook_url; two empty texts without one."""
        found = _WEBHOOK.fullmatch(self.webhook_url)
        return (found["id"], found["token"]) if found else ("", "")
