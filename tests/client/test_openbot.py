"""Bots written for OpenBot read the same answers as this client does."""

import json
from typing import Any

import pytest
from django.test import Client

from handoff_client import answers
from tests import factories

pytestmark = pytest.mark.django_db

DOOR = "/api/agent-tools/call"


def read_by_a_bot(status: int, body: Any) -> str:
    """As their bots do it: a success is passed on, anything else is a refusal with its error."""
    if not 200 <= status < 300:
        error = body.get("error") if isinstance(body, dict) else None
        words = f" {error.strip()}" if isinstance(error, str) and error.strip() else ""
        return f"Refused. Tool callback returned HTTP {status}.{words}"
    assert isinstance(body["text"], str)
    return str(body["text"])


def post(token: str, body: dict[str, Any]) -> str:
    """What a bot tells its model; the client reads the same bytes and says the same."""
    reply = Client().post(
        DOOR,
        json.dumps(body),
        content_type="application/json",
        headers={"x-openbot-agent-token": token},
    )
    text = read_by_a_bot(reply.status_code, reply.json())
    ours = answers.read(answers.Received(reply.status_code, {}, reply.content))
    assert ours.text == text
    if reply.status_code == 200:
        assert ours == answers.Answer(text, reply.json()["isError"], reply.json()["result"])
    else:
        assert ours.is_error
    return text


def test_every_kind_of_answer_is_read_alike() -> None:
    agent = factories.AgentFactory.create()
    token = factories.token_of(agent).text
    channel = factories.inbox_channel(agent)
    asking = {"name": "handoff_request", "args": factories.arguments(channel), "run": "run-1"}
    assert post(token, asking).startswith("Handed to Shop team by owner inbox;")
    assert post(token, {"name": "dance"}).startswith("Refused. There is no tool of that name")
    unasked = {"name": "ask_a_person", "args": {"question": "May I refund order 1234?"}}
    assert post(token, unasked).startswith("Refused. ")
    assert post("hd_nothing", asking) == (
        "Refused. Tool callback returned HTTP 401. Not authorised."
    )
    theirs = factories.conversation(factories.AgentFactory.create(), "theirs")
    assert post(token, {**asking, "conversation": theirs.public_id}) == (
        "Refused. Tool callback returned HTTP 403. That token is not for this Bot."
    )
    assert post(token, {"args": {}}) == (
        "Refused. Tool callback returned HTTP 400. A tool is required."
    )
