"""An owner has the recipient told again of a handoff that still waits for them."""

import time
from enum import StrEnum
from typing import Final

from django.conf import settings
from django.db.models.functions import Now

from handoff.actions import alerts, dispatch, throttle
from handoff.actions.dispatch import record_outcome
from handoff.actions.events import emit
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import AttemptStatus, ChannelKind, EventType, SessionStatus
from handoff.models import Attempt, Session
from handoff.transports import is_in_database

_WAITS: Final = frozenset({SessionStatus.ACTIVE, SessionStatus.UNKNOWN})


class Reminded(StrEnum):
    """What became of it."""

    SENT = "sent"
    MAYBE = "maybe"
    """The provider was told, and did not say whether it took it."""
    REFUSED = "refused"
    MAILED = "mailed"
    """Mails to the other owners are due: the recipient is whoever looks into the inbox."""
    NOBODY = "nobody"
    """No other owner has an address."""
    CLOSED = "closed"
    """Nobody waits for an answer any more, or none can be given: no form is open."""


_BECAME: Final = {
    AttemptStatus.ACCEPTED: Reminded.SENT,
    AttemptStatus.UNKNOWN: Reminded.MAYBE,
    AttemptStatus.REFUSED: Reminded.REFUSED,
}


def remind(session_pk: int, *, user_pk: int) -> Reminded:
    """Send the notice again, as a new attempt that changes no status.

    Waits for the provider. Raises TooFast within a minute of the last time, and NoPlace when too
    many provider calls are under way; nobody was contacted then.
    """
    session = Session.objects.select_related("channel").get(pk=session_pk)
    if session.channel.kind == ChannelKind.OWNER_INBOX:
        return _mail_owners(session, user_pk)
    if is_in_database(session.channel.kind):
        told = _new_attempt(session_pk, user_pk, status=AttemptStatus.ACCEPTED)
        return Reminded.SENT if told else Reminded.CLOSED
    with dispatch.slot(session.channel_id) as taken:
        attempt = _new_attempt(session_pk, user_pk)
        if attempt is None:
            return Reminded.CLOSED
        deadline = time.monotonic() + settings.DISPATCH_SECONDS
        sent = dispatch.dispatch(attempt.pk, taken, deadline=deadline)
    record_outcome(attempt.pk, sent)
    return _BECAME[sent.status]


def _mail_owners(session: Session, user_pk: int) -> Reminded:
    with writing():
        row, _ = lock(session.pk)
        if row.status != SessionStatus.ACTIVE:
            return Reminded.CLOSED
        throttle.take_reminder(session.pk)
        mails = alerts.ask_again(session.pk, user_pk=user_pk)
        if not mails:
            return Reminded.NOBODY
        note(
            "handoff.reminded",
            row,
            actor=f"owner:{user_pk}",
            reason="asked",
            details={"mails": mails},
        )
    return Reminded.MAILED


def _new_attempt(
    session_pk: int, user_pk: int, *, status: AttemptStatus = AttemptStatus.SENDING
) -> Attempt | None:
    """The attempt, committed before anybody is contacted; None when nobody is to be."""
    with writing():
        session, conversation = lock(session_pk)
        live = session.links.filter(revoked_at=None, expires_at__gt=Now())
        if session.status not in _WAITS or not live.exists():
            return None
        throttle.take_reminder(session_pk)
        attempt = Attempt.objects.create(
            session=session,
            number=session.attempts.count() + 1,
            status=status,
            finished_at=None if status == AttemptStatus.SENDING else Now(),
        )
        note(
            "handoff.reminded",
            session,
            actor=f"owner:{user_pk}",
            attempt=attempt.public_id,
            reason="asked",
        )
        emit(EventType.REMINDED, agent=session.agent, conversation=conversation, session=session)
        return attempt
