"""Channels and messages for the Discord tests."""

import time
from typing import Any

from handoff.transports.base import Outgoing, Receipt
from handoff.transports.discord import Discord
from handoff.transports.discord_settings import DiscordSettings
from tests.fakes.discord import BOT_TOKEN, CHANNEL, WEBHOOK_URL
from tests.fakes.discord_calls import APPLICATION, GUILD, PUBLIC_KEY

SESSION = "hs_4k2jq7m3x5z6p2n4a2b3c4d5e6"


def settings(**changes: Any) -> DiscordSettings:
    given = {
        "bot_token": BOT_TOKEN,
        "channel_id": CHANNEL,
        "application_id": APPLICATION,
        "public_key": PUBLIC_KEY,
        "guild_id": GUILD,
    }
    return DiscordSettings.model_validate({**given, **changes})


def bot(**changes: Any) -> Discord:
    return Discord(settings(**changes))


def webhook(url: str = WEBHOOK_URL) -> Discord:
    return Discord(DiscordSettings(webhook_url=url))


def send(transport: Discord, message: Outgoing, *, seconds: float = 5) -> Receipt:
    return transport.send(message, deadline=time.monotonic() + seconds)
