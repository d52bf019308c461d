"""Sessions as their agent finds them."""

from handoff.contract import ids
from handoff.contract import payloads as shapes
from handoff.contract.kinds import OPEN, SessionStatus
from handoff.errors import NotFound, NotYours
from handoff.models import Agent, Conversation, Session
from handoff.selectors import payloads


def find(agent: Agent, public_id: str) -> Session:
    """The agent's own session; NotYours for another agent's, NotFound for none."""
    rows = payloads.sessions().filter(public_id=public_id)
    session = rows.first() if ids.is_public(public_id) else None
    if session is None:
        raise NotFound("There is no such handoff.")
    if session.agent_id != agent.pk:
        raise NotYours
    return session


def for_agent(agent: Agent, public_id: str) -> shapes.HandoffView:
    """H of the agent's own session; raises as `find`."""
    return payloads.handoff(find(agent, public_id))


def open_session(conversation: Conversation) -> Session | None:
    """The conversation's dispatching or active session; at most one by constraint."""
    return payloads.sessions().filter(conversation=conversation, status__in=OPEN).first()


def page(
    agent: Agent,
    *,
    after: int,
    limit: int,
    status: str | None = None,
    conversation: Conversation | None = None,
) -> shapes.HandoffPage:
    """The agent's sessions, oldest first; `after` counts sessions, not events."""
    found = payloads.sessions().filter(agent=agent, pk__gt=after).order_by("pk")
    if status is not None:
        found = found.filter(status=SessionStatus(status))
    if conversation is not None:
        found = found.filter(conversation=conversation)
    rows = list(found[: limit + 1])
    shown = rows[:limit]
    return shapes.HandoffPage(
        data=[payloads.handoff(row) for row in shown],
        next_after=shown[-1].pk if shown else after,
        has_more=len(rows) > limit,
    )
