"""Channels that one webhook address may speak for, and those in which somebody was heard."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from django.db.models.functions import Now

from handoff.actions.channels import open_transport
from handoff.errors import TransportError
from handoff.models import Channel
from handoff.selectors import inbound
from handoff.transports.base import Transport
from handoff.transports.inbound import Said


@dataclasses.dataclass(frozen=True)
class Opened:
    """A channel with its transport."""

    channel: Channel
    transport: Transport[Any]


def opened(channel: Channel) -> Opened | None:
    """None when its settings can't be read any more."""
    try:
        return Opened(channel, open_transport(channel))
    except TransportError:
        return None


def relatives(channel: Channel, account: str) -> Sequence[Opened]:
    """The channels that an event of `account` may be for when it came with `channel`'s secret: of
    the same kind and account, and with that secret; the oldest first.

    An event without an account is for the channel itself.
    """
    mine = opened(channel)
    if mine is None or not account:
        return [mine] if mine else []
    same_kind = Channel.objects.select_related("agent").filter(kind=channel.kind).order_by("pk")
    found = [other for other in map(opened, same_kind) if other is not None]
    return [
        other
        for other in found
        if other.transport.account() == account
        and (other.channel.pk == channel.pk or mine.transport.shares_account(other.transport))
    ]


def reader_of(kind: str, account: str) -> Channel | None:
    """The channel in which what comes for an account is kept, where no address names one."""
    rows = Channel.objects.select_related("agent").filter(kind=kind).order_by("pk")
    found = (one for one in map(opened, rows) if one is not None)
    return next((one.channel for one in found if one.transport.account() == account), None)


def spoken_to(channel: Channel, said: Said) -> list[int]:
    """The channels whose recipient says this, in the place where that recipient is."""
    return [
        one.channel.pk
        for one in relatives(channel, said.account)
        if one.transport.accepts(said, recipients=inbound.recipients(one.channel, said))
    ]


def note_heard(channels: Sequence[int]) -> None:
    """The recipient of these was heard just now. Inside `writing()`, before events are emitted."""
    Channel.objects.filter(pk__in=channels).order_by("pk").update(last_inbound_at=Now())
