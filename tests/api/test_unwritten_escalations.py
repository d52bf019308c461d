"""Escalations while the trail refuses rows: nobody is asked unseen, and no answer is false."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection
from pytest_django import Settings

from handoff.models import Conversation
from tests.api.asking import QUESTION, rows
from tests.api.conftest import Desk, Reply
from tests.fakes import routes as fakes

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_route_outlives_its_test() -> Iterator[None]:
    with fakes.fresh():
        yield


@contextlib.contextmanager
def refusing(action: str = "") -> Iterator[None]:
    """The trail takes no row of this action; of none at all without one."""

    def refuse(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith('INSERT INTO "audit_event"') and (not action or action in params):
            raise OperationalError("disk full at /var/lib/trail on db-3.internal")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield


def asked(desk: Desk, conversation: Conversation | None = None) -> Reply:
    body: dict[str, Any] = {"name": "ask_a_person", "args": {"question": QUESTION}}
    if conversation is not None:
        body["conversation"] = conversation.public_id
    return desk.post("tool-calls", body)


UNAVAILABLE = {
    "error": "This call asked nobody. Do not say that it did.",
    "code": "desk_unavailable",
}


def test_nobody_is_asked_when_the_trail_cannot_say_so_first(desk: Desk, settings: Settings) -> None:
    settings.ROUTE = "tests.fakes.routes.reaches"
    with refusing():
        reply = asked(desk)
    assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)
    assert "Retry-After" in reply.headers
    assert fakes.asked == []


def test_a_person_who_was_asked_unrecorded_is_never_denied(desk: Desk, settings: Settings) -> None:
    settings.ROUTE = "tests.fakes.routes.reaches"
    with refusing("agent.escalated"):
        reply = asked(desk)
    assert reply.status_code == 503
    assert reply.json()["code"] == "outcome_unrecorded"
    assert len(fakes.asked) == 1


def test_a_refusal_that_cannot_be_recorded_asked_nobody(desk: Desk, settings: Settings) -> None:
    settings.ROUTE = "tests.fakes.routes.refuses"
    with refusing("agent.escalation_failed"):
        reply = asked(desk)
    assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)


def test_the_line_of_the_shipped_route_commits_with_its_row_or_not_at_all(
    desk: Desk, conversation: Conversation
) -> None:
    with refusing():
        reply = asked(desk, conversation)
    assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)
    assert conversation.messages.count() == 0
    assert rows() == []
