"""Every row of the table of refusals and failures, at both doors, with its row on the trail."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.contract import limits
from handoff.models import Agent, Channel, Conversation, Session
from tests import factories, programs
from tests.api.conftest import Desk, Reply

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.parametrize("door", ["/api/v1/tool-calls", "/api/agent-tools/call"]),
]
HEADERS = ("authorization", "x-openbot-agent-token")


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)


def post(
    door: str, token: str, body: object, *, header: str = "authorization", **headers: str
) -> Reply:
    """One call with a client that knows nothing but the door and a token."""
    if token:
        headers[header] = f"Bearer {token}" if header == "authorization" else token
    data = body if isinstance(body, bytes) else json.dumps(body)
    found = Client().post(door, data, content_type="application/json", headers=headers)
    return Reply(found.status_code, found.headers, found.content)


def only_row(action: str) -> AuditEvent:
    """The one row that a refusal wrote; there is no other of its kind."""
    return AuditEvent.objects.get(action__startswith="tool.", action=action)


def asking(channel: Channel) -> dict[str, Any]:
    return {"name": "handoff_request", "args": factories.arguments(channel), "run": "run-1"}


@pytest.mark.parametrize("header", HEADERS)
def test_a_good_call_is_answered_whichever_header_has_the_token(
    door: str, header: str, desk: Desk, inbox: Channel
) -> None:
    reply = post(door, desk.token, asking(inbox), header=header)
    assert reply.status_code == 200
    answer = reply.json()
    assert set(answer) == {"text", "isError", "result"}
    assert answer["isError"] is False
    assert answer["result"]["action"] == "handoff_session_started"
    assert Session.objects.get().run == "run-1"


def test_the_same_run_and_arguments_contact_one_person_once_over_both_doors(
    door: str, desk: Desk, inbox: Channel
) -> None:
    first = post(door, desk.token, asking(inbox))
    again = desk.post("tool-calls", asking(inbox))
    assert again.headers["Idempotent-Replayed"] == "true"
    key = "handoff_session_id"
    assert again.json()["result"][key] == first.json()["result"][key]
    assert Session.objects.count() == 1


def test_413_comes_before_the_token(door: str, agent: Agent) -> None:
    reply = post(door, "", b" " * (limits.CALL_BYTES + 1))
    assert reply.status_code == 413
    assert reply.json() == {"error": "The call is too large.", "code": "too_large"}
    row = only_row("tool.call_malformed")
    assert (row.reason, row.agent, row.token) == ("too_large", "", "")


HOSTILE_TOKENS = [
    "",
    "\x00",
    "hd_\x00bcdefgh_" + "A" * 43,
    "hd_abcdefgh_" + "A" * 42 + "\x00",
    "\udcff\ud800",
    "hd_abcdefgh_" + "A" * 43 + "\n",
    "é" * 43,
    "A" * 60_000,
    "' OR 1=1 --",
]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("token", HOSTILE_TOKENS, ids=range(len(HOSTILE_TOKENS)))
def test_401_comes_before_the_json_whatever_the_token_holds(
    door: str, header: str, token: str, agent: Agent
) -> None:
    reply = post(door, token, b"not json", header=header)
    assert reply.status_code == 401
    assert reply.json() == {"error": "Not authorised."}
    row = only_row("tool.callback_refused")
    assert row.reason in {"missing", "malformed", "unknown"}
    assert (row.agent, row.token, row.actor) == ("", "", "")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"not json", "The call is not readable JSON."),
        (b"[]", "The call is not readable JSON."),
        (b"", "The call is not readable JSON."),
        ({"args": {}, "run": "run-1"}, "A tool is required."),
        ({"name": " ", "conversation": "c_of_another"}, "A tool is required."),
    ],
)
def test_400_says_which_of_the_two(door: str, body: object, sentence: str, desk: Desk) -> None:
    reply = post(door, desk.token, body)
    assert reply.status_code == 400
    assert reply.json() == {"error": sentence}
    row = only_row("tool.call_malformed")
    assert (row.reason, row.agent) == ("malformed", desk.agent.name)


def test_a_key_that_no_call_has_is_refused_by_name(door: str, desk: Desk) -> None:
    reply = post(door, desk.token, {"name": "handoff_status", "arguments": {}})
    assert reply.status_code == 200
    assert reply.json()["text"].startswith("Refused. The arguments can't be used: arguments ")
    assert only_row("tool.call_rejected").reason == "invalid_arguments"


def test_403_comes_before_the_arguments(door: str, desk: Desk) -> None:
    theirs = factories.conversation(factories.AgentFactory.create(), "theirs")
    body = {"name": "handoff_request", "args": {"x": 1}, "conversation": theirs.public_id}
    reply = post(door, desk.token, body)
    assert reply.status_code == 403
    assert reply.json() == {"error": "That token is not for this Bot."}
    row = only_row("tool.callback_refused")
    assert (row.reason, row.agent) == ("not_yours", desk.agent.name)
    assert row.token == desk.token.split("_")[1]


def test_429_says_when_to_come_back(
    door: str, desk: Desk, inbox: Channel, settings: Settings
) -> None:
    settings.HANDOFFS_PER_MINUTE = 1
    assert post(door, desk.token, asking(inbox)).status_code == 200
    reply = post(door, desk.token, {**asking(inbox), "run": "run-2"})
    assert reply.status_code == 429
    seconds = int(reply.headers["Retry-After"])
    assert 55 < seconds <= 60
    assert reply.json() == {
        "error": f"Too many calls. This one did nothing; call again in {seconds} seconds.",
        "code": "too_fast",
    }
    row = only_row("tool.call_rejected")
    assert (row.reason, row.agent) == ("too_fast", desk.agent.name)
    assert Session.objects.count() == 1


def test_a_refusal_is_an_answer_that_names_every_problem(
    door: str, desk: Desk, inbox: Channel
) -> None:
    body = {"name": "handoff_request", "args": {"channel_id": inbox.pk, "urgency": "now"}}
    reply = post(door, desk.token, body)
    assert reply.status_code == 200
    answer = reply.json()
    assert answer["isError"] is True
    assert answer["text"].startswith("Refused. ")
    assert set(answer["result"]) == {"error", "code", "details"}
    problems = answer["result"]["details"]["problems"]
    assert {"summary", "expected_action", "urgency"} <= {item["field"] for item in problems}
    assert only_row("tool.call_rejected").reason == "invalid_arguments"


def test_what_broke_is_not_called_refused(door: str, desk: Desk, agent: Agent) -> None:
    nowhere = f"smtp://127.0.0.1:{programs.free_port()}"
    channel = factories.email_channel(agent, smtp_url=nowhere)
    reply = post(door, desk.token, asking(channel))
    assert reply.status_code == 200
    answer = reply.json()
    assert answer["isError"] is True
    assert answer["text"].startswith("Nobody could be asked: ")
    assert only_row("tool.call_failed").reason == "dispatch_failed"


def refuse_writes_to(table: str) -> Callable[..., Any]:
    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("INSERT") and f'"{table}"' in sql:
            raise OperationalError(f"could not connect to db.internal: {table} is read-only")
        return execute(sql, params, many, context)

    return wrapper


@pytest.mark.parametrize("table", ["handoff_session", "audit_event"])
def test_503_asked_nobody_and_says_nothing_of_the_database(
    door: str, table: str, desk: Desk, inbox: Channel, conversation: Conversation
) -> None:
    body = {**asking(inbox), "conversation": conversation.public_id}
    with connection.execute_wrapper(refuse_writes_to(table)):
        reply = post(door, desk.token, body)
    assert reply.status_code == 503
    assert reply.headers["Retry-After"] == "30"
    assert reply.json() == {
        "error": "This call asked nobody. Do not say that it did.",
        "code": "desk_unavailable",
    }
    assert not Session.objects.exists()
    assert post(door, desk.token, body).status_code == 200


def test_a_database_that_can_t_look_a_token_up_is_no_wrong_token(door: str, desk: Desk) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("the connection is closed")

    with connection.execute_wrapper(refuse):
        reply = post(door, desk.token, {"name": "handoff_status"})
    assert reply.status_code == 503
    assert reply.json()["code"] == "desk_unavailable"
