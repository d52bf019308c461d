"""Makes agents and decides who looks after them."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from handoff.actions.access import note_access
from handoff.actions.writing import writing
from handoff.models import Agent


def create_agent(
    name: str, *, actor: str, display_name: str = "", owners: Iterable[User] = ()
) -> Agent:
    """A new enabled agent; raises ValidationError when the name is taken or malformed."""
    agent, theirs = Agent(name=name, display_name=display_name), list(owners)
    with writing():
        agent.full_clean()
        agent.save()
        agent.owners.set(theirs)
        facts = {"owners_after": sorted(user.pk for user in theirs)}
        note_access("agent added", actor=actor, agent=agent.name, facts=facts)
    return agent


def agent_named(name: str) -> Agent:
    """The agent of that name; raises ValidationError with the names that exist."""
    agent = Agent.objects.filter(name=name).first()
    if agent is None:
        known = ", ".join(Agent.objects.values_list("name", flat=True)) or "none yet"
        raise ValidationError(f"There is no agent “{name}”. Known: {known}.")
    return agent
