"""The outbox: what is due for which recipient, and the lease that says who sends it."""

import dataclasses
import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.conf import settings
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from handoff.actions.writing import writing
from handoff.contract.kinds import TransportErrorKind
from handoff.models import Channel, Delivery, DeliveryKind, DeliveryStatus
from handoff.transports import carried, collects_lines

LEASE_SECONDS: Final = 50.0
"""How much longer than a send may take its rows are left to whoever sends them."""
COLLECTED_LINES: Final = 100
COLLECTED_BYTES: Final = 60_000
"""What one message of several lines holds at most, in UTF-8; what is over waits for the next."""
NOBODY: Final[Mapping[int, int]] = MappingProxyType({})
OF_ONE_TEXT: Final = frozenset(
    {
        TransportErrorKind.PERMISSION,
        TransportErrorKind.TOO_LONG,
        TransportErrorKind.BAD_FORMAT,
    }
)
"""Refusals that may be about the words of one line, so the others must not fall with it."""


@dataclasses.dataclass(frozen=True)
class Batch:
    """Rows of one session that are ours to send as one message, in order."""

    session: int
    channel: int
    rows: tuple[int, ...]


def claim(*, sending: Mapping[int, int] = NOBODY, places: int = 1) -> Batch | None:
    """Lease what has been due for longest; None when nothing is.

    `sending` says how many sends each channel has under way: one that has fewer goes first, and
    one that has `places`, or any while its last word was a failure, gets no further one.
    Only the oldest waiting row of a session is ever due, so lines arrive in the order they were
    written. A transport that collects takes the lines behind it into the same message, and no
    further message follows within `COLLECT_SECONDS`. What a killed process was sending is taken
    again as it was, when its lease is over.
    """
    heads = list(_due().select_related("session__channel"))
    for head in sorted(heads, key=lambda row: sending.get(row.session.channel_id, 0)):
        channel = head.session.channel
        if sending.get(channel.pk, 0) >= (1 if _fails(channel) else places):
            continue
        with writing():
            behind = _behind(head) if collects_lines(channel.kind) else []
            if _lease(head.pk, next_attempt_at__lte=Now()):
                # one by one: a release may have dropped some since we looked
                ours = [pk for pk in behind if _lease(pk)]
                return Batch(head.session_id, channel.pk, (head.pk, *ours))
    return None


def _fails(channel: Channel) -> bool:
    """Whether the last that was heard of it was a failure."""
    failed, worked = channel.last_error_at, channel.last_success_at
    return failed is not None and (worked is None or worked < failed)


def _free() -> Q:
    return Q(lease_until=None) | Q(lease_until__lt=Now())


def _due() -> QuerySet[Delivery]:
    heads = (
        Delivery.objects.filter(status=DeliveryStatus.DUE)
        .values("session_id")
        .annotate(head=Min("pk"))
        .values("head")
    )
    return (
        Delivery.objects.filter(_free(), pk__in=heads, next_attempt_at__lte=Now())
        .exclude(_too_soon())
        .order_by("next_attempt_at")
    )


def _too_soon() -> Q:
    """A line whose recipient has had one a short while ago, or may have."""
    collecting = [kind for kind in carried() if collects_lines(kind)]
    recent = Delivery.objects.filter(
        Q(status=DeliveryStatus.DONE) | Q(failure_kind=TransportErrorKind.UNKNOWN_OUTCOME),
        session=OuterRef("session"),
        kind=DeliveryKind.LINE,
        finished_at__gt=Now() - dt.timedelta(seconds=settings.COLLECT_SECONDS),
    )
    return Q(kind=DeliveryKind.LINE, session__channel__kind__in=collecting) & Q(Exists(recent))


def _lease(row: int, **still: object) -> bool:
    """False when somebody was faster. Inside `writing()`."""
    span = dt.timedelta(seconds=LEASE_SECONDS + settings.DISPATCH_SECONDS)
    mine = Delivery.objects.filter(_free(), pk=row, status=DeliveryStatus.DUE, **still)
    return mine.update(lease_until=Now() + span, attempts=F("attempts") + 1) == 1


def _behind(head: Delivery) -> list[int]:
    """The lines that go with the one at the head, up to the limits.

    None when that one was refused for what may be its own words: it is tried alone. With one that
    a killed process was sending, those that went with it and no further one: the message may have
    arrived, and a second one under the same id with more in it would be taken for the same.
    """
    rows = Delivery.objects.filter(
        session_id=head.session_id, status=DeliveryStatus.DUE, pk__gte=head.pk
    )
    if head.lease_until is not None:
        rows = rows.filter(lease_until__isnull=False)
    room, found = COLLECTED_BYTES, []
    for pk, kind, text, failure in rows.order_by("pk").values_list(
        "pk", "kind", "message__text", "failure_kind"
    )[:COLLECTED_LINES]:
        room -= len((text or "").encode())
        alone = pk == head.pk and failure in OF_ONE_TEXT
        if kind != DeliveryKind.LINE or alone or (room < 0 and pk != head.pk):
            break
        found.append(pk)
    return found[1:]
