"""The hops that were given to an agent as sibling, as its inbox shows them."""

from typing import Any, Final

from django.db.models import Max, Q, QuerySet

from handoff.contract import ids, sibling
from handoff.contract import payloads as shapes
from handoff.contract.kinds import Author, EventType, SessionStatus, Urgency
from handoff.contract.schema import return_schema
from handoff.errors import NotFound
from handoff.models import Agent, Session
from handoff.selectors import conversations, payloads

NOT_HOLDER: Final = "You do not hold such a handoff."
"""The same for one that does not exist and for one that was given to somebody else."""


def held(agent: Agent) -> QuerySet[Session]:
    """The active hops that this agent holds, or has to claim."""
    return payloads.sessions().filter(target=agent, status=SessionStatus.ACTIVE)


def given(agent: Agent, public_id: str) -> Session:
    """A hop that was given to this agent, whatever became of it; NotFound for every other."""
    rows = payloads.sessions().filter(target=agent, public_id=public_id)
    session = rows.first() if ids.is_public(public_id) else None
    if session is None:
        raise NotFound(NOT_HOLDER)
    return session


def page(agent: Agent, *, after: int, limit: int) -> shapes.InboxPage:
    """What was given to the agent after an event number of its own, oldest first."""
    rows = list(_numbered(agent).filter(assigned__gt=after).order_by("assigned")[: limit + 1])
    shown = rows[:limit]
    return shapes.InboxPage(
        data=[_item(row) for row in shown],
        next_after=shown[-1].assigned if shown else after,
        has_more=len(rows) > limit,
    )


def item(agent: Agent, session_pk: int) -> shapes.InboxItem:
    return _item(_numbered(agent).get(pk=session_pk))


def _numbered(agent: Agent) -> QuerySet[Any]:
    """With `assigned`, the number of the newest event that gave it."""
    gave = Q(events__type=EventType.ASSIGNED, events__agent=agent)
    numbered = Max("events__number", filter=gave)
    return payloads.sessions().filter(target=agent).annotate(assigned=numbered)


def _item(session: Any) -> shapes.InboxItem:
    return shapes.InboxItem(
        id=session.public_id,
        event_id=session.assigned or 0,
        from_=shapes.OriginatorView(agent=session.agent.name),
        status=SessionStatus(session.status),
        claimed_at=session.claimed_at,
        initial_context=initial_context(session),
        return_schema=return_schema(payloads.fields_of(session)),
        at=session.created_at,
    )


def initial_context(session: Session) -> str:
    """What the sibling starts with; while it holds the hop, with what was said since."""
    subscriber = session.conversation.subscriber_name if session.conversation else ""
    return sibling.initial_context(
        sibling.Hop(
            session=session.public_id,
            originator=str(session.agent),
            summary=session.summary,
            expected_action=session.expected_action,
            urgency=Urgency(session.urgency),
            subscriber=subscriber,
            contact_back_email=session.contact_back_email,
            extra_context=[(key, value) for key, value in session.extra_context],
            transcript=[
                sibling.Said(author=Author(line.author), name=line.name, text=line.text)
                for line in conversations.transcript(session)
            ],
            fields=payloads.fields_of(session),
        )
    )
