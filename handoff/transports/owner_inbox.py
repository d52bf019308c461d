"""The owner inbox: the recipient reads our own database, so a dispatch is its own commit."""

from typing import ClassVar

from handoff.contract.kinds import ChannelKind
from handoff.transports.base import Outgoing, Receipt, Transport, TransportSettings


class OwnerInboxSettings(TransportSettings):
    dormant_keys: ClassVar[frozenset[str]] = frozenset({"notify_after_minutes"})

    notify_after_minutes: int | None = None
    """Mail the owner when nobody opened the handoff within this many minutes. Empty: never."""


class OwnerInbox(Transport[OwnerInboxSettings]):
    kind = ChannelKind.OWNER_INBOX
    settings_model = OwnerInboxSettings
    in_database: ClassVar[bool] = True

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        return Receipt()
