"""The tools as an agent is offered them: they come and go, and their schemas are true."""

import json
from typing import Any

import jsonschema
import pytest

from handoff.actions.endings import release_as_owner
from handoff.contract.kinds import Outcome
from handoff.contract.request import ArgumentProblems, parse_request
from handoff.contract.sibling_calls import ReleaseArguments, parse
from handoff.models import Agent, Channel, Session
from tests import factories
from tests.api.conftest import Desk


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent, label="Sales support", estimated_response="in an hour")


def listed(desk: Desk, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = desk.get("tools", query).json()["tools"]
    return found


def names(desk: Desk) -> list[str]:
    return [tool["name"] for tool in listed(desk)]


def schema_of(desk: Desk, name: str, **query: str) -> dict[str, Any]:
    [tool] = [tool for tool in listed(desk, **query) if tool["name"] == name]
    schema: dict[str, Any] = tool["inputSchema"]
    return schema


def test_tools_come_and_go(desk: Desk, agent: Agent) -> None:
    assert names(desk) == ["ask_a_person"]
    channel = factories.inbox_channel(agent)
    assert names(desk) == ["ask_a_person", "handoff_request"]
    session = factories.requested(agent, channel)
    assert names(desk) == ["ask_a_person", "handoff_cancel", "handoff_request", "handoff_status"]
    release_as_owner(session, user_pk=1, name="Mia", outcome=Outcome.RESOLVED, message="")
    assert names(desk) == ["ask_a_person", "handoff_request", "handoff_status"]
    Channel.objects.update(enabled=False)
    assert names(desk) == ["ask_a_person", "handoff_status"]


def test_a_sibling_gets_the_tools_of_a_holder_while_it_holds(desk: Desk, agent: Agent) -> None:
    other = factories.AgentFactory.create()
    sibling = Desk(other)
    session = factories.requested(agent, factories.sibling_channel(agent, other))
    assert names(sibling) == [
        "ask_a_person",
        "handoff_release",
        "handoff_reply",
        "handoff_status",
    ]
    sibling.call(
        "handoff_release", {"handoff_session_id": session.public_id, "outcome": "declined"}
    )
    assert names(sibling) == ["ask_a_person"]


def test_the_request_lists_the_channels_and_their_ids(desk: Desk, inbox: Channel) -> None:
    more = factories.email_channel(inbox.agent, label="Team mail")
    [tool] = [tool for tool in listed(desk) if tool["name"] == "handoff_request"]
    assert f"{inbox.pk}: Sales support (owner inbox, usually in an hour)\n" in tool["description"]
    assert tool["inputSchema"]["properties"]["channel_id"]["enum"] == [inbox.pk, more.pk]
    Channel.objects.filter(pk=inbox.pk).update(contact_limit_per_hour=0)
    assert schema_of(desk, "handoff_request")["properties"]["channel_id"]["enum"] == [more.pk]


@pytest.mark.parametrize("strict", ["0", "1"])
def test_the_four_formats(strict: str, desk: Desk, inbox: Channel) -> None:
    mcp = listed(desk, format="mcp", strict=strict)[1]
    openai = listed(desk, format="openai", strict=strict)[1]
    responses = listed(desk, format="openai_responses", strict=strict)[1]
    anthropic = listed(desk, format="anthropic", strict=strict)[1]
    assert listed(desk, strict=strict)[1] == mcp
    assert mcp["annotations"]["readOnlyHint"] is False
    assert mcp["outputSchema"]["type"] == "object"
    function = {
        "name": "handoff_request",
        "description": mcp["description"],
        "parameters": mcp["inputSchema"],
        "strict": strict == "1",
    }
    assert openai == {"type": "function", "function": function}
    assert responses == {"type": "function", **function}
    assert anthropic == {
        "name": "handoff_request",
        "description": mcp["description"],
        "input_schema": mcp["inputSchema"],
    }
    jsonschema.Draft202012Validator.check_schema(mcp["inputSchema"])


def every_object(schema: Any) -> list[dict[str, Any]]:
    found = []
    if isinstance(schema, dict):
        if "object" in (schema.get("type"), *(schema.get("type") or [])):
            found.append(schema)
        for part in schema.values():
            found += every_object(part)
    elif isinstance(schema, list):
        for part in schema:
            found += every_object(part)
    return found


def test_strict_schemas_are_closed_and_whole(desk: Desk, inbox: Channel) -> None:
    for tool in listed(desk, strict="1"):
        objects = every_object(tool["inputSchema"])
        assert objects
        for one in objects:
            assert one["additionalProperties"] is False
            assert one["required"] == list(one["properties"])


REQUESTS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"urgency": "high", "include_transcript": False}, True),
    ({"contact_back_email": "ana@example.com", "extra_context": {"order": "1234"}}, True),
    ({"expected_return": [{"name": "n", "type": "number", "required": True}]}, True),
    ({"summary": "too short"}, False),
    ({"urgency": "now"}, False),
    ({"extra_context": {"order": 1234}}, False),
    ({"expected_return": [{"name": "1st", "type": "number"}]}, False),
    ({"expected_return": [{"name": "n", "type": "colour"}]}, False),
    ({"priority": 1}, False),
]


@pytest.mark.parametrize(("change", "good"), REQUESTS)
def test_the_schema_takes_what_the_desk_takes(
    change: dict[str, Any], good: bool, desk: Desk, inbox: Channel
) -> None:
    args = json.loads(json.dumps(factories.arguments(inbox, **change)))
    schema = schema_of(desk, "handoff_request")
    assert jsonschema.Draft202012Validator(schema).is_valid(args) is good
    try:
        parse_request(args)
    except ArgumentProblems:
        assert not good
    else:
        assert good


def test_what_a_strict_schema_makes_a_model_send_is_taken(desk: Desk, inbox: Channel) -> None:
    args = {
        "channel_id": inbox.pk,
        "summary": factories.SUMMARY,
        "expected_action": factories.EXPECTED_ACTION,
        "urgency": None,
        "contact_back_email": None,
        "include_transcript": None,
        "extra_context": [{"key": "order", "value": "1234"}],
        "expected_return": [
            {
                "name": "n",
                "type": "number",
                "enum_values": None,
                "label": None,
                "description": None,
                "required": None,
                "placeholder": None,
            }
        ],
    }
    jsonschema.validate(args, schema_of(desk, "handoff_request", strict="1"))
    answer = desk.call("handoff_request", args)
    assert answer["result"]["ok"] is True
    assert Session.objects.get().extra_context == [["order", "1234"]]
    released = parse(
        ReleaseArguments,
        {
            "handoff_session_id": "hs_x",
            "outcome": "resolved",
            "message": None,
            "return_values": [{"key": "n", "value": 2}, {"key": "paid", "value": True}],
        },
    )
    assert released.return_values == {"n": 2, "paid": True}


def test_the_text_is_stable_and_private(desk: Desk, inbox: Channel) -> None:
    first = desk.get("tools")
    again = desk.get("tools", headers={"if-none-match": first.headers["ETag"]})
    assert first.headers["Cache-Control"] == "private, no-store"
    assert first.content == desk.get("tools").content
    assert (again.status_code, again.content) == (304, b"")
    inbox.label = "Other"
    inbox.save()
    changed = desk.get("tools", headers={"if-none-match": first.headers["ETag"]})
    assert changed.status_code == 200


def test_a_query_that_can_t_be_used_names_all_of_it(desk: Desk) -> None:
    answer = desk.get("tools", {"format": "xml", "strict": "2"})
    assert answer.status_code == 400
    problems = answer.json()["details"]["problems"]
    assert [item["field"] for item in problems] == ["format", "strict"]
