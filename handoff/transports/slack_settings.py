"""The settings of one Slack channel (channels.md 1.7), checked by name and all at once."""

import re
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from handoff.transports.base import TransportSettings


def _bot_token(text: str) -> str:
    if not re.fullmatch(r"(xoxe\.)?xoxb-[A-Za-z0-9_.-]{1,300}", text):
        raise ValueError("must be the app's Bot User OAuth Token, which begins with xoxb-")
    return text


def _channel_id(text: str) -> str:
    if not re.fullmatch(r"[CDG][A-Z0-9]{1,40}", text):
        raise ValueError("must be the channel's ID, such as C0123456789, not its name")
    return text


def _signing_secret(text: str) -> str:
    if not re.fullmatch(r"[\x21-\x7e]{0,200}", text):
        raise ValueError("must be the Signing Secret of the app: letters and digits, no space")
    return text


class SlackSettings(TransportSettings):
    secret_keys: ClassVar[frozenset[str]] = frozenset({"bot_token", "signing_secret"})

    bot_token: Annotated[str, AfterValidator(_bot_token), Field(repr=False)]
    """The Bot User OAuth Token, xoxb-…, on the app's page OAuth & Permissions."""
    channel_id: Annotated[str, AfterValidator(_channel_id)]
    """Such as C0123456789: click the channel's name in Slack, it stands at the end of About."""
    signing_secret: Annotated[str, AfterValidator(_signing_secret), Field(repr=False)] = ""
    """The one on the app's page Basic Information. Empty: what is written in Slack is not heard."""
