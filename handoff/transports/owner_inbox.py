"""The owner inbox: the recipient reads our own database, so a dispatch is its own commit."""

from typing import Annotated, ClassVar

import pydantic

from handoff.contract.kinds import ChannelKind
from handoff.transports.base import Outgoing, Receipt, Transport, TransportSettings

A_DAY = 24 * 60


class OwnerInboxSettings(TransportSettings):
    notify_after_minutes: Annotated[int, pydantic.Field(ge=1, le=A_DAY)] | None = None
    """Mail every owner when nobody opened the handoff within so many minutes. Empty: never. With a
    conversation, it must be less than the idle minutes to be of use."""


class OwnerInbox(Transport[OwnerInboxSettings]):
    kind = ChannelKind.OWNER_INBOX
    settings_model = OwnerInboxSettings
    in_database: ClassVar[bool] = True

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        return Receipt()
