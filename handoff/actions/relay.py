"""Sends what is due in the outbox to recipients: in order for each session, row by row."""

import datetime as dt
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

import audit.trail
from handoff import push
from handoff.actions.channels import keep_changed, note_failure, note_success, sending_transport
from handoff.actions.dispatch import Sent, send_once
from handoff.actions.events import emit
from handoff.actions.outbox import LEASE_SECONDS, OF_ONE_TEXT, Batch, claim
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import patiently, writing
from handoff.contract.kinds import EventType, SessionStatus, TransportErrorKind
from handoff.errors import TransportError
from handoff.models import (
    Conversation,
    Delivery,
    DeliveryKind,
    DeliveryStatus,
    Message,
    Session,
)
from handoff.selectors import letters
from handoff.transports.base import Receipt

TRIES: Final = 5
BACKOFF_SECONDS: Final = (2, 8, 30, 80)
RECORD_SECONDS: Final = LEASE_SECONDS - 5
"""What was sent is written down for so long, with a database that is lost or busy: after that the
lease is over, and somebody else sends it again."""
ROWS_AT_ONCE: Final = 20
"""So many outcomes are one transaction: a hundred would hold the conversation for too long."""
_WORTH_RETRYING: Final = frozenset(
    {
        TransportErrorKind.CONNECT,
        TransportErrorKind.TRANSIENT,
        TransportErrorKind.RATE_LIMITED,
    }
)


def deliver_due() -> int:
    """Send everything that is due now, one after the other; returns how often it tried.

    A process that stops begins nothing further, so that it leaves no lease behind.
    """
    tried = 0
    while not push.stopping and (batch := claim()) is not None:
        deliver(batch)
        tried += 1
    return tried


def deliver(batch: Batch) -> None:
    """Send one claimed batch as one message, and write down what became of each of its rows.

    What failed for now is tried again up to TRIES times, and nothing of its session overtakes it
    meanwhile. What may have arrived is not sent again, unless its sender was killed or its database
    stayed away: then it is, under the same id, as a lost line is worse than one that comes twice.
    """
    rows = list(Delivery.objects.select_related("message").filter(pk__in=batch.rows).order_by("pk"))
    session = letters.sessions().get(pk=batch.session)
    sent = _send(session, rows)
    until = time.monotonic() + RECORD_SECONDS
    for first in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[first : first + ROWS_AT_ONCE]
        if sent.receipt is not None:
            patiently(partial(_done, part, sent.receipt), until=until)
        elif sent.error is not None:
            failed = partial(_failed, part, sent.error, head=rows[0], alone=len(rows) == 1)
            patiently(failed, until=until)


def _send(session: Session, rows: Sequence[Delivery]) -> Sent:
    if rows[0].attempts > TRIES:
        words = "whoever sent it stopped each time on the way"
        return Sent(None, TransportError(TransportErrorKind.UNKNOWN_OUTCOME, words))
    try:
        transport = sending_transport(session.channel)
    except TransportError as error:
        return Sent(None, error)
    message = letters.delivery(session, rows)
    return send_once(transport, message, deadline=time.monotonic() + settings.DISPATCH_SECONDS)


def _done(rows: Sequence[Delivery], receipt: Receipt) -> None:
    with writing():
        session, conversation = lock(rows[0].session_id)
        note_success(session.channel)
        keep_changed(session.channel, receipt.settings)
        _follow(session, receipt.thread_key)
        for row in rows:
            mine = Delivery.objects.filter(pk=row.pk, status=DeliveryStatus.DUE)
            if mine.update(
                status=DeliveryStatus.DONE,
                finished_at=Now(),
                lease_until=None,
                provider_message_id=receipt.provider_message_id,
            ):
                _trail(session, row, "message.relayed", "")
                _tell(EventType.MESSAGE_ROUTED, session, conversation, row.message)


def _follow(session: Session, thread_key: str) -> None:
    """What comes next goes where this went: the thread of the dispatch may have been deleted."""
    known = letters.thread_key(session)
    if known and thread_key and thread_key != known:
        session.attempts.filter(thread_key=known).update(thread_key=thread_key)


def _failed(
    rows: Sequence[Delivery], error: TransportError, *, head: Delivery, alone: bool
) -> None:
    """Each row is tried again, given up, or no longer wanted.

    A refusal that may be about the words of one line fails none of several: the head is tried
    alone, and the others wait for their turn with nothing held against them.
    """
    one_by_one = not alone and error.kind in OF_ONE_TEXT
    worth_it = one_by_one or error.kind in _WORTH_RETRYING
    fields = {
        "lease_until": None,
        "failure_kind": error.kind,
        "failure": audit.trail.redact(error.operator_detail),
    }
    with writing():
        session, conversation = lock(head.session_id)
        over = head.kind == DeliveryKind.LINE and session.status == SessionStatus.RELEASED
        note_failure(session.channel, error)
        for row in rows:
            mine = Delivery.objects.filter(
                pk=row.pk, status=DeliveryStatus.DUE, attempts=row.attempts
            )
            if one_by_one and row.pk != head.pk and not over:
                mine.update(lease_until=None, attempts=F("attempts") - 1)
            elif worth_it and row.attempts < TRIES and not over:
                pause = dt.timedelta(seconds=_pause(head, error, at_once=one_by_one))
                mine.update(**fields, next_attempt_at=Now() + pause)
            else:
                status = DeliveryStatus.DROPPED if over else DeliveryStatus.FAILED
                _give_up(session, conversation, row, error, {**fields, "status": status})


def _pause(head: Delivery, error: TransportError, *, at_once: bool) -> float:
    """Seconds until the next try. Nothing waits for a head that was given up."""
    if at_once or head.attempts >= TRIES:
        return 0
    return max(BACKOFF_SECONDS[head.attempts - 1], error.retry_after or 0)


def _give_up(
    session: Session,
    conversation: Conversation | None,
    row: Delivery,
    error: TransportError,
    fields: dict[str, Any],
) -> None:
    mine = Delivery.objects.filter(pk=row.pk, status=DeliveryStatus.DUE, attempts=row.attempts)
    if not mine.update(**fields, finished_at=Now()):
        return
    _trail(session, row, "message.relay_failed", error.operator_detail, reason=error.kind)
    if row.message is not None:
        Message.objects.filter(pk=row.message.pk).update(undelivered=True)
    _tell(EventType.MESSAGE_RELAY_FAILED, session, conversation, row.message)


def _tell(
    type_: EventType,
    session: Session,
    conversation: Conversation | None,
    message: Message | None,
) -> None:
    if message is not None:
        emit(
            type_,
            agent=session.agent,
            conversation=conversation,
            session=session,
            message=message,
        )


def _trail(session: Session, row: Delivery, action: str, failure: str, *, reason: str = "") -> None:
    note(
        action,
        session,
        actor="desk",
        reason=reason or row.kind,
        failure=failure,
        details={
            "message": row.message.public_id if row.message else None,
            "tries": row.attempts,
            "to": "recipient",
        },
    )
