"""Asks the resolver where the address of a webhook leads, without holding up anybody else."""

import time
from typing import Final

from django.conf import settings
from django.utils.translation import gettext_noop

from handoff.actions import throttle
from handoff.actions.webhook_places import AgentPlaces
from handoff.actions.webhooks import check_room, problem_with
from handoff.errors import TransportError
from handoff.models import Agent, Webhook
from handoff.outbound.http import check_target

LOOK_UP_SECONDS: Final = 5.0
CALLS_A_CHANGE: Final = 20
"""For so many calls that an agent may make in a minute, one may make or change a webhook."""
UNREACHABLE: Final = gettext_noop(
    "must lead to a public address, by https on port 443 or 8443, unless whoever runs the desk "
    "lists its host in HANDOFF_PRIVATE_TARGETS"
)
"""One sentence for every cause: else it would tell which names exist in the desk's network."""
_look_ups: Final = AgentPlaces(
    2, words="The address of another webhook is being looked up.", retry_after=5
)


def admit_new(agent: Agent, url: str) -> None:
    """What is asked before an agent's own call may make a webhook, outside any transaction.

    Raises TooFast, Invalid, and Busy as `check_url` does.
    """
    _count(agent)
    check_room(agent)
    check_url(url, agent=agent.pk)


def admit_change(webhook: Webhook, url: str | None) -> None:
    """The same before it may change one; `url` is None when it stays."""
    _count(webhook.agent)
    if url is not None and url != webhook.url:
        check_url(url, agent=webhook.agent_id)


def check_url(url: str, *, agent: int) -> None:
    """Look up where an address leads; raises Invalid, and Busy while too many others are."""
    with _look_ups.place(agent):
        try:
            check_target(url, deadline=time.monotonic() + LOOK_UP_SECONDS)
        except TransportError as error:
            raise problem_with("url", UNREACHABLE) from error


def _count(agent: Agent) -> None:
    calls = settings.CALLS_PER_MINUTE
    if calls > 0:
        changes = max(1, calls // CALLS_A_CHANGE)
        throttle.take(f"webhook:{agent.pk}", rate=changes / throttle.MINUTE, burst=changes)
