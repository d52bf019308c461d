"""`ask_a_person` as the tests call it, and what it leaves on the trail."""

from typing import Any

from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.contract.answers import NOBODY_ASKED
from tests.api.conftest import Desk

QUESTION = "May I refund order 1234 without the receipt?"
PUT = "Your question was put to %s. That is not an answer yet: do not say that they have answered."


class Asking:
    """Calls the tool as an agent of a desk with one of the routes of tests/fakes/routes.py."""

    def __init__(self, desk: Desk, settings: Settings) -> None:
        self.desk = desk
        self.settings = settings

    def __call__(self, route: str = "", question: str = QUESTION, **more: Any) -> dict[str, Any]:
        return self.with_args({"question": question}, route, **more)

    def with_args(self, args: dict[str, Any], route: str = "", **more: Any) -> dict[str, Any]:
        if route:
            self.settings.ROUTE = f"tests.fakes.routes.{route}"
        return self.desk.call("ask_a_person", args, **more)


def rows() -> list[AuditEvent]:
    """How escalations ended, oldest first."""
    return list(
        AuditEvent.objects.filter(
            action__in=("agent.escalated", "agent.escalation_failed")
        ).order_by("id")
    )


def nobody_asked(answer: dict[str, Any]) -> str:
    """The `failure` on the one row, after checking that the answer says nothing of it."""
    assert answer == {
        "text": NOBODY_ASKED,
        "isError": True,
        "result": {"error": NOBODY_ASKED, "code": "dispatch_failed", "details": {}},
    }
    [row] = rows()
    assert row.action == "agent.escalation_failed"
    assert row.reason == NOBODY_ASKED
    assert 0 < len(row.failure) <= 400
    failed = AuditEvent.objects.get(action="tool.call_failed")
    assert (failed.tool, failed.reason) == ("ask_a_person", "dispatch_failed")
    return row.failure
