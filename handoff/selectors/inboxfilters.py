"""What an owner looks for in the inbox: words, and which handoffs they may stand in."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from django.db import connection
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.lookups import IsNull

from handoff.contract import ids
from handoff.contract.kinds import Urgency
from handoff.contract.text import visible
from handoff.models import Agent, Channel, Conversation, Message

SEARCH_MAX: Final = 200
_REFERENCE: Final = re.compile(f"({ids.SESSION}|{ids.CONVERSATION})[a-z2-7]*")


class Who(StrEnum):
    """Whose handoffs."""

    MINE = "mine"
    NOBODY = "nobody"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """All of it must hold; what is None or "" does not matter."""

    search: str = ""
    agent: int | None = None
    channel: int | None = None
    urgency: Urgency | None = None
    who: Who | None = None

    @property
    def is_narrow(self) -> bool:
        return self != Wanted()

    @property
    def has_choices(self) -> bool:
        """Whether anything but words was chosen."""
        return self != Wanted(search=self.search)


EVERYTHING: Final = Wanted()


@dataclass(frozen=True)
class Choices:
    """What an owner can choose among: ids with names for display."""

    agents: tuple[tuple[int, str], ...]
    channels: tuple[tuple[int, str], ...]


def choices(owner_pk: int) -> Choices:
    """The agents of an owner and their channels, by name."""
    agents = Agent.objects.filter(owners=owner_pk).order_by("name")
    channels = Channel.objects.filter(agent__in=agents).order_by("label", "pk")
    return Choices(
        agents=tuple((agent.pk, str(agent)) for agent in agents),
        channels=tuple((channel.pk, visible(channel.label)) for channel in channels),
    )


def narrowed(found: QuerySet[Any], wanted: Wanted, *, owner_pk: int) -> QuerySet[Any]:
    """The sessions of `found` that are wanted, whatever words are searched."""
    if wanted.agent is not None:
        found = found.filter(agent=wanted.agent)
    if wanted.channel is not None:
        found = found.filter(channel=wanted.channel)
    if wanted.urgency is not None:
        found = found.filter(urgency=wanted.urgency)
    if wanted.who is Who.MINE:
        found = found.filter(holder=owner_pk)
    elif wanted.who is Who.NOBODY:
        found = found.filter(holder=None)
    return found


def is_reference(search: str) -> bool:
    """May it be the beginning of the reference of a handoff or a conversation?"""
    return _REFERENCE.fullmatch(search.lower()) is not None


def refers_to(search: str) -> Q:
    """The handoffs that a reference names, or the conversation that it names."""
    named = search.lower()
    talks = Conversation.objects.filter(public_id__startswith=named)
    return Q(public_id__startswith=named) | Q(conversation__in=talks)


def mentions(search: str) -> Q:
    """Words of the request, the subscriber or the conversation.

    The lines are asked for conversation by conversation: from an EXISTS, PostgreSQL may make a
    reading of all that was ever said.
    """
    found = Q()
    for spelling in _spellings(search):
        said = Message.objects.filter(
            conversation=OuterRef("conversation"), text__icontains=spelling, superseded=False
        )
        found |= (
            Q(summary__icontains=spelling)
            | Q(expected_action__icontains=spelling)
            | Q(conversation__subscriber_name__icontains=spelling)
            | Q(conversation__subscriber_email__icontains=spelling)
            | Q(conversation__external_id__icontains=spelling)
            | Q(channel__label__icontains=spelling)
            | Q(IsNull(Subquery(said.order_by().values("pk")[:1]), False))
        )
    return found


def _spellings(search: str) -> set[str]:
    """SQLite tells capitals from small letters outside ASCII, so each way to write it is tried."""
    if search.isascii() or connection.vendor != "sqlite":
        return {search}
    return {search, search.lower(), search.upper(), search.title(), search.capitalize()}
