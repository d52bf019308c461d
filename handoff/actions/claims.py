"""Who of an agent's owners works on a handoff: taken on, handed over, taken over."""

from django.db.models.functions import Now

from handoff.actions.events import emit
from handoff.actions.release import lock
from handoff.actions.seen import mark_seen
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import EventType, SessionStatus
from handoff.errors import NotFound
from handoff.models import Session


def claim(session_pk: int, *, user_pk: int) -> bool:
    """An owner takes the handoff on; False when it is not active or somebody else holds it."""
    return hand_over(session_pk, to=user_pk, held_by=None, by=user_pk)


def hand_over(session_pk: int, *, to: int, held_by: int | None, by: int) -> bool:
    """Give the handoff to another owner of its agent; renews the idle clock.

    `held_by` is who held it when `by` decided, None for nobody: of several who decide at the same
    moment the first wins. False when somebody else holds it by now, when it is with `to` already,
    and when it is not active. Raises NotFound when `to` is no owner who may sign in.
    """
    with writing():
        session, conversation = lock(session_pk)
        if not session.agent.owners.filter(pk=to, is_active=True).exists():
            raise NotFound("There is no such owner of this agent.")
        mine = Session.objects.filter(
            pk=session_pk, status=SessionStatus.ACTIVE, holder=held_by
        ).exclude(holder=to)
        if not mine.update(holder_id=to, recipient_active_at=Now()):
            return False
        note(
            "handoff.claimed",
            session,
            actor=f"owner:{by}",
            details={
                "holder": f"owner:{to}",
                "before": None if held_by is None else f"owner:{held_by}",
            },
        )
        mark_seen(session, conversation, actor=f"owner:{by}")
        emit(EventType.CLAIMED, agent=session.agent, conversation=conversation, session=session)
        return True
