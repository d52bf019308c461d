"""What moved at an owner's agents: ids only, for the nudges of the inbox."""

from collections.abc import Mapping

from handoff.models import Agent, Event

MOST = 200


def counters(owner_pk: int) -> dict[int, int]:
    """The owner's enabled agents, each with the number of its newest event."""
    agents = Agent.objects.filter(owners=owner_pk, owners__is_active=True, enabled=True)
    return dict(agents.values_list("pk", "last_event_id"))


def since(cursors: Mapping[int, int]) -> tuple[list[dict[str, str | None]], dict[int, int]]:
    """The distinct `{agent, conversation, handoff}` that events after the cursors name, oldest
    first, and the cursors after them. At most 200 events of each agent are looked at: the page
    reads the rest anyway.
    """
    found: dict[tuple[str, str | None, str | None], None] = {}
    moved = dict(cursors)
    for agent_pk, after in cursors.items():
        rows = Event.objects.filter(agent=agent_pk, number__gt=after).order_by("number")[:MOST]
        for name, conversation, session, number in rows.values_list(
            "agent__name", "conversation__public_id", "session__public_id", "number"
        ):
            found[name, conversation, session] = None
            moved[agent_pk] = number
    named = [
        {"agent": name, "conversation": conversation, "handoff": session}
        for name, conversation, session in found
    ]
    return named, moved
