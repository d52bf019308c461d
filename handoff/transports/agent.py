"""A sibling agent: the recipient reads our own database, so a dispatch is its own commit."""

from typing import Annotated, ClassVar

import pydantic

from handoff.contract.kinds import ChannelKind
from handoff.transports.base import Outgoing, Receipt, Transport, TransportSettings


class SiblingSettings(TransportSettings):
    agent: Annotated[str, pydantic.Field(min_length=1, max_length=64)]
    """The name of the agent that takes over. This channel is the permission to hand to it."""


class Sibling(Transport[SiblingSettings]):
    kind = ChannelKind.AGENT
    settings_model = SiblingSettings
    in_database: ClassVar[bool] = True

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        return Receipt()
