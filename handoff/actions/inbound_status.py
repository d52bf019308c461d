"""A provider's later word about what we sent: delivered, read, bounced, or moved elsewhere."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat, Now, Substr

import audit.trail
from handoff.actions.channels import keep_changed, note_failure
from handoff.actions.events import emit
from handoff.actions.inbound_outcomes import Applied, Became, Wait
from handoff.actions.refusals import note_inbound
from handoff.actions.relatives import relatives
from handoff.actions.release import Ending, end, lock
from handoff.actions.trail import note
from handoff.contract.kinds import AttemptStatus, EventType, ReleaseKind, SessionStatus
from handoff.errors import TransportError
from handoff.models import (
    Attempt,
    Channel,
    Conversation,
    Delivery,
    DeliveryStatus,
    InboundEvent,
    Message,
    Session,
)
from handoff.selectors import inbound
from handoff.transports.inbound import Moved, Progress, Status

PATIENCE: Final = dt.timedelta(minutes=5)
"""For the word about a message whose id we have not committed yet."""
AGAIN_SECONDS: Final = 5.0
BOUNCED: Final = "bounced"
_FROM: Final = {
    Progress.DELIVERED: ("", BOUNCED),
    Progress.READ: ("", BOUNCED, Progress.DELIVERED),
    Progress.FAILED: ("",),
}
"""What `Attempt.delivery` may be before: it moves forward, and a bounce is what is left when
nobody has it. That a provider has `sent` it says no more than that it was accepted."""


def apply_status(row: InboundEvent, status: Status) -> Applied | Wait:
    """Keep the word with the message that it is about. Inside `writing()`."""
    channels = [one.channel.pk for one in relatives(row.channel, status.account)]
    attempt = inbound.attempt_sent_as(status.message_id, channels)
    if attempt is not None:
        return _of_dispatch(attempt, status)
    deliveries = inbound.deliveries_sent_as(status.message_id, channels)
    if deliveries:
        return _of_lines(deliveries, status)
    young = InboundEvent.objects.filter(pk=row.pk, received_at__gt=Now() - PATIENCE)
    if young.exists():
        return Wait(seconds=AGAIN_SECONDS)
    note_inbound("inbound.unmatched", row.channel, "unknown_message")
    return Applied(became=Became.UNMATCHED)


def apply_moved(row: InboundEvent, moved: Moved) -> Applied:
    """The place has another id from now on, in the settings and in the ids that we kept."""
    for one in relatives(row.channel, moved.account):
        sent = Attempt.objects.filter(session__channel=one.channel)
        _rewrite(sent, "provider_message_id", moved)
        _rewrite(sent, "thread_key", moved)
        told = Delivery.objects.filter(session__channel=one.channel)
        _rewrite(told, "provider_message_id", moved)
        keep_changed(one.channel, moved.settings)
    return Applied(became=Became.MOVED)


def _rewrite(rows: QuerySet[Attempt] | QuerySet[Delivery], field: str, moved: Moved) -> None:
    if not moved.old_prefix:
        return
    rest = Substr(F(field), len(moved.old_prefix) + 1)
    rows.filter(**{f"{field}__startswith": moved.old_prefix}).update(
        **{field: Concat(Value(moved.new_prefix), rest)}
    )


def _of_dispatch(attempt: Attempt, status: Status) -> Applied:
    session, conversation = lock(attempt.session_id)
    before = _FROM.get(status.progress, ())
    now = BOUNCED if status.progress is Progress.FAILED else str(status.progress)
    changed = Attempt.objects.filter(pk=attempt.pk, delivery__in=before).update(
        delivery=now, delivery_at=Now()
    )
    if not changed:
        return Applied(became=Became.NO_NEWS, session=session)
    bounced = status.progress is Progress.FAILED
    note(
        "handoff.bounced" if bounced else "handoff.delivery_changed",
        session,
        actor="desk",
        attempt=attempt.public_id,
        reason=status.failure_kind or now,
        failure=status.failure,
        details={"provider_code": status.provider_code or None},
    )
    _note_failure(session.channel, status)
    emit(
        EventType.DELIVERY_CHANGED,
        agent=session.agent,
        conversation=conversation,
        session=session,
    )
    if bounced:
        _end_undeliverable(session, conversation)
    return Applied(became=Became.DELIVERY, session=session)


def _end_undeliverable(session: Session, conversation: Conversation | None) -> None:
    """Nobody was reached after all, unless another try was taken or somebody has spoken."""
    if session.status != SessionStatus.ACTIVE or session.joined_name:
        return
    arrived = session.attempts.exclude(delivery=BOUNCED).exclude(status=AttemptStatus.REFUSED)
    if not arrived.exists():
        ending = Ending(kind=ReleaseKind.UNDELIVERABLE, actor="desk")
        end(session, conversation, ending, where=Q(joined_name=""))


def _of_lines(deliveries: Sequence[Delivery], status: Status) -> Applied:
    """A relayed line, or the lines that went as one message, may not have arrived after all."""
    session, conversation = lock(deliveries[0].session_id)
    if status.progress is not Progress.FAILED:
        return Applied(became=Became.NO_NEWS, session=session)
    failed = [row for row in deliveries if _fell(row, status)]
    if not failed:
        return Applied(became=Became.NO_NEWS, session=session)
    _note_failure(session.channel, status)
    for row in failed:
        note(
            "message.relay_failed",
            session,
            actor="desk",
            reason=status.failure_kind or BOUNCED,
            failure=status.failure,
            details={
                "message": row.message.public_id if row.message else None,
                "provider_code": status.provider_code or None,
                "to": "recipient",
            },
        )
        if row.message is not None:
            emit(
                EventType.MESSAGE_RELAY_FAILED,
                agent=session.agent,
                conversation=conversation,
                session=session,
                message=row.message,
            )
    return Applied(became=Became.DELIVERY, session=session)


def _fell(row: Delivery, status: Status) -> bool:
    sent = Delivery.objects.filter(pk=row.pk, status=DeliveryStatus.DONE)
    if not sent.update(
        status=DeliveryStatus.FAILED,
        failure_kind=status.failure_kind or "",
        failure=audit.trail.redact(status.failure),
    ):
        return False
    if row.message is not None:
        Message.objects.filter(pk=row.message.pk).update(undelivered=True)
    return True


def _note_failure(channel: Channel, status: Status) -> None:
    if status.failure_kind is not None:
        error = TransportError(
            status.failure_kind,
            status.failure,
            provider_code=status.provider_code or None,
            hint=status.hint,
        )
        note_failure(channel, error)
