"""Hops as the tests ask for them, and what they leave on the trail."""

from typing import Any

from audit.models import Event as AuditEvent
from handoff.models import Channel
from tests import factories
from tests.api.conftest import Desk


def hand(desk: Desk, channel: Channel, **more: Any) -> str:
    """Ask for a hop; the public id of its session."""
    answer = desk.call("handoff_request", factories.arguments(channel), **more)
    assert answer["isError"] is False, answer
    session: str = answer["result"]["handoff_session_id"]
    return session


def give_back(desk: Desk, session: str, outcome: str = "resolved", **args: Any) -> dict[str, Any]:
    return desk.call("handoff_release", {"handoff_session_id": session, "outcome": outcome, **args})


def trail(session: str) -> list[tuple[str, str, str, str]]:
    """What stands on the trail: action, who did it, both agents."""
    rows = AuditEvent.objects.filter(session=session).exclude(action__startswith="link.")
    columns = ("action", "actor", "agent", "other_agent")
    return list(rows.order_by("id").values_list(*columns))
