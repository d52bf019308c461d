"""`ask_a_person`: whatever the route says or throws, the tool answers, and the trail says why."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.models import Agent, Conversation
from tests import factories
from tests.api.asking import PUT, QUESTION, Asking, nobody_asked, rows
from tests.api.conftest import Desk, refused
from tests.fakes import routes as fakes

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_route_outlives_its_test() -> Iterator[None]:
    with fakes.fresh():
        yield


@pytest.fixture
def ask(desk: Desk, settings: Settings) -> Asking:
    return Asking(desk, settings)


def test_whom_the_route_reached_is_said_and_is_on_the_trail(
    desk: Desk, ask: Asking, agent: Agent, conversation: Conversation
) -> None:
    before = time.monotonic()
    answer = ask("reaches", f"  {QUESTION}\n", conversation=conversation)

    assert answer == {
        "text": PUT % "the duty desk",
        "isError": False,
        "result": {"ok": True, "action": "question_put", "asked": "the duty desk"},
    }
    [(question, name, asked_in, deadline)] = fakes.asked
    assert (question, name, asked_in) == (QUESTION, agent.name, conversation.public_id)
    assert before + 9 < deadline < time.monotonic() + 10
    [row] = rows()
    assert row.action == "agent.escalated"
    assert (row.agent, row.conversation) == (agent.name, conversation.public_id)
    assert (row.tool, row.token) == ("ask_a_person", desk.token[3:11])
    assert (row.reason, row.failure) == ("", "")
    assert row.details == {
        "route": "tests.fakes.routes.reaches",
        "question_characters": len(QUESTION),
        "places_held": 0,
    }


def test_before_a_route_is_called_a_committed_row_says_so(ask: Asking) -> None:
    ask("reaches")
    trail = AuditEvent.objects.filter(action__startswith="agent.").order_by("id")
    assert [row.action for row in trail] == ["agent.escalation_started", "agent.escalated"]
    assert fakes.asked[0][2] is None


def test_an_async_route_reaches_somebody_too(desk: Desk, ask: Asking) -> None:
    assert ask("reaches_in_time")["text"] == PUT % "the duty desk"


def test_a_refusal_of_the_route_is_passed_on_as_one_line(ask: Asking) -> None:
    answer = ask("refuses")

    result = refused(answer, "route_refused")
    assert result["error"] == "Nobody is on duty before 8:00. (Bot resumed — all) is well."
    assert answer["text"] == f"Refused. {result['error']}"
    [row] = rows()
    assert row.action == "agent.escalation_failed"
    assert (row.reason, row.failure) == (result["error"], "")


def test_a_long_refusal_is_cut(ask: Asking) -> None:
    said = refused(ask("refuses_at_length"), "route_refused")["error"]
    assert len(said) == 400
    assert said.endswith("no …")
    assert rows()[0].reason == said


@pytest.mark.parametrize(
    ("route", "failure"),
    [
        (
            "throws",
            "ConnectionError: connect to rota-7.internal:5432 (10.0.0.7) failed for ***@***",
        ),
        ("throws_at_length", f"ConnectionError: {'x' * 383}"),
        ("throws_oddly", "Odd: connect to rota-7.internal:5432 (10.0.0.7) failed for ***@***"),
        ("throws_broken", "Broken, which cannot be printed"),
        ("repeats", "LookupError: nobody knows '…'"),
        ("says_nothing", "the route returned NoneType, not Reached or Refusal"),
        ("says_a_text", "the route returned str, not Reached or Refusal"),
        ("says_a_class", "the route returned type, not Reached or Refusal"),
        ("reaches_blank", "the route returned Reached with blank text"),
        ("reaches_a_number", "the route returned Reached with blank text"),
        ("refuses_blank", "the route returned Refusal with blank text"),
        (
            "reaches_twisted",
            "RuntimeError: connect to rota-7.internal:5432 (10.0.0.7) failed for ***@***",
        ),
        ("NOT_CALLABLE", "ValueError: is not callable"),
    ],
)
def test_whatever_a_route_throws_nobody_was_asked_and_only_the_trail_knows_why(
    ask: Asking, route: str, failure: str
) -> None:
    assert nobody_asked(ask(route)) == failure


def test_a_route_that_cannot_be_imported_is_a_failure_with_a_name(ask: Asking) -> None:
    failure = nobody_asked(ask("absent"))
    assert failure.startswith("ValueError: cannot be imported (ImportError: ")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({}, "is required"),
        ({"question": None}, "is required"),
        ({"question": " \n "}, "must have 10 to 1000 characters; it has 0"),
        ({"question": " 123456789 "}, "must have 10 to 1000 characters; it has 9"),
        ({"question": "x" * 1001}, "must have 10 to 1000 characters; it has 1001"),
        ({"question": 7}, "must be a string, not a number"),
        ({"question": "a bell \u0007 rings"}, "must be plain text; it holds a control character"),
    ],
)
def test_a_question_that_is_none_is_refused_and_not_counted(
    ask: Asking, args: dict[str, Any], problem: str
) -> None:
    answer = ask.with_args(args, "reaches")

    [found] = refused(answer, "invalid_arguments")["details"]["problems"]
    assert found["field"] == "question"
    assert found["problem"].startswith(problem)
    assert fakes.asked == []
    assert not AuditEvent.objects.filter(action__startswith="agent.").exists()


@pytest.mark.parametrize("length", [10, 1000])
def test_the_bounds_of_a_question_count_after_trimming(ask: Asking, length: int) -> None:
    assert ask("reaches", " " + "x" * length + " ")["isError"] is False


def test_an_unknown_argument_is_refused_beside_the_question(ask: Asking) -> None:
    answer = ask.with_args({"question": "short", "who": "Mia"}, "reaches")
    problems = refused(answer, "invalid_arguments")["details"]["problems"]
    assert [item["field"] for item in problems] == ["question", "who"]


def test_another_agents_conversation_is_403(desk: Desk) -> None:
    theirs = factories.conversation(factories.AgentFactory.create(), "theirs")
    body = {
        "name": "ask_a_person",
        "args": {"question": QUESTION},
        "conversation": theirs.public_id,
    }
    response = desk.post("tool-calls", body)
    assert response.status_code == 403
    assert rows() == []


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_a_route_opened_is_closed_in_its_thread(
    ask: Asking, agent: Agent
) -> None:
    assert ask("reads")["result"]["asked"] == str(agent)
    [opened] = fakes.opened
    assert opened.connection is None
