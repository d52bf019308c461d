"""An owner has the handoff before them: the delivery truth of an owner inbox."""

from django.db.models.functions import Now

from handoff.actions.events import emit
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import ChannelKind, EventType, SessionStatus
from handoff.models import Attempt, Conversation, Session


def note_seen(session_pk: int, *, user_pk: int) -> bool:
    """An owner's browser showed the page of the handoff to somebody; False when that was known.

    It is a fact beside the attempt, and nothing else changes: looking keeps no bypass alive.
    """
    with writing():
        session, conversation = lock(session_pk)
        return mark_seen(session, conversation, actor=f"owner:{user_pk}")


def mark_seen(session: Session, conversation: Conversation | None, *, actor: str) -> bool:
    """The same inside `writing()`, the session locked.

    Only where the recipient is whoever looks into the inbox: that an owner looked says nothing
    about a mail to somebody else.
    """
    inbox = session.channel.kind == ChannelKind.OWNER_INBOX
    if not inbox or session.status != SessionStatus.ACTIVE:
        return False
    unread = Attempt.objects.filter(session=session, delivery="")
    if not unread.update(delivery="read", delivery_at=Now()):
        return False
    note("handoff.delivery_changed", session, actor=actor, reason="opened")
    emit(
        EventType.DELIVERY_CHANGED, agent=session.agent, conversation=conversation, session=session
    )
    return True
