"""A channel of each kind that the provider fakes know, for trying out and for every-kind tests."""

from typing import Any, Final

from tests.fakes import discord, discord_calls, slack, telegram, whatsapp
from tests.fakes.providers import Providers
from tests.fakes.telegram_chats import MIA
from tests.fakes.whatsapp_rules import Template

CONFIGS: Final[dict[str, dict[str, Any]]] = {
    "telegram": {"bot_token": telegram.BOT_TOKEN, "chat_id": MIA.id},
    "slack": {
        "bot_token": slack.BOT_TOKEN,
        "channel_id": "C0SUPPORT",
        "signing_secret": slack.SIGNING_SECRET,
    },
    "discord": {
        "bot_token": discord.BOT_TOKEN,
        "channel_id": discord.CHANNEL,
        "application_id": discord_calls.APPLICATION,
        "guild_id": discord_calls.GUILD,
        "public_key": discord_calls.PUBLIC_KEY,
    },
    "whatsapp": {
        "access_token": whatsapp.TOKEN,
        "phone_number_id": whatsapp.NUMBER_ID,
        "to": whatsapp.PERSON,
        "app_secret": whatsapp.APP_SECRET,
        "waba_id": whatsapp.WABA,
        "template_name": "handoff_plain",
    },
}
"""Settings by kind."""


def furnish(providers: Providers) -> None:
    """What these channels need at their providers and what is not there of itself."""
    providers.fakes["whatsapp"].templates.append(
        Template(name="handoff_plain", language="en", body="{{1}}\n\n{{2}}\n\n{{3}}\n{{4}}\n\nBye.")
    )
