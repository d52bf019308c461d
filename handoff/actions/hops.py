"""Hops: a handoff from one agent to another, and the lease that it has until it is claimed."""

import datetime as dt

from django.conf import settings
from django.db.models import F, Max, Q
from django.db.models.functions import Now

from handoff.actions.events import emit
from handoff.actions.release import Ending, end, lock, release
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import AttemptStatus, EventType, ReleaseKind, SessionStatus
from handoff.errors import NotFound, Refused
from handoff.models import Agent, Attempt, Channel, Session
from handoff.models.channel import Redispatch
from handoff.selectors import hops


def check_hop(agent: Agent, channel: Channel, parent: Session | None) -> int:
    """The depth of a hop from `agent` through `channel`; 0 when its recipient is a person.

    Raises Refused `not_granted`, `cycle` or `depth_limit`. `parent` is the hop on whose behalf the
    agent calls, which is how the agents before it are known.
    """
    if channel.target is None:
        return 0
    path = [agent.pk]
    up = parent
    while up is not None:
        path.append(up.agent_id)
        up = up.parent
    if channel.target.pk in path:
        raise Refused(
            "cycle",
            f"{channel.label} leads back to an agent that this handoff comes from. Nobody was "
            "asked. Answer what you hold yourself, or hand it to a person.",
            details={"channel_id": channel.pk},
            other_agent=channel.target.name,
        )
    depth = (parent.depth if parent else 0) + 1
    if depth > settings.HOP_DEPTH:
        raise Refused(
            "depth_limit",
            f"This would be hop {depth} from agent to agent; the limit is {settings.HOP_DEPTH}. "
            "Nobody was asked. Answer what you hold yourself, or hand it to a person.",
            details={"limit": settings.HOP_DEPTH, "depth": depth},
            other_agent=channel.target.name,
        )
    return depth


def claim_hop(agent: Agent, session_pk: int) -> bool:
    """The sibling takes a hop on; False when it had already, or the hop has ended.

    Raises NotFound for a hop that was given to another agent.
    """
    with writing():
        session, conversation = lock(session_pk)
        if session.target_id != agent.pk:
            raise NotFound(hops.NOT_HOLDER)
        if not claimed_now(session):
            return False
        emit(EventType.CLAIMED, agent=session.agent, conversation=conversation, session=session)
        return True


def claimed_now(session: Session) -> bool:
    """Whether this made the hop claimed, with its audit row. Inside `writing()`, session locked."""
    free = Session.objects.filter(pk=session.pk, status=SessionStatus.ACTIVE, claimed_at=None)
    if not free.update(claimed_at=Now(), recipient_active_at=Now()):
        return False
    note("handoff.claimed", session, actor=f"agent:{session.target.name if session.target else ''}")
    return True


def end_unclaimed() -> int:
    """End the hops that nobody claimed in time, or offer them once more where the channel says so.

    The database's clock decides. Returns how many ended or were offered again.
    """
    waiting = Session.objects.filter(
        status=SessionStatus.ACTIVE, target__isnull=False, claimed_at=None
    )
    patiences = waiting.order_by().values_list("channel__claim_minutes", flat=True).distinct()
    done = 0
    for minutes in list(patiences):
        late = waiting.filter(channel__claim_minutes=minutes).annotate(offered=Max("attempts__at"))
        due = late.filter(offered__lte=Now() - dt.timedelta(minutes=minutes))
        done += sum(_lapsed(pk, minutes) for pk in list(due.values_list("pk", flat=True)))
    return done


def _lapsed(session_pk: int, minutes: int) -> bool:
    with writing():
        session, conversation = lock(session_pk)
        still = (
            Session.objects.filter(pk=session_pk, status=SessionStatus.ACTIVE, claimed_at=None)
            .annotate(offered=Max("attempts__at"))
            .filter(offered__lte=Now() - dt.timedelta(minutes=minutes))
        )
        if not still.exists():
            return False
        if session.channel.redispatch == Redispatch.ONCE and session.attempts.count() == 1:
            _offer_again(session)
            emit(
                EventType.REMINDED,
                agent=session.agent,
                conversation=conversation,
                session=session,
            )
            return True
        ending = Ending(kind=ReleaseKind.LOST, actor="desk")
        return end(session, conversation, ending, where=Q(claimed_at=None))


def _offer_again(session: Session) -> None:
    attempt = Attempt.objects.create(
        session=session, number=2, status=AttemptStatus.ACCEPTED, finished_at=Now()
    )
    note("handoff.retried", session, actor="desk", attempt=attempt.public_id)


def end_unreachable() -> int:
    """End the hops whose sibling is switched off, or may not be handed to any more."""
    gone = Session.objects.filter(status=SessionStatus.ACTIVE, target__isnull=False).filter(
        Q(target__enabled=False)
        | Q(channel__enabled=False)
        | Q(channel__target=None)
        | ~Q(channel__target=F("target"))
    )
    ending = Ending(kind=ReleaseKind.LOST, actor="desk", unreachable=True)
    return sum(release(pk, ending) for pk in list(gone.values_list("pk", flat=True)))
