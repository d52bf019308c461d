"""The transports by kind: a literal table of dotted paths, loaded lazily."""

from importlib import import_module
from typing import Any

from handoff.contract.kinds import ChannelKind
from handoff.transports.base import Transport

TRANSPORTS: dict[ChannelKind, str] = {
    ChannelKind.EMAIL: "handoff.transports.email.Email",
    ChannelKind.OWNER_INBOX: "handoff.transports.owner_inbox.OwnerInbox",
}


def transport_class(kind: str) -> type[Transport[Any]]:
    """The class for a channel kind; KeyError for a kind that this desk does not carry."""
    module, _, name = TRANSPORTS[ChannelKind(kind)].rpartition(".")
    found: type[Transport[Any]] = getattr(import_module(module), name)
    return found
