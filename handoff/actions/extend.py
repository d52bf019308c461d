"""An owner gives a handoff more time: both clocks begin again."""

import datetime as dt
from enum import Enum, auto
from typing import Final

from django.db.models import F, Max, QuerySet
from django.db.models.functions import Greatest, Least, Now

from handoff.actions.release import lock
from handoff.actions.seen import mark_seen
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import SessionStatus
from handoff.models import ReturnLink, Session

LONGEST: Final = dt.timedelta(days=30)
"""No return form stays open for longer after the handoff was asked for."""
_RUNNING: Final = frozenset({SessionStatus.ACTIVE, SessionStatus.UNKNOWN})


class Extended(Enum):
    """What began again."""

    BOTH = auto()
    FORM = auto()
    """Its form is open for longer; it has no idle clock, or that does not run now."""
    IDLE = auto()
    """Its idle clock; the form closes when it did, or is closed."""
    NOTHING = auto()
    ENDED = auto()
    """Nothing: the handoff is neither active nor unknown."""


def extend(session_pk: int, *, user_pk: int) -> Extended:
    """Start the idle clock again, and keep the return form open for the channel's hours from now.

    Where no link is live any more, the recipient's newest is again. The form never closes earlier
    than before, and never later than LONGEST after the request. Revoked links stay revoked.
    """
    with writing():
        session, conversation = lock(session_pk)
        if session.status not in _RUNNING:
            return Extended.ENDED
        idle = conversation is not None and session.status == SessionStatus.ACTIVE
        Session.objects.filter(pk=session_pk, status=SessionStatus.ACTIVE).update(
            recipient_active_at=Now()
        )
        closed = _closes(session)
        links = _live(session).update(expires_at=_until(session)) or _revive(session)
        closes = _closes(session)
        form = closes is not None and (closed is None or closes > closed)
        if form or idle:
            note(
                "handoff.extended",
                session,
                actor=f"owner:{user_pk}",
                details={
                    "links": links if form else 0,
                    "hours": session.channel.link_hours,
                },
            )
        mark_seen(session, conversation, actor=f"owner:{user_pk}")
    if form:
        return Extended.BOTH if idle else Extended.FORM
    return Extended.IDLE if idle else Extended.NOTHING


def _live(session: Session) -> QuerySet[ReturnLink]:
    return ReturnLink.objects.filter(session=session, revoked_at=None, expires_at__gt=Now())


def _closes(session: Session) -> dt.datetime | None:
    """When the form closes; None when it is closed."""
    closes: dt.datetime | None = _live(session).aggregate(last=Max("expires_at"))["last"]
    return closes


def _revive(session: Session) -> int:
    newest = (
        session.links.filter(revoked_at=None, minted_for="recipient").order_by("-pk").values("pk")
    )
    return ReturnLink.objects.filter(pk__in=newest[:1]).update(expires_at=_until(session))


def _until(session: Session) -> Greatest:
    wanted = Now() + dt.timedelta(hours=session.channel.link_hours)
    return Greatest(F("expires_at"), Least(wanted, session.created_at + LONGEST))
