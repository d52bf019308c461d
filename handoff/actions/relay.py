"""Sends what is due in the outbox to recipients: in order for each session, row by row."""

import datetime as dt
import time
from typing import Final

from django.conf import settings
from django.db.models import F, Min, Q
from django.db.models.functions import Now

import audit.trail
from handoff import push
from handoff.actions.channels import note_failure, note_success, open_transport
from handoff.actions.events import emit
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import EventType, SessionStatus, TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Delivery, DeliveryKind, DeliveryStatus, Message
from handoff.selectors import letters
from handoff.transports.base import Receipt

TRIES: Final = 5
BACKOFF_SECONDS: Final = (2, 8, 30, 80)
LEASE: Final = dt.timedelta(seconds=60)
_WORTH_RETRYING: Final = frozenset(
    {
        TransportErrorKind.CONNECT,
        TransportErrorKind.TRANSIENT,
        TransportErrorKind.RATE_LIMITED,
    }
)


def deliver_due() -> int:
    """Send every delivery that is due now; returns how many were tried.

    Only the oldest waiting row of a session is taken, so lines arrive in the order they were
    written. A row that may have arrived is not sent again, unless its sender was killed: then it
    is, under the same id, as a lost line is worse than one that comes twice. A process that stops
    begins no further one, so that it leaves no lease behind.
    """
    tried = 0
    while not push.stopping and (pk := _claim()) is not None:
        _deliver(pk)
        tried += 1
    return tried


def _claim() -> int | None:
    free = Q(lease_until=None) | Q(lease_until__lt=Now())
    heads = (
        Delivery.objects.filter(status=DeliveryStatus.DUE)
        .values("session_id")
        .annotate(head=Min("pk"))
        .values_list("head", flat=True)
    )
    due = Delivery.objects.filter(
        free, pk__in=list(heads), status=DeliveryStatus.DUE, next_attempt_at__lte=Now()
    ).order_by("next_attempt_at")
    for pk in list(due.values_list("pk", flat=True)):
        with writing():
            mine = Delivery.objects.filter(free, pk=pk, status=DeliveryStatus.DUE)
            if mine.update(lease_until=Now() + LEASE, attempts=F("attempts") + 1) == 1:
                return pk
    return None


def _deliver(pk: int) -> None:
    row = Delivery.objects.select_related("message").get(pk=pk)
    row.session = letters.sessions().get(pk=row.session_id)
    try:
        if row.attempts > TRIES:
            raise TransportError(
                TransportErrorKind.UNKNOWN_OUTCOME, "whoever sent it stopped each time on the way"
            )
        receipt = open_transport(row.session.channel).send(
            letters.delivery(row), deadline=time.monotonic() + settings.DISPATCH_SECONDS
        )
    except TransportError as error:
        _failed(row, error)
    else:
        _done(row, receipt)


def _done(row: Delivery, receipt: Receipt) -> None:
    with writing():
        session, conversation = lock(row.session_id)
        Delivery.objects.filter(pk=row.pk).update(
            status=DeliveryStatus.DONE,
            finished_at=Now(),
            lease_until=None,
            provider_message_id=receipt.provider_message_id,
        )
        note_success(session.channel)
        _trail(row, "message.relayed", "")
        if row.message is not None:
            emit(
                EventType.MESSAGE_ROUTED,
                agent=session.agent,
                conversation=conversation,
                session=session,
                message=row.message,
            )


def _failed(row: Delivery, error: TransportError) -> None:
    again = error.kind in _WORTH_RETRYING and row.attempts < TRIES
    with writing():
        session, conversation = lock(row.session_id)
        over = row.kind == DeliveryKind.LINE and session.status == SessionStatus.RELEASED
        fields = {
            "lease_until": None,
            "failure_kind": error.kind,
            "failure": audit.trail.redact(error.operator_detail),
        }
        mine = Delivery.objects.filter(pk=row.pk)
        note_failure(session.channel, error)
        if again and not over:
            wait = max(BACKOFF_SECONDS[row.attempts - 1], error.retry_after or 0)
            mine.update(**fields, next_attempt_at=Now() + dt.timedelta(seconds=wait))
            return
        status = DeliveryStatus.DROPPED if over else DeliveryStatus.FAILED
        mine.update(**fields, status=status, finished_at=Now())
        _trail(row, "message.relay_failed", error.operator_detail, reason=error.kind)
        if row.message is not None:
            Message.objects.filter(pk=row.message.pk).update(undelivered=True)
            emit(
                EventType.MESSAGE_RELAY_FAILED,
                agent=session.agent,
                conversation=conversation,
                session=session,
                message=row.message,
            )


def _trail(row: Delivery, action: str, failure: str, *, reason: str = "") -> None:
    note(
        action,
        row.session,
        actor="desk",
        reason=reason or row.kind,
        failure=failure,
        details={
            "message": row.message.public_id if row.message else None,
            "tries": row.attempts,
            "to": "recipient",
        },
    )
