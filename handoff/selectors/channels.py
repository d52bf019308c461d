"""Which channels an agent may use right now, and how they are named to it."""

import dataclasses
import datetime as dt
from collections.abc import Sequence
from typing import Final

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from handoff.contract import limits
from handoff.contract.answers import ChannelName
from handoff.contract.kinds import ChannelKind
from handoff.contract.payloads import ChannelView
from handoff.models import Agent, Channel
from handoff.transports import carried

NO_OWNER: Final = (
    "Nobody looks after this agent, so its owner inbox reaches nobody and no agent may use it. "
    "Give it one who may sign in, in the admin under Agents."
)
DESERTED: Final = Q(kind=ChannelKind.OWNER_INBOX) & ~Exists(
    Agent.owners.through.objects.filter(agent=OuterRef("agent"), user__is_active=True)
)
"""An owner inbox into which nobody looks."""
_SILENT: Final = Q(kind=ChannelKind.AGENT) & ~Q(target__enabled=True)
"""A sibling that is switched off."""


def name_of(channel: Channel) -> ChannelName:
    return ChannelName(
        id=channel.pk,
        kind=channel.kind,
        label=channel.label,
        estimated_response=channel.estimated_response,
    )


@dataclasses.dataclass(frozen=True)
class Offer:
    """One channel with what decides whether it may be used now."""

    channel: Channel
    usable: bool
    """Enabled, healthy or due for another try, not paused, somebody there."""
    contacts: int
    """Attempts within the last hour."""

    @property
    def available(self) -> bool:
        return self.usable and self.contacts < self.channel.contact_limit_per_hour

    @property
    def view(self) -> ChannelView:
        return ChannelView(
            id=self.channel.pk,
            kind=self.channel.kind,
            label=self.channel.label,
            available=self.available,
            estimated_response=self.channel.estimated_response,
        )


def offers(agent: Agent) -> list[Offer]:
    """Every channel of an agent, by id, with its availability by the database's clock."""
    found = (
        Channel.objects.filter(agent=agent)
        .annotate(
            usable=ExpressionWrapper(
                Q(enabled=True)
                & Q(kind__in=list(carried()))
                & (
                    Q(healthy=True)
                    | Q(unhealthy_since__lte=Now() - dt.timedelta(minutes=limits.HALF_OPEN_MINUTES))
                )
                & (Q(paused_until=None) | Q(paused_until__lte=Now()))
                & ~DESERTED
                & ~_SILENT,
                output_field=BooleanField(),
            ),
            contacts=Count(
                "sessions__attempts",
                filter=Q(sessions__attempts__at__gt=Now() - dt.timedelta(hours=1)),
            ),
        )
        .order_by("id")
    )
    return [Offer(channel, channel.usable, channel.contacts) for channel in found]


def deserted(rows: QuerySet[Channel]) -> QuerySet[Channel]:
    """Those that reach nobody because nobody looks after their agent."""
    return rows.filter(DESERTED)


def has_deserted_inbox(agent: Agent) -> bool:
    return deserted(Channel.objects.filter(agent=agent, enabled=True)).exists()


def available(agent: Agent) -> list[Channel]:
    """The channels that this agent may use right now, by id."""
    return [offer.channel for offer in offers(agent) if offer.available]


def others(agent: Agent, *, besides: int) -> Sequence[ChannelName]:
    return [name_of(channel) for channel in available(agent) if channel.pk != besides]


def listing(agent: Agent) -> list[ChannelView]:
    return [offer.view for offer in offers(agent)]
