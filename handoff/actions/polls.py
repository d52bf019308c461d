"""One look into a mailbox or a queue that no provider posts to us.

A lease in the channel's row, by the database's clock, says who looks; what came and where to go on
are one commit, so that nothing is lost and nothing counts twice.
"""

import collections
import dataclasses
import datetime as dt
import functools
import logging
import time
from collections.abc import Collection
from typing import Final

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from handoff.actions import inbound
from handoff.actions.channels import note_failure, note_success
from handoff.actions.relatives import Opened, opened, relatives
from handoff.actions.writing import writing
from handoff.contract.kinds import OPEN, TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Channel, Session
from handoff.selectors.inbound import threads
from handoff.transports import carried, transport_class
from handoff.transports.base import Transport
from handoff.transports.inbound import Polled

log = logging.getLogger(__name__)
GRACE_SECONDS: Final = 30.0
"""How much longer than a look may take its channel is left to whoever looks."""
BACKOFF_SECONDS: Final = (10, 20, 60, 120, 300)


@dataclasses.dataclass(frozen=True)
class Looked:
    """What one look brought."""

    channel: int
    events: int = 0
    problem: str = ""
    """Why it failed, as an admin reads it."""


_failures: collections.Counter[int] = collections.Counter()
"""How often each channel failed in a row, in this process."""


def polling(*, kinds: Collection[str] | None = None, only: int | None = None) -> list[Opened]:
    """The channels whose settings ask for it, whoever was longest not looked at first.

    One that is switched off is read as long as a handoff is open in it.
    """
    able = [
        kind
        for kind in carried()
        if (kinds is None or kind in kinds) and transport_class(kind).poll is not Transport.poll
    ]
    is_open = Session.objects.filter(channel=OuterRef("pk"), status__in=OPEN)
    rows = Channel.objects.filter(Q(enabled=True) | Exists(is_open), kind__in=able)
    if only is not None:
        rows = rows.filter(pk=only)
    rows = rows.select_related("agent").order_by("poll_at", "pk")
    found = [opened(row) for row in rows if _asks_for_it(row.kind, row.sealed_settings)]
    return _one_for_each_account([one for one in found if one is not None])


def _one_for_each_account(found: list[Opened]) -> list[Opened]:
    """Of channels that share a mailbox, the oldest reads it for all of them; when it no longer
    does, the next one goes on.
    """
    readers: dict[tuple[str, str], list[Opened]] = {}
    for one in sorted(found, key=lambda one: one.channel.pk):
        same = readers.setdefault((one.channel.kind, one.transport.account()), [])
        if not one.transport.account() or not any(
            reader.transport.shares_account(one.transport) for reader in same
        ):
            same.append(one)
    read_by = {one.channel.pk for same in readers.values() for one in same}
    return [one for one in found if one.channel.pk in read_by]


@functools.lru_cache(maxsize=4096)
def _asks_for_it(kind: str, sealed: str) -> bool:
    """Most do not, and to open one each time would cost more than the look at it."""
    found = opened(Channel(kind=kind, sealed_settings=sealed))
    return found is not None and found.transport.polls


def lease(channel: Channel) -> bool:
    """False when somebody else looks, or it is not time yet."""
    span = dt.timedelta(seconds=settings.DISPATCH_SECONDS + GRACE_SECONDS)
    with writing():
        due = Channel.objects.filter(pk=channel.pk, poll_at__lte=Now())
        return due.update(poll_at=Now() + span) == 1


def look_into(one: Opened) -> Looked:
    """Look once into a channel whose lease is ours, keep what came, and give the lease back."""
    channel = Channel.objects.select_related("agent").get(pk=one.channel.pk)
    sharing = relatives(channel, one.transport.account())
    open_threads = threads([other.channel.pk for other in sharing])
    deadline = time.monotonic() + settings.DISPATCH_SECONDS
    try:
        polled = one.transport.poll(channel.poll_cursor, threads=open_threads, deadline=deadline)
    except TransportError as error:
        return _failed(channel, error)
    except Exception as error:  # the mailbox loop: whatever one breaks, the next must be read
        log.exception("a mailbox failed in a way that its transport does not declare")
        said = f"{type(error).__name__}: {error}"
        return _failed(channel, TransportError(TransportErrorKind.TRANSIENT, said))
    return _kept(channel, polled, pause=one.transport.poll_every)


def _kept(channel: Channel, polled: Polled, *, pause: float) -> Looked:
    with writing():
        events = inbound.keep(channel, polled.events)
        _rest(channel, pause, poll_cursor=polled.cursor, poll_hint=polled.hint[:400])
        if _failures.pop(channel.pk, 0):
            note_success(channel)
    return Looked(channel.pk, events=len(events))


def _failed(channel: Channel, error: TransportError) -> Looked:
    tries = min(_failures[channel.pk], len(BACKOFF_SECONDS) - 1)
    _failures[channel.pk] += 1
    problem = f"Replies cannot be read now. {error.hint or error.operator_detail}"[:400]
    with writing():
        note_failure(channel, error)
        _rest(channel, max(BACKOFF_SECONDS[tries], error.retry_after or 0), poll_hint=problem)
    return Looked(channel.pk, problem=problem)


def _rest(channel: Channel, seconds: float, **fields: str) -> None:
    Channel.objects.filter(pk=channel.pk).update(
        poll_at=Now() + dt.timedelta(seconds=seconds), **fields
    )
