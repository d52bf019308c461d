"""Changes what may change of an agent; its name is for good."""

import dataclasses
from collections.abc import Sequence

from django.contrib.auth.models import User

from handoff.actions.writing import nudge_on_commit, writing
from handoff.models import Agent


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentFacts:
    """All of it: what is not in here does not change."""

    display_name: str
    enabled: bool
    owners: Sequence[User]
    allowed_origins: Sequence[str]
    """Such as `https://shop.example`; empty for this desk's own pages only."""


def change_agent(agent: Agent, facts: AgentFacts) -> Agent:
    """Write the facts; raises ValidationError. Whoever waits on the agent looks again."""
    agent.display_name = facts.display_name
    agent.enabled = facts.enabled
    agent.allowed_origins = list(facts.allowed_origins)
    with writing():
        agent.full_clean()
        agent.save(update_fields=["display_name", "enabled", "allowed_origins"])
        agent.owners.set(facts.owners)
        nudge_on_commit(f"agent:{agent.pk}")
    return agent
