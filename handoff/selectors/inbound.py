"""What an event from a provider is about: by the ids of ours that stand in it."""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Final

from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, When
from django.db.models.functions import Now

from handoff.contract import ids
from handoff.contract.kinds import OPEN, SessionStatus
from handoff.models import Attempt, Channel, Delivery, ReturnLink, Session
from handoff.transports.inbound import Said

_REPLIED_TO_MAX: Final = 50
_RECIPIENTS_MAX: Final = 500
_THREADS_MAX: Final = 50


@dataclasses.dataclass(frozen=True, kw_only=True)
class Meant:
    """The handoff that somebody writes about."""

    session: Session | None = None
    by_reference: bool = False
    """An id, an address or a thread of ours named it, not only the place where it was said."""
    several: bool = False
    """It may be one of several."""


def meant(said: Said, channels: Collection[int]) -> Meant:
    """The handoff of these channels that `said` is about, in the order of channels.md 2.6, 3.5
    and 6.7; a release line is not looked at.
    """
    mine = Session.objects.filter(channel__in=channels)
    found = _signed(said, mine) or _replied_to(said, mine)
    if found is not None:
        return Meant(session=found, by_reference=True)
    if _storable([said.thread_key]):
        opened = Attempt.objects.filter(session=OuterRef("pk"), thread_key=said.thread_key)
        in_thread = _one_of(mine.filter(Exists(opened)))
        if in_thread.session or in_thread.several:
            return dataclasses.replace(in_thread, by_reference=True)
    if said.recent_one:
        return _one_of(mine.filter(_went_to(said)), late_only=True)
    if said.only_one:
        return _one_of(mine.filter(status__in=OPEN))
    return Meant()


def _one_of(mine: QuerySet[Session], *, late_only: bool = False) -> Meant:
    """The open one, of several none; without one the newest that has ended, with `late_only` the
    newest that still takes a late answer.
    """
    open_ones = list(mine.filter(status__in=OPEN).order_by("-pk")[:2])
    if open_ones:
        several = len(open_ones) > 1
        return Meant(session=None if several else open_ones[0], several=several)
    ended = mine.filter(_may_answer_late()) if late_only else mine
    return Meant(session=ended.order_by("-pk").first())


def _signed(said: Said, mine: QuerySet[Session]) -> Session | None:
    return mine.filter(public_id=said.session).first() if ids.is_public(said.session) else None


def _replied_to(said: Said, mine: QuerySet[Session]) -> Session | None:
    """The handoff of the nearest message of ours that it answers."""
    named = _storable(said.replies_to[:_REPLIED_TO_MAX])
    known: dict[str, int] = {}
    for rows in (Attempt.objects, Delivery.objects):
        sent = rows.filter(provider_message_id__in=named, session__in=mine).order_by("pk")
        known |= dict(sent.values_list("provider_message_id", "session_id"))
    nearest = next((known[named_id] for named_id in named if named_id in known), None)
    return None if nearest is None else mine.get(pk=nearest)


def _went_to(said: Said) -> Q:
    """The handoffs of whoever writes, where the thread is the person: those of a recipient before
    or after them, in the same channel, are none of theirs.
    """
    threads = Attempt.objects.filter(session=OuterRef("pk")).exclude(thread_key="")
    theirs = threads.filter(thread_key__in=_storable([said.sender_id, said.place]))
    return Q(Exists(theirs)) | ~Q(Exists(threads))


def _may_answer_late() -> Q:
    """Ended without a return, or not known to have arrived; and its return clock runs."""
    live = ReturnLink.objects.filter(session=OuterRef("pk"), revoked_at=None, expires_at__gt=Now())
    without_return = Q(status=SessionStatus.RELEASED, returned_at=None)
    return (Q(status=SessionStatus.UNKNOWN) | without_return) & Q(Exists(live))


def recipients(channel: Channel, said: Said) -> frozenset[str]:
    """The thread keys of what a channel sent: the newest, and those that `said` names."""
    keys = (
        Attempt.objects.filter(session__channel=channel)
        .exclude(thread_key="")
        .values_list("thread_key", flat=True)
    )
    named = _storable([said.thread_key, said.place, said.sender_id])
    newest = keys.order_by("-pk")[:_RECIPIENTS_MAX]
    return frozenset(newest) | frozenset(keys.filter(thread_key__in=named))


def threads(channels: Collection[int]) -> tuple[str, ...]:
    """The thread keys of the handoffs that may still be answered, the open ones first."""
    answerable = Session.objects.filter(
        Q(status__in=OPEN) | _may_answer_late(), channel__in=channels
    )
    first_the_open = Case(When(status__in=OPEN, then=0), default=1, output_field=IntegerField())
    keys = (
        Attempt.objects.filter(session__in=answerable.order_by(first_the_open, "-pk")[:200])
        .exclude(thread_key="")
        .order_by("-pk")
        .values_list("thread_key", flat=True)
    )
    return tuple(dict.fromkeys(keys))[:_THREADS_MAX]


def attempt_sent_as(message_id: str, channels: Collection[int]) -> Attempt | None:
    """The try at a dispatch that the provider gave this id."""
    if not _storable([message_id]):
        return None
    mine = Attempt.objects.filter(session__channel__in=channels)
    return mine.filter(provider_message_id=message_id).order_by("-pk").first()


def deliveries_sent_as(message_id: str, channels: Collection[int]) -> list[Delivery]:
    """The outbox rows that went as the message with this id."""
    if not _storable([message_id]):
        return []
    mine = Delivery.objects.filter(session__channel__in=channels)
    rows = mine.filter(provider_message_id=message_id).order_by("pk")
    return list(rows.select_related("message"))


def _storable(texts: Sequence[str]) -> list[str]:
    """What may stand in a column: PostgreSQL refuses a NUL even in a question."""
    return [text for text in texts if text and "\x00" not in text]
