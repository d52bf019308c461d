"""Resolves the attempts that a killed process left open: it is not known what became of them."""

import datetime as dt
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from django.conf import settings
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from handoff.actions import dispatch
from handoff.actions.dispatch import Sent, record_outcome
from handoff.actions.relatives import opened
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import AttemptStatus, SessionStatus, TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Attempt, Channel, IdempotencyRecord, Redispatch, Session

GRACE_SECONDS: Final = 15.0
SAFE_SPAN: Final = dt.timedelta(minutes=3)
"""How long a provider that drops repeats by itself surely knows one."""
KEEP_KEYS: Final = dt.timedelta(hours=24)


def resolve_attempts(*, run: Callable[[Callable[[], object]], object] | None = None) -> int:
    """Mark every attempt as unknown that is `sending` well past its deadline; how many.

    Nothing is sent again, unless the provider drops a repeat by itself, so that the same message
    may go once more and its outcome be known after all; or the channel says that being asked twice
    is better than not at all: then once, as a new attempt. `run` is given such work (None: here
    and now). A person who was reached may answer through the link all the same.
    """
    run = run or _at_once
    patience = dt.timedelta(seconds=settings.CALL_SECONDS + GRACE_SECONDS)
    stuck = Attempt.objects.filter(status=AttemptStatus.SENDING, at__lt=Now() - patience)
    young = ExpressionWrapper(Q(at__gt=Now() - SAFE_SPAN), output_field=BooleanField())
    resolved = 0
    for attempt in list(stuck.select_related("session__channel").annotate(young=young)):
        channel = attempt.session.channel
        if attempt.young and _drops_repeats(channel):
            run(partial(repeat, attempt.pk))
        elif record_outcome(attempt.pk, _lost()):
            resolved += 1
            if channel.redispatch == Redispatch.ONCE and attempt.number == 1:
                run(partial(resend, attempt.session_id))
    return resolved


def _at_once(work: Callable[[], object]) -> None:
    work()


def _drops_repeats(channel: Channel) -> bool:
    found = opened(channel)
    return found is not None and found.transport.resends_safely


def _lost() -> Sent:
    words = "the desk stopped before the outcome was written"
    return Sent(None, TransportError(TransportErrorKind.UNKNOWN_OUTCOME, words), heard=False)


def repeat(attempt_pk: int) -> bool:
    """Send an attempt again as the message that it was, and write down what became of it.

    False when that is known already, or no place among the provider calls is free.
    """
    attempt = Attempt.objects.select_related("session").get(pk=attempt_pk)
    if attempt.status != AttemptStatus.SENDING:
        return False
    if attempt.session.status != SessionStatus.DISPATCHING:
        return record_outcome(attempt_pk, _lost())  # an answer came: nobody needs it any more
    return _send(attempt.session, attempt)


def resend(session_pk: int) -> bool:
    """Send an unknown session once more: a new attempt that changes no session status.

    False when an answer came meanwhile, or no place among the provider calls is free.
    """
    return _send(Session.objects.get(pk=session_pk), None)


def _send(session: Session, attempt: Attempt | None) -> bool:
    try:
        with dispatch.slot(session.channel_id) as taken:
            attempt = attempt or _next_attempt(session.pk)
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
