"""The other ways a session ends: cancelled, by the owner, by the subscriber, by the clocks."""

import datetime as dt

from django.db.models import Max, Q
from django.db.models.functions import Now

from handoff.actions.release import Ending, end, lock, release
from handoff.actions.writing import writing
from handoff.contract.kinds import Outcome, ReleaseKind, SessionStatus
from handoff.contract.values import clean_values
from handoff.models import Session
from handoff.selectors import payloads


def cancel(session: Session, *, reason: str, actor: str) -> bool:
    """The originator or an owner withdraws the handoff; False when it had ended already."""
    return release(session.pk, Ending(kind=ReleaseKind.CANCELLED, actor=actor, message=reason))


def release_as_owner(
    session: Session, *, user_pk: int, name: str, outcome: Outcome, message: str
) -> bool:
    """An owner gives control back without values; False when it had ended already."""
    return release(
        session.pk,
        Ending(
            kind=ReleaseKind.OWNER,
            actor=f"owner:{user_pk}",
            outcome=outcome,
            message=message,
            answered_by=name,
            returned=clean_values(payloads.fields_of(session), {}),
            is_return=False,
        ),
    )


def back_to_bot(conversation_pk: int) -> bool:
    """The subscriber asks for the bot; False when no handoff was active."""
    session_pk = (
        Session.objects.filter(conversation_id=conversation_pk, status=SessionStatus.ACTIVE)
        .values_list("pk", flat=True)
        .first()
    )
    return session_pk is not None and release(
        session_pk, Ending(kind=ReleaseKind.SUBSCRIBER, actor="subscriber")
    )


def end_idle() -> int:
    """End every bypass whose recipient did nothing for the channel's idle minutes.

    The database's clock decides, inside the UPDATE: whatever the recipient does first, wins.
    Returns how many ended.
    """
    attached = Session.objects.filter(status=SessionStatus.ACTIVE, conversation__isnull=False)
    patiences = attached.order_by().values_list("channel__idle_minutes", flat=True).distinct()
    ended = 0
    for minutes in list(patiences):
        quiet = Q(recipient_active_at__lte=Now() - dt.timedelta(minutes=minutes))
        due = attached.filter(quiet, channel__idle_minutes=minutes)
        ended += sum(_end_quiet(pk, quiet) for pk in list(due.values_list("pk", flat=True)))
    return ended


def _end_quiet(session_pk: int, quiet: Q) -> bool:
    ending = Ending(kind=ReleaseKind.IDLE_TIMEOUT, actor="desk")
    with writing():
        session, conversation = lock(session_pk)
        if session.status != SessionStatus.ACTIVE:
            return False
        return end(session, conversation, ending, where=quiet)


def end_expired() -> int:
    """End the detached sessions whose last return link has closed. Returns how many ended."""
    due = (
        Session.objects.filter(status=SessionStatus.ACTIVE, conversation=None)
        .annotate(closes_at=Max("links__expires_at", filter=Q(links__revoked_at=None)))
        .filter(Q(closes_at__lte=Now()) | Q(closes_at=None))
        .values_list("pk", flat=True)
    )
    ending = Ending(kind=ReleaseKind.EXPIRED, actor="desk")
    return sum(release(pk, ending) for pk in list(due))
