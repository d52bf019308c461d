"""An agent with a token, and a client that calls as it."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client

from audit.models import Event as AuditEvent
from handoff.models import Agent, Channel, Conversation
from tests import factories


@dataclasses.dataclass(frozen=True)
class Reply:
    """An HTTP answer of the REST API."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


class Desk:
    """The REST API as one agent calls it."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.token = factories.token_of(agent).text
        self._client = Client(headers={"authorization": f"Bearer {self.token}"})

    def get(
        self,
        path: str,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        found = self._client.get(f"/api/v1/{path}", dict(query or {}), headers=headers)
        return Reply(found.status_code, found.headers, found.content)

    def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> Reply:
        data = body if isinstance(body, bytes) else json.dumps(body)
        found = self._client.post(
            f"/api/v1/{path}", data, content_type="application/json", headers=headers
        )
        return Reply(found.status_code, found.headers, found.content)

    def call(
        self,
        name: str,
        args: Mapping[str, Any],
        *,
        conversation: Conversation | None = None,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """One tool call that gets a 200; the answer `{text, isError, result}`."""
        body = {"name": name, "args": args, **more}
        if conversation is not None:
            body["conversation"] = conversation.public_id
        response = self.post("tool-calls", body, headers)
        assert response.status_code == 200, response.content
        answer: dict[str, Any] = response.json()
        assert set(answer) == {"text", "isError", "result"}
        return answer


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create()


@pytest.fixture
def desk(agent: Agent) -> Desk:
    return Desk(agent)


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    return factories.conversation(agent, name="Ana", email="ana@example.com")


@pytest.fixture
def other(db: None) -> Agent:
    return factories.AgentFactory.create(name="orders", display_name="Order desk")


@pytest.fixture
def sibling(other: Agent) -> Desk:
    return Desk(other)


@pytest.fixture
def grant(agent: Agent, other: Agent) -> Channel:
    return factories.sibling_channel(agent, other)


def refused(answer: dict[str, Any], code: str) -> dict[str, Any]:
    """The result of a refusal with that code; checks the words that every refusal has."""
    assert answer["isError"] is True
    assert answer["text"].startswith("Refused. ")
    assert set(answer["result"]) == {"error", "code", "details"}
    assert answer["result"]["code"] == code
    assert AuditEvent.objects.filter(action="tool.call_rejected", reason=code).count() == 1
    result: dict[str, Any] = answer["result"]
    return result
