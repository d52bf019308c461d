"""The transports by kind: a literal table of dotted paths, loaded lazily."""

from importlib import import_module
from typing import Any

from django.conf import settings

from handoff.contract.kinds import ChannelKind
from handoff.transports.base import Transport

TRANSPORTS: dict[str, str] = {
    ChannelKind.EMAIL: "handoff.transports.email.Email",
    ChannelKind.TELEGRAM: "handoff.transports.telegram.Telegram",
    ChannelKind.SLACK: "handoff.transports.slack.Slack",
    ChannelKind.DISCORD: "handoff.transports.discord.Discord",
    ChannelKind.WHATSAPP: "handoff.transports.whatsapp.WhatsApp",
    ChannelKind.OWNER_INBOX: "handoff.transports.owner_inbox.OwnerInbox",
    ChannelKind.AGENT: "handoff.transports.agent.Sibling",
}
"""The kinds that ship; `carried()` has those of the deployment, too."""


def carried() -> dict[str, str]:
    """Every kind that this desk carries: those that ship, then those of HANDOFF_TRANSPORTS."""
    own: dict[str, str] = settings.TRANSPORTS
    return {**TRANSPORTS, **own}


def transport_class(kind: str) -> type[Transport[Any]]:
    """The class for a channel kind; KeyError for a kind that this desk does not carry."""
    module, _, name = carried()[kind].rpartition(".")
    found: type[Transport[Any]] = getattr(import_module(module), name)
    return found


def is_in_database(kind: str) -> bool:
    """Whether a recipient of this kind reads our own rows; no for a kind that is not carried."""
    return kind in carried() and transport_class(kind).in_database


def collects_lines(kind: str) -> bool:
    """Whether every message of this kind disturbs its reader; no for one that is not carried."""
    return kind in carried() and transport_class(kind).collects_lines
