"""Changes what may change of an agent; its name is for good."""

import dataclasses
from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User

from audit.trail import Detail
from handoff.actions.access import note_access
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


def change_agent(agent: Agent, facts: AgentFacts, *, actor: str) -> Agent:
    """Write the facts; raises ValidationError. Whoever waits on the agent looks again.

    What changed stands on the trail, before and after; the same facts again are no change.
    """
    with writing():
        before = _told(Agent.objects.get(pk=agent.pk))
        agent.display_name = facts.display_name
        agent.enabled = facts.enabled
        agent.allowed_origins = list(facts.allowed_origins)
        agent.full_clean()
        agent.save(update_fields=["display_name", "enabled", "allowed_origins"])
        agent.owners.set(facts.owners)
        _note(agent, before, _told(agent), actor=actor)
        nudge_on_commit(f"agent:{agent.pk}", "work")  # hops to one that is off now have to end
    return agent


def _told(agent: Agent) -> dict[str, Detail]:
    return {
        "display_name": agent.display_name,
        "enabled": agent.enabled,
        "owners": _pks(agent.owners.all()),
        "allowed_origins": list(agent.allowed_origins),
    }


def _pks(users: Iterable[User]) -> list[int]:
    return sorted(user.pk for user in users)


def _note(agent: Agent, before: dict[str, Detail], after: dict[str, Detail], *, actor: str) -> None:
    changed = [name for name in before if before[name] != after[name]]
    if not changed:
        return
    shown = [name for name in changed if name != "display_name"]  # a name may be a person's
    facts = {f"{name}_before": before[name] for name in shown}
    facts |= {f"{name}_after": after[name] for name in shown}
    note_access("agent changed", actor=actor, agent=agent.name, fields=changed, facts=facts)
