"""The owner inbox: which handoffs an owner sees, and what is shown of each.

Every reader takes the owner: a superuser, too, sees only the agents that they own.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import (
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce, Now

from handoff.contract import ids
from handoff.contract.kinds import Author, ChannelKind, SessionStatus
from handoff.contract.text import visible
from handoff.models import Agent, Message, ReturnLink, Session
from handoff.selectors import inboxwords, payloads

WAITING_MAX: Final = 99
MOMENT: Final = dt.timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One handoff in the list. Times are aware; texts are data and are shown escaped."""

    handoff: str
    conversation: str
    """The public id of its conversation; "" for a detached one."""
    status: str
    late: bool
    state: str
    subject: str
    subscriber: str
    agent: str
    channel: str
    kind: str
    urgency: str
    urgency_words: str
    holder: str
    """The owner who took it on; "" while nobody holds it."""
    spoke: str
    """Who was the first to reply; "" while nobody did."""
    since: dt.datetime
    idle_at: dt.datetime | None
    """When the bypass ends by itself; None when no such clock runs."""
    return_until: dt.datetime | None
    """Until when the return form can still be sent; None when it can't."""
    now: dt.datetime
    """The database's clock when the row was read."""

    @property
    def is_new(self) -> bool:
        return self.now - self.since < MOMENT

    @property
    def is_nearly_idle(self) -> bool:
        return self.idle_at is not None and self.idle_at - self.now < MOMENT

    @property
    def is_nearly_closed(self) -> bool:
        return self.return_until is not None and self.return_until - self.now < MOMENT


def sessions_of(owner_pk: int) -> QuerySet[Session]:
    """The handoffs of the owner's agents, with what rows and strips need."""
    return (
        payloads.sessions()
        .select_related("holder")
        .filter(agent__in=Agent.objects.filter(owners=owner_pk))
        .annotate(now=Now())
    )


def session_of(owner_pk: int, public_id: str) -> Session | None:
    """The owner's handoff by its public id; None for another's and for none."""
    rows = sessions_of(owner_pk).filter(public_id=public_id)
    return rows.first() if ids.is_public(public_id) else None


def waiting(owner_pk: int) -> tuple[str, ...]:
    """The active handoffs in which the owner's next word is awaited, by public id, oldest first.

    They hold it, or it waits in an owner inbox and nobody does; and nobody of the recipient's side
    spoke after the subscriber.
    """
    last = Message.objects.filter(
        session=OuterRef("pk"), author__in=(Author.SUBSCRIBER, Author.PERSON)
    ).order_by("-event_id")
    free = Q(holder=None, channel__kind=ChannelKind.OWNER_INBOX)
    return tuple(
        Session.objects.filter(
            Q(holder=owner_pk) | free,
            agent__in=Agent.objects.filter(owners=owner_pk),
            status=SessionStatus.ACTIVE,
        )
        .annotate(last=Coalesce(Subquery(last.values("author")[:1]), Value("")))
        .exclude(last=Author.PERSON)
        .order_by("pk")
        .values_list("public_id", flat=True)[:WAITING_MAX]
    )


def rows_of(pks: Iterable[int]) -> dict[int, Row]:
    """Handoffs as rows of the list, by primary key; those that are gone are not among them."""
    closes = (
        ReturnLink.objects.filter(session=OuterRef("pk"), revoked_at=None)
        .order_by("-expires_at")
        .values("expires_at")[:1]
    )
    read: QuerySet[Any] = Session.objects.filter(pk__in=list(pks))
    read = read.select_related("channel", "conversation", "agent", "holder")
    read = read.annotate(now=Now(), closes=Subquery(closes))
    return {session.pk: row(session, closes=session.closes) for session in read}


def row(session: Session, *, closes: dt.datetime | None) -> Row:
    """A handoff read through `sessions_of`; `closes` is the end of its last live link."""
    now: dt.datetime = session.now  # type: ignore[attr-defined]
    may_return = session.status != SessionStatus.FAILED and session.returned_at is None
    return Row(
        handoff=session.public_id,
        conversation=session.conversation.public_id if session.conversation else "",
        status=session.status,
        late=session.late,
        state=inboxwords.state(session),
        subject=visible(session.expected_action),
        subscriber=subscriber_of(session),
        agent=visible(str(session.agent)),
        channel=visible(session.channel.label),
        kind=str(inboxwords.KINDS.get(session.channel.kind, session.channel.kind)),
        urgency=session.urgency,
        urgency_words=str(inboxwords.URGENCIES[session.urgency]),
        holder=holder_of(session),
        spoke=visible(session.joined_name),
        since=session.created_at,
        idle_at=payloads.idle_at(session),
        return_until=closes if may_return and closes is not None and closes > now else None,
        now=now,
    )


def subscriber_of(session: Session) -> str:
    """What the subscriber is called: the name, else the address, else the agent's own id."""
    if session.conversation is None:
        return ""
    known = session.conversation
    return visible(known.subscriber_name or known.subscriber_email or known.external_id)


def holder_of(session: Session) -> str:
    """The name of the owner who holds it; "" for nobody."""
    return "" if session.holder is None else owner_name(session.holder)


def owner_name(owner: User) -> str:
    return visible(owner.get_full_name() or owner.get_username())
