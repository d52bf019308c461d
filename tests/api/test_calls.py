"""The door of the tools: what is not a call, who may not call, and the other tools."""

import json
from typing import Any

import pytest
from django.test import Client

from audit.models import Event as AuditEvent
from handoff.actions.tokens import revoke_token
from handoff.contract import limits
from handoff.models import Agent, Channel, Conversation, Session, Token
from tests import factories
from tests.api.conftest import Desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)


def nested(depth: int) -> bytes:
    return b'{"name": "handoff_status", "args": ' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[1, 2]",
        b'"handoff_request"',
        b'{"name": "handoff_status", "args": {"a": NaN}}',
        b'{"name": "handoff_status", "name": "handoff_cancel"}',
        b'{"name": "handoff_status", "args": {"a": "\\u0000"}}',
        b'{"name": "handoff_status", "args": {"\\u0000": "a"}}',
        b'{"name": "handoff_status", "args": {"a": "\\udcff"}}',
        b'{"name": "handoff_status", "args": {"\\udcff": "a"}}',
        b'{"name": "handoff_status", "args": {"a": "\xff"}}',
        nested(5000),
    ],
)
def test_what_is_not_readable_gets_one_sentence_and_a_row(desk: Desk, body: bytes) -> None:
    response = desk.post("tool-calls", body)

    assert response.status_code == 400
    assert response.json() == {"error": "The call is not readable JSON."}
    assert AuditEvent.objects.get(action="tool.call_malformed").agent == desk.agent.name


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": "  "}, {"name": 3}, {"args": {}}])
def test_a_call_without_a_name_is_told_so(desk: Desk, body: object) -> None:
    response = desk.post("tool-calls", body)

    assert response.status_code == 400
    assert response.json() == {"error": "A tool is required."}


def test_a_call_over_256_kib_is_refused_before_the_token_is_read(client: Client) -> None:
    fits = json.dumps({"name": "x", "args": {}, "run": ""}).encode()
    fits += b" " * (limits.CALL_BYTES - len(fits))

    def send(body: bytes) -> Any:
        return client.post("/api/v1/tool-calls", body, content_type="application/json")

    assert send(fits).status_code == 401
    response = send(fits + b" ")
    assert response.status_code == 413
    assert response.json() == {"error": "The call is too large.", "code": "too_large"}


def test_every_cause_of_401_answers_alike(client: Client, agent: Agent) -> None:
    good = factories.token_of(agent)
    revoked = factories.token_of(agent)
    revoke_token(revoked.row, actor="test")
    expired = factories.token_of(agent)
    Token.objects.filter(pk=expired.row.pk).update(expires_at="2020-01-01T00:00:00Z")
    off = factories.token_of(factories.AgentFactory.create(enabled=False))
    headers = [
        "",
        "Bearer",
        "Bearer ",
        "Basic abc",
        good.text,
        f"Bearer {good.text}x",
        f"Bearer {good.text[:-1]}",
        f"Bearer hd_abcdefgh_{good.text[-43:]}",
        f"Bearer {good.text[:12]}{'A' * 43}",
        f"Bearer {revoked.text}",
        f"Bearer {expired.text}",
        f"Bearer {off.text}",
        "Bearer \x00",
    ]
    for header in headers:
        response = client.post(
            "/api/v1/tool-calls",
            "{}",
            content_type="application/json",
            headers={"authorization": header},
        )
        assert response.status_code == 401, header
        assert response.json() == {"error": "Not authorised."}
        assert response.headers["WWW-Authenticate"] == "Bearer"
    rows = AuditEvent.objects.filter(action="tool.callback_refused")
    assert rows.count() == len(headers)
    assert set(rows.values_list("agent", flat=True)) == {""}
    assert set(rows.values_list("reason", flat=True)) == {
        "missing",
        "malformed",
        "unknown",
        "revoked",
        "expired",
        "disabled",
    }


def test_another_agents_things_get_403_and_a_row_that_names_the_caller(
    desk: Desk, agent: Agent, inbox: Channel
) -> None:
    stranger = factories.AgentFactory.create()
    theirs = factories.conversation(stranger, "theirs")
    session = factories.requested(stranger, factories.inbox_channel(stranger), theirs)
    for body in (
        {"name": "handoff_request", "args": {}, "conversation": theirs.public_id},
        {"name": "handoff_status", "args": {"handoff_session_id": session.public_id}},
        {"name": "handoff_cancel", "args": {"handoff_session_id": session.public_id}},
    ):
        response = desk.post("tool-calls", body)
        assert response.status_code == 403
        assert response.json() == {"error": "That token is not for this Bot."}
    rows = AuditEvent.objects.filter(action="tool.callback_refused")
    assert rows.count() == 3
    assert {row.agent for row in rows} == {agent.name}
    session.refresh_from_db()
    assert session.status == "active"


def test_ownership_is_checked_before_arguments(desk: Desk) -> None:
    theirs = factories.conversation(factories.AgentFactory.create(), "theirs")
    response = desk.post(
        "tool-calls",
        {"name": "handoff_request", "args": {"x": 1}, "conversation": theirs.public_id},
    )
    assert response.status_code == 403


def test_an_unknown_tool_is_refused_with_the_names_that_exist(desk: Desk) -> None:
    answer = desk.call("handoff_everything", {})
    assert answer["text"] == (
        "Refused. There is no tool of that name here. "
        "Tools: ask_a_person, handoff_cancel, handoff_release, handoff_reply, handoff_request, "
        "handoff_status."
    )
    assert answer["result"]["code"] == "unknown_tool"


def test_an_envelope_that_is_off_is_a_refusal_with_every_problem(desk: Desk) -> None:
    call: dict[str, object] = {"name": "handoff_status", "args": None, "arguments": {}}
    call |= {"run": 1, "conversation": {}}
    answer = desk.post("tool-calls", call)
    assert answer.status_code == 200
    assert answer.json()["text"].startswith("Refused. The arguments can't be used: ")
    result = answer.json()["result"]
    assert result["code"] == "invalid_arguments"
    assert {item["field"] for item in result["details"]["problems"]} == {
        "args",
        "arguments",
        "run",
        "conversation",
    }
    assert AuditEvent.objects.get(action="tool.call_rejected").reason == "invalid_arguments"


@pytest.mark.parametrize("args", [{}, {"handoff_session_id": ""}, {"handoff_session_id": 7}])
def test_status_needs_the_id_of_a_session(desk: Desk, args: dict[str, object]) -> None:
    answer = desk.call("handoff_status", args)
    assert answer["result"]["code"] == "invalid_arguments"
    assert answer["result"]["details"]["problems"][0]["field"] == "handoff_session_id"
    assert answer["text"].endswith(" Correct them and call again.")  # reading never asks anybody


def test_a_session_that_does_not_exist_is_not_found(desk: Desk) -> None:
    answer = desk.call("handoff_status", {"handoff_session_id": "hs_nothing"})
    assert answer["result"]["code"] == "not_found"


def test_status_says_how_it_stands(desk: Desk, agent: Agent, inbox: Channel) -> None:
    session = factories.requested(agent, inbox)
    answer = desk.call("handoff_status", {"handoff_session_id": session.public_id})

    assert answer["text"] == "Shop team was notified and has not answered yet."
    assert answer["result"]["ok"] is True
    handoff = answer["result"]["handoff"]
    assert handoff["id"] == session.public_id
    assert handoff["status"] == "active"
    assert list(handoff["return_schema"]["properties"]) == [
        "order_status",
        "tracking_url",
        "eta_date",
        "notes",
    ]


def test_cancel_releases_and_a_second_cancel_answers_already(
    desk: Desk, agent: Agent, inbox: Channel, conversation: Conversation
) -> None:
    session = factories.requested(agent, inbox, conversation)
    args = {"handoff_session_id": session.public_id, "reason": "They [found] it\nthemselves."}
    first = desk.call("handoff_cancel", args)
    again = desk.call("handoff_cancel", args)

    assert first["text"] == "The handoff is cancelled. The visitor is yours again."
    assert "already" not in first["result"]
    assert first["result"]["handoff"]["release"] == "cancelled"
    assert again["result"]["already"] is True
    note = conversation.messages.exclude(note_type="").get()
    assert note.text == ("[Bot resumed — the handoff was cancelled. They (found) it themselves.]")
    assert AuditEvent.objects.filter(action="handoff.cancelled").count() == 1


def test_cancel_checks_its_reason(desk: Desk, agent: Agent, inbox: Channel) -> None:
    session = factories.requested(agent, inbox)
    answer = desk.call(
        "handoff_cancel", {"handoff_session_id": session.public_id, "reason": "x" * 1001}
    )
    assert answer["result"]["details"]["problems"] == [
        {"field": "reason", "problem": "must have at most 1000 characters; it has 1001"}
    ]
    assert answer["text"].endswith(" Correct them and call again; nothing was cancelled.")
    assert Session.objects.get().status == "active"
