"""Resolves the attempts that a killed process left open: it is not known what became of them."""

import datetime as dt
import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from handoff.actions import dispatch
from handoff.actions.dispatch import Sent, record_outcome
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import AttemptStatus, SessionStatus, TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Attempt, IdempotencyRecord, Redispatch, Session

GRACE_SECONDS: Final = 15.0
KEEP_KEYS: Final = dt.timedelta(hours=24)


def resolve_attempts(*, again: Callable[[int], object] | None = None) -> int:
    """Mark every attempt as unknown that is `sending` well past its deadline; how many.

    Nothing is sent again, unless the channel says that being asked twice is better than not at
    all: then once, by `again` with the session's key (`resend`, here and now, when it is None).
    A person who was reached may answer through the link all the same.
    """
    again = again or resend
    patience = dt.timedelta(seconds=settings.CALL_SECONDS + GRACE_SECONDS)
    stuck = Attempt.objects.filter(status=AttemptStatus.SENDING, at__lt=Now() - patience)
    lost = Sent(
        None,
        TransportError(
            TransportErrorKind.UNKNOWN_OUTCOME, "the desk stopped before the outcome was written"
        ),
        heard=False,
    )
    resolved = 0
    for attempt in list(stuck.select_related("session__channel")):
        if record_outcome(attempt.pk, lost):
            resolved += 1
            if attempt.session.channel.redispatch == Redispatch.ONCE and attempt.number == 1:
                again(attempt.session_id)
    return resolved


def resend(session_pk: int) -> bool:
    """Send an unknown session once more: a new attempt that changes no session status.

    False when an answer came meanwhile, or no place among the provider calls is free.
    """
    try:
        channel = Session.objects.values_list("channel_id", flat=True).get(pk=session_pk)
        with dispatch.slot(channel) as taken:
            attempt = _next_attempt(session_pk)
            if attempt is None:
                return False
            deadline = time.monotonic() + settings.DISPATCH_SECONDS
            sent = dispatch.dispatch(attempt.pk, taken, deadline=deadline)
    except dispatch.NoPlace:
        return False
    return record_outcome(attempt.pk, sent)


def _next_attempt(session_pk: int) -> Attempt | None:
    with writing():
        session, _ = lock(session_pk)
        if session.status != SessionStatus.UNKNOWN:
            return None
        attempt = Attempt.objects.create(session=session, number=session.attempts.count() + 1)
        note("handoff.retried", session, actor="desk", attempt=attempt.public_id)
        return attempt


def forget_keys() -> int:
    """Remove idempotency keys older than a day whose session has ended; how many."""
    ended = (SessionStatus.RELEASED, SessionStatus.FAILED)
    with writing():
        removed, _ = IdempotencyRecord.objects.filter(
            Q(session=None) | Q(session__status__in=ended), created_at__lt=Now() - KEEP_KEYS
        ).delete()
    return removed
