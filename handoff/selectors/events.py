"""The ordered logs: pages for the agent, frames for the chat sockets."""

from typing import Any, Literal

from django.db.models import QuerySet

from handoff.contract import payloads as shapes
from handoff.models import Agent, Conversation, Event
from handoff.selectors import frames, payloads

Audience = Literal["subscriber", "agent"]


def _rows() -> QuerySet[Event]:
    return Event.objects.select_related(
        "message", "conversation", "session__channel", "session__conversation"
    ).prefetch_related("session__attempts", "session__links")


def page(agent: Agent, *, after: int, limit: int) -> shapes.EventPage:
    """The agent's events after a number, oldest first."""
    rows = list(_rows().filter(agent=agent, number__gt=after).order_by("number")[: limit + 1])
    shown = rows[:limit]
    return shapes.EventPage(
        data=list(payloads.events(shown)),
        next_after=shown[-1].number if shown else after,
        has_more=len(rows) > limit,
    )


def events_of_handoff(agent: Agent, session: str, *, after: int) -> bool:
    """Whether the agent's log holds anything newer than a number about this session."""
    return Event.objects.filter(agent=agent, session__public_id=session, number__gt=after).exists()


def frames_after(
    conversation_pk: int, *, after: int, limit: int, audience: Audience
) -> tuple[list[dict[str, Any]], int]:
    """The frames of a conversation after a number, and the number that was read up to.

    The second value may be past the last frame: not every event is for every audience.
    """
    rows = list(
        _rows()
        .filter(conversation_id=conversation_pk, conversation_number__gt=after)
        .order_by("conversation_number")[:limit]
    )
    payloads.with_files(row.message for row in rows)
    shown = [frame for row in rows if (frame := frames.frame(row, audience=audience)) is not None]
    upto = rows[-1].conversation_number if rows else after
    return shown, upto if upto is not None else after


def counters(*, conversations: set[int], agents: set[int]) -> dict[str, tuple[int, bool]]:
    """By push topic the newest event number and whether the agent is enabled, for the watcher."""
    talks = Conversation.objects.filter(pk__in=conversations)
    bots = Agent.objects.filter(pk__in=agents)
    return {
        f"conversation:{pk}": (number, enabled)
        for pk, number, enabled in talks.values_list("pk", "last_event_id", "agent__enabled")
    } | {
        f"agent:{pk}": (number, enabled)
        for pk, number, enabled in bots.values_list("pk", "last_event_id", "enabled")
    }
