"""The lists of the owner inbox: groups, their order, pages, and how far back they go.

Each group is read by an index of its own (models/session.py), so that what ended long ago costs an
open page nothing.
"""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.core.paginator import Paginator
from django.db.models import Case, F, IntegerField, Q, QuerySet, When
from django.db.models.functions import Now

from handoff.contract.kinds import SessionStatus, Urgency
from handoff.models import Agent, Session
from handoff.models.session import ENDED
from handoff.selectors import inboxfilters
from handoff.selectors.inboxes import Row, rows_of
from handoff.selectors.inboxfilters import EVERYTHING, Wanted

OVERVIEW_ROWS: Final = 20
PAGE_ROWS: Final = 25
DONE_MAX: Final = 2_000
"""Of what is done so many are listed and searched, the latest first: each new line of a subscriber
has open pages read their list again.
"""
RECENT: Final = dt.timedelta(days=7)
"""Late returns and failures older than this stand among what is done."""


class Group(StrEnum):
    """The groups of the list, in its order."""

    ACTIVE = "active"
    WAITING = "waiting"
    LATE = "late"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True)
class Section:
    """One group of the list with its first rows."""

    group: Group
    total: int
    rows: tuple[Row, ...]

    @property
    def has_more(self) -> bool:
        return self.total > len(self.rows)

    @property
    def is_cut(self) -> bool:
        """Whether there may be more than `total`."""
        return _is_cut(self.group, self.total)


@dataclass(frozen=True)
class Overview:
    """All groups that have handoffs, each with its first rows."""

    sections: tuple[Section, ...]
    owns_agents: bool


@dataclass(frozen=True, kw_only=True)
class PageOfRows:
    """One page of one group."""

    group: Group
    total: int
    rows: tuple[Row, ...]
    number: int
    pages: int

    @property
    def is_cut(self) -> bool:
        """Whether there may be more than `total`."""
        return _is_cut(self.group, self.total)

    @property
    def previous(self) -> int:
        return self.number - 1

    @property
    def next(self) -> int:
        return self.number + 1


def overview(owner_pk: int, *, wanted: Wanted = EVERYTHING) -> Overview:
    """The first rows of every group; at most two queries for each, whatever there is."""
    agents = _agents(owner_pk)
    listed = {group: _listed(agents, group, wanted, owner_pk) for group in Group}
    first = {group: list(found[:OVERVIEW_ROWS]) for group, found in listed.items()}
    rows = rows_of(pk for pks in first.values() for pk in pks)
    sections = (
        Section(
            group,
            total=len(pks) if len(pks) < OVERVIEW_ROWS else listed[group].count(),
            rows=tuple(rows[pk] for pk in pks if pk in rows),
        )
        for group, pks in first.items()
        if pks
    )
    return Overview(tuple(sections), bool(agents))


def page(owner_pk: int, group: Group, *, number: str, wanted: Wanted = EVERYTHING) -> PageOfRows:
    """One page of one group; the nearest one for a number that is none."""
    whole = _listed(_agents(owner_pk), group, wanted, owner_pk)
    pages = Paginator(whole, PAGE_ROWS)
    at = pages.get_page(number).number
    pks = list(whole[PAGE_ROWS * (at - 1) : PAGE_ROWS * at])
    rows = rows_of(pks)
    return PageOfRows(
        group=group,
        total=pages.count,
        rows=tuple(rows[pk] for pk in pks if pk in rows),
        number=at,
        pages=pages.num_pages,
    )


def searches_all(owner_pk: int, wanted: Wanted) -> bool:
    """False when more is done than a search looks through."""
    return _latest(_members(_agents(owner_pk), Group.DONE, wanted, owner_pk)).count() < DONE_MAX


def _agents(owner_pk: int) -> list[int]:
    """As numbers, not as a subquery: so an index is read by them."""
    return list(Agent.objects.filter(owners=owner_pk).values_list("pk", flat=True))


def _is_cut(group: Group, total: int) -> bool:
    return group is Group.DONE and total >= DONE_MAX


def _listed(
    agents: Collection[int], group: Group, wanted: Wanted, owner_pk: int
) -> QuerySet[Session, int]:
    """The wanted handoffs of one group in its order, by primary key."""
    found = _members(agents, group, wanted, owner_pk)
    search = wanted.search
    if group is Group.DONE:
        return _latest(_found_among_done(found, search) if search else found)
    if search:
        found = found.filter(inboxfilters.mentions(search) | inboxfilters.refers_to(search))
    rank = Case(
        When(urgency=Urgency.HIGH, then=0),
        When(urgency=Urgency.LOW, then=2),
        default=1,
        output_field=IntegerField(),
    )
    return found.order_by(rank, F("created_at"), F("pk")).values_list("pk", flat=True)


def _members(
    agents: Collection[int], group: Group, wanted: Wanted, owner_pk: int
) -> QuerySet[Session]:
    """One group, narrowed by everything but the words that are searched."""
    recent = Now() - RECENT
    released, failed = Q(status=SessionStatus.RELEASED), Q(status=SessionStatus.FAILED)
    match group:
        case Group.ACTIVE:
            belongs = Q(status=SessionStatus.ACTIVE)
        case Group.WAITING:
            belongs = Q(status=SessionStatus.DISPATCHING)
        case Group.LATE:
            belongs = released & Q(late=True, returned_at__gt=recent)
        case Group.FAILED:
            belongs = Q(status=SessionStatus.UNKNOWN) | failed & Q(created_at__gt=recent)
        case Group.DONE:
            belongs = released & (Q(late=False) | Q(returned_at__lte=recent))
            belongs |= failed & Q(created_at__lte=recent)
    mine = Session.objects.filter(belongs, agent__in=agents)
    return inboxfilters.narrowed(mine, wanted, owner_pk=owner_pk)


def _latest(done: QuerySet[Session]) -> QuerySet[Session, int]:
    return done.order_by(ENDED.desc(), "-pk").values_list("pk", flat=True)[:DONE_MAX]


def _found_among_done(done: QuerySet[Session], search: str) -> QuerySet[Session]:
    """Those of the latest that have the words in them, and whatever a reference names.

    Read as ids first: so each half is read by its index.
    """
    latest = Session.objects.filter(pk__in=list(_latest(done)))
    said = latest.filter(inboxfilters.mentions(search))
    found = set(said.values_list("pk", flat=True))
    if inboxfilters.is_reference(search):
        found.update(_latest(done.filter(inboxfilters.refers_to(search))))
    return Session.objects.filter(pk__in=found)
