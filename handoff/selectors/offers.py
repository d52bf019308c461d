"""Which tools an agent is offered right now."""

from django.conf import settings
from django.db.models import Q

from handoff.contract.kinds import OPEN, SessionStatus
from handoff.contract.tools import Offered, Tool, tools
from handoff.models import Agent, Session
from handoff.selectors import channels, hops


def offered(agent: Agent) -> list[Tool]:
    """By name; they come and go with what the agent may use, has asked for and holds."""
    mine = Session.objects.filter(agent=agent)
    cancellable = Q(status__in=[*OPEN, SessionStatus.UNKNOWN])
    holds = hops.held(agent).exists()
    return tools(
        Offered(
            channels=[channels.name_of(channel) for channel in channels.available(agent)],
            has_session=holds or mine.exists(),
            may_cancel=mine.filter(cancellable).exists(),
            holds=holds,
            call_seconds=settings.CALL_SECONDS,
        )
    )
