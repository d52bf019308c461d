"""The OpenAPI document: what is served is what is declared."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from handoff.api.field_words import FIELDS
from handoff.api.problems import render
from handoff.errors import DeskUnavailable, OutcomeUnrecorded, TooFast
from handoff.models import Agent, Conversation
from tests import factories
from tests.api.conftest import Desk, Reply

pytestmark = pytest.mark.django_db


@pytest.fixture
def document(desk: Desk) -> dict[str, Any]:
    response = desk.get("openapi.json")
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


def _schema_of(document: dict[str, Any], path: str, method: str, status: int) -> dict[str, Any]:
    response = document["paths"][path][method]["responses"][str(status)]
    content: dict[str, Any] = response["content"]["application/json"]["schema"]
    return content


def assert_declared(document: dict[str, Any], path: str, method: str, reply: Reply) -> None:
    """The answer is one that the document declares for this operation, in its shape."""
    schema = _schema_of(document, path, method, reply.status_code)
    whole = {**schema, "components": document["components"]}
    errors = [str(error) for error in jsonschema_rs.validator_for(whole).iter_errors(reply.json())]
    assert errors == []


def test_it_is_3_1_and_names_every_route(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {
        "/api/agent-tools/call",
        "/api/v1/tool-calls",
        "/api/v1/me",
        "/api/v1/channels",
        "/api/v1/conversations",
        "/api/v1/conversations/{public_id}",
        "/api/v1/conversations/{public_id}/messages",
        "/api/v1/conversations/{public_id}/files",
        "/api/v1/inbox/{public_id}/files",
        "/api/v1/files/{public_id}",
        "/api/v1/conversations/{public_id}/tickets",
        "/api/v1/handoffs",
        "/api/v1/handoffs/{public_id}",
        "/api/v1/tools",
        "/api/v1/inbox",
        "/api/v1/inbox/{public_id}/claim",
        "/api/v1/events",
        "/api/v1/webhooks",
        "/api/v1/webhooks/{public_id}",
        "/api/v1/webhooks/{public_id}/rotate",
        "/api/v1/webhooks/{public_id}/test",
        "/api/v1/webhooks/{public_id}/replay",
        "/api/v1/webhooks/{public_id}/calls",
        "/api/v1/wait/events",
        "/api/v1/wait/handoffs/{public_id}",
        "/api/v1/wait/stream",
        "/healthz",
        "/readyz",
    }


def test_every_reference_resolves_and_every_operation_declares_its_refusals(
    document: dict[str, Any],
) -> None:
    text = json.dumps(document)
    schemas = document["components"]["schemas"]
    names = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert names <= set(schemas)
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path in ("/healthz", "/readyz"):
                assert operation["security"] == []
                continue
            refusals = {"400", "401", "403", "404", "405", "429", "500", "503"}
            assert refusals <= set(operation["responses"]), path
            assert operation["security"][0] == {"agentToken": []}, path


def test_openbots_header_is_declared_where_its_bots_post(document: dict[str, Any]) -> None:
    operation = document["paths"]["/api/agent-tools/call"]["post"]
    assert operation["security"] == [{"agentToken": []}, {"openbotToken": []}]
    scheme = document["components"]["securitySchemes"]["openbotToken"]
    assert (scheme["type"], scheme["in"]) == ("apiKey", "header")
    assert scheme["name"] == "x-openbot-agent-token"


def test_real_answers_have_the_declared_shapes(
    document: dict[str, Any], desk: Desk, agent: Agent, conversation: Conversation
) -> None:
    channel = factories.inbox_channel(agent)
    session = factories.requested(agent, channel, conversation)
    factories.answer(session, factories.form(session, entries={"eta_date": "soon", "x": "y"}))
    named = f"conversations/{conversation.public_id}"
    one = "/api/v1/conversations/{public_id}"
    turn = {"client_id": "1", "author": "subscriber", "text": "Hello"}
    tool = {"name": "handoff_status", "args": {"handoff_session_id": session.public_id}}
    for path, method, reply in (
        ("/api/v1/me", "get", desk.get("me")),
        ("/api/v1/channels", "get", desk.get("channels")),
        ("/api/v1/events", "get", desk.get("events")),
        ("/api/v1/handoffs", "get", desk.get("handoffs")),
        ("/api/v1/handoffs/{public_id}", "get", desk.get(f"handoffs/{session.public_id}")),
        ("/api/v1/handoffs/{public_id}", "get", desk.get("handoffs/hs_none")),
        (one, "get", desk.get(named)),
        (f"{one}/messages", "get", desk.get(f"{named}/messages")),
        (f"{one}/messages", "post", desk.post(f"{named}/messages", turn)),
        (f"{one}/messages", "post", desk.post(f"{named}/messages", {})),
        (f"{one}/tickets", "post", desk.post(f"{named}/tickets", {"role": "agent"})),
        ("/api/v1/conversations", "post", desk.post("conversations", {"external_id": "new"})),
        ("/api/v1/tool-calls", "post", desk.post("tool-calls", tool)),
        ("/api/v1/tool-calls", "post", desk.post("tool-calls", b"{")),
    ):
        assert_declared(document, path, method, reply)


Content = tuple[str, dict[str, Any]]


def contents(document: dict[str, Any]) -> Iterator[Content]:
    """Where a body is described: its place in words, and the content object."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
            for part, body in bodies.items():
                for media_type, content in body.get("content", {}).items():
                    yield f"{method} {path} {part} {media_type}", content


def examples(document: dict[str, Any], content: dict[str, Any]) -> list[Any]:
    shared = document["components"]["examples"]
    return [
        (shared[one["$ref"].rpartition("/")[2]] if "$ref" in one else one)["value"]
        for one in content.get("examples", {}).values()
    ]


def test_every_body_has_an_example_that_its_schema_takes(document: dict[str, Any]) -> None:
    seen = 0
    for place, content in contents(document):
        assert examples(document, content), f"{place} has no example: see handoff/api/examples.py"
        whole = {**content["schema"], "components": document["components"]}
        validator = jsonschema_rs.validator_for(whole)
        for example in examples(document, content):
            assert [str(error) for error in validator.iter_errors(example)] == [], place
            seen += 1
    assert seen > 300


def test_every_operation_says_what_it_is_for_and_every_answer_what_it_means(
    document: dict[str, Any],
) -> None:
    groups = {tag["name"] for tag in document["tags"]}
    for methods in document["paths"].values():
        for operation in methods.values():
            name = operation["operationId"]
            assert 5 < len(operation["summary"]) < 60, name
            assert operation["description"].endswith("."), name
            assert set(operation["tags"]) <= groups, name
            for status, answer in operation["responses"].items():
                assert answer["description"].endswith("."), (name, status)
                assert ("headers" in answer) or status not in ("401", "405", "429"), (name, status)
            for parameter in operation.get("parameters", []):
                assert parameter.get("description"), (name, parameter["name"])


def test_every_field_of_a_body_says_what_it_means(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    asked = set()
    for methods in document["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                asked.add(content["schema"].get("$ref", "").rpartition("/")[2])
    unsaid = [
        f"{name}.{field}"
        for name in asked & set(FIELDS)
        for field, part in schemas[name]["properties"].items()
        if not part.get("description")
    ]
    assert unsaid == [], "see handoff/api/field_words.py"
    assert len(asked & set(FIELDS)) >= 4


def test_the_refusals_of_the_examples_are_the_desks_own_words(
    document: dict[str, Any], desk: Desk, conversation: Conversation
) -> None:
    stranger = Desk(factories.AgentFactory.create())
    lines = f"conversations/{conversation.public_id}/messages"
    turn = {"client_id": "1", "author": "subscriber", "text": "Hello"}
    desk.post(lines, turn)
    put = desk._client.put("/api/v1/me")
    replies = [
        desk.get("events", {"after": "x"}),
        desk.get("me", headers={"authorization": "Bearer x"}),
        stranger.get(f"conversations/{conversation.public_id}"),
        desk.get("handoffs/hs_none"),
        Reply(put.status_code, put.headers, put.content),
        desk.post(lines, {**turn, "text": "Good-bye"}),
        desk.post("tool-calls", b"x" * 300_000),
    ]
    shared = document["components"]["examples"]
    for reply, status in zip(replies, (400, 401, 403, 404, 405, 409, 413), strict=True):
        assert reply.status_code == status
        assert reply.json() == shared[f"refusal{status}"]["value"]
    for error, name in (
        (TooFast(2), "429"),
        (DeskUnavailable(), "503"),
        (OutcomeUnrecorded(), "Unrecorded"),
    ):
        assert render(error, None).data == shared[f"refusal{name}"]["value"]
    accepting = desk.get("handoffs/hs_none", headers={"accept": "application/problem+json"})
    assert accepting.json() == shared["problem404"]["value"]


def test_the_examples_are_calls_that_parse(document: dict[str, Any], desk: Desk) -> None:
    codes = {
        "/api/v1/tool-calls": "no_channels",
        "/api/agent-tools/call": "route_refused",
    }
    for path, code in codes.items():
        body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        for example in examples(document, body):
            answer = desk.post("tool-calls", example).json()
            assert answer["result"]["code"] == code
