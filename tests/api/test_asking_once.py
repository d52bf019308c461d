"""`ask_a_person` with an idempotency key: nobody is asked twice."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from django.db.models.functions import Now

from audit.models import Event as AuditEvent
from handoff.contract.route import Reached, Refusal
from handoff.models import IdempotencyRecord
from tests.api.conftest import Desk

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = {"question": "Who can open the warehouse tonight?"}
KEY = {"Idempotency-Key": "k-1"}
asked: list[str] = []


def duty(question: str, /, *, agent: str, conversation: str | None, deadline: float) -> Reached:
    asked.append(question)
    return Reached("the duty desk")


def nobody(question: str, /, *, agent: str, conversation: str | None, deadline: float) -> Refusal:
    asked.append(question)
    return Refusal("Nobody is on duty.")


def broken(question: str, /, *, agent: str, conversation: str | None, deadline: float) -> Reached:
    asked.append(question)
    raise ValueError(Path("broken"))


@pytest.fixture(autouse=True)
def _nobody_asked_yet() -> None:
    asked.clear()


def route(settings: Any, name: str) -> None:
    settings.ROUTE = f"{__name__}.{name}"


def test_the_same_key_asks_once(desk: Desk, settings: Any) -> None:
    route(settings, "duty")
    first = desk.call("ask_a_person", QUESTION, headers=KEY)
    body = {"name": "ask_a_person", "args": QUESTION}
    again = desk.post("tool-calls", body, KEY)
    assert again.json() == first
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(asked) == 1
    assert AuditEvent.objects.filter(action="agent.escalated").count() == 1


def test_the_run_id_does_the_same_and_no_key_protects_nothing(desk: Desk, settings: Any) -> None:
    route(settings, "duty")
    for _ in range(2):
        desk.call("ask_a_person", QUESTION, run="run-1")
    assert len(asked) == 1
    for _ in range(2):
        desk.call("ask_a_person", QUESTION)
    assert len(asked) == 3


def test_another_question_with_the_same_key_is_refused(desk: Desk, settings: Any) -> None:
    route(settings, "duty")
    desk.call("ask_a_person", QUESTION, headers=KEY)
    other = desk.call("ask_a_person", {"question": "Something else entirely?"}, headers=KEY)
    assert other["result"]["code"] == "idempotency_reused"
    assert len(asked) == 1


def test_a_failure_is_kept_and_does_not_ring_twice(desk: Desk, settings: Any) -> None:
    route(settings, "broken")
    first = desk.call("ask_a_person", QUESTION, headers=KEY)
    assert first["isError"] is True
    assert desk.call("ask_a_person", QUESTION, headers=KEY) == first
    assert len(asked) == 1


def test_a_refusal_is_not_kept(desk: Desk, settings: Any) -> None:
    route(settings, "nobody")
    refused = desk.call("ask_a_person", QUESTION, headers=KEY)
    assert refused["text"] == "Refused. Nobody is on duty."
    route(settings, "duty")
    assert desk.call("ask_a_person", QUESTION, headers=KEY)["isError"] is False


@pytest.mark.slow
def test_a_call_that_was_killed_midway_is_answered_as_unknown(desk: Desk, settings: Any) -> None:
    route(settings, "duty")
    desk.call("ask_a_person", QUESTION, headers=KEY)
    IdempotencyRecord.objects.update(answer=None)
    running = desk.call("ask_a_person", QUESTION, headers=KEY)
    assert running["result"]["code"] == "still_running"
    IdempotencyRecord.objects.update(created_at=Now() - dt.timedelta(minutes=5))
    lost = desk.call("ask_a_person", QUESTION, headers=KEY)
    assert lost["text"].startswith("The desk failed while it worked on this call. It is not known")
    assert len(asked) == 1
