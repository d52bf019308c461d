"""One agent hands to another and gets typed values back, through the doors that both call."""

from itertools import pairwise
from typing import Any

import pytest

from audit.models import Event as AuditEvent
from handoff.actions.channels import create_channel
from handoff.models import Agent, Channel, Conversation, Session
from tests import factories
from tests.api.conftest import Desk, refused
from tests.api.hops import give_back, hand, trail

SEVEN: list[dict[str, Any]] = [
    {"name": "order_status", "type": "enum", "enum_values": ["shipped", "lost"], "required": True},
    {"name": "carrier", "type": "string"},
    {"name": "history", "type": "multiline"},
    {"name": "weight", "type": "number"},
    {"name": "insured", "type": "boolean"},
    {"name": "eta_date", "type": "date"},
    {"name": "tracking_url", "type": "url"},
]
VALUES: dict[str, Any] = {
    "order_status": "shipped",
    "carrier": "ACME",
    "history": "packed\nshipped",
    "weight": 12.5,
    "insured": False,
    "eta_date": "2026-06-10",
    "tracking_url": "https://carrier.example/track/abc",
}


def test_a_hop_goes_there_and_comes_back_with_all_seven_types(
    desk: Desk, sibling: Desk, grant: Channel, conversation: Conversation, agent: Agent
) -> None:
    answer = desk.call(
        "handoff_request",
        factories.arguments(grant, expected_return=SEVEN),
        conversation=conversation,
    )
    result = answer["result"]
    assert answer["text"].startswith("Handed to Order desk by sibling agent; they were notified.")
    assert (result["channel_kind"], result["human_notified"]) == ("agent", True)
    session = result["handoff_session_id"]

    [event] = sibling.get("events").json()["data"]
    assert (event["type"], event["handoff"]) == ("handoff.assigned", session)
    [item] = sibling.get("inbox").json()["data"]
    assert (item["id"], item["event_id"], item["status"]) == (session, event["id"], "active")
    assert item["from"] == {"agent": agent.name}
    assert item["claimed_at"] is None
    assert set(item["return_schema"]["properties"]) == set(VALUES)
    assert "[EXPECTED RETURN SCHEMA]" in item["initial_context"]
    assert factories.SUMMARY in item["initial_context"]

    claimed = sibling.post(f"inbox/{session}/claim", {})
    assert claimed.status_code == 200
    assert claimed.json()["claimed_at"] is not None
    said = give_back(sibling, session, message="Looked up order 1234.", return_values=VALUES)
    assert said["isError"] is False
    assert said["text"].startswith("The handoff is handed back to ")
    assert "Not filled" not in said["text"]

    found = desk.call("handoff_status", {"handoff_session_id": session})["result"]["handoff"]
    assert (found["status"], found["release"], found["outcome"]) == (
        "released",
        "agent",
        "resolved",
    )
    assert list(found["values"].items()) == list(VALUES.items())
    [note] = desk.post(
        f"conversations/{conversation.public_id}/messages",
        {"client_id": "t1", "author": "subscriber", "text": "And?"},
    ).json()["context"]
    assert note["text"].startswith(
        "[Bot resumed — the sibling agent has handed control back. Outcome: resolved. "
        "Looked up order 1234.]\nReturned data:\n  • order_status: shipped\n"
    )


def test_every_row_of_the_trail_names_both_agents_and_who_acted(
    desk: Desk, sibling: Desk, grant: Channel, agent: Agent, other: Agent
) -> None:
    session = hand(desk, grant)
    sibling.post(f"inbox/{session}/claim", {})
    give_back(sibling, session)
    give_back(sibling, session)
    rows = trail(session)
    assert {row[2:] for row in rows} == {(agent.name, other.name)}
    assert [row[:2] for row in rows] == [
        ("handoff.requested", f"agent:{agent.name}"),
        ("handoff.offered", f"agent:{agent.name}"),
        ("handoff.delivered", "desk"),
        ("handoff.dispatched", "desk"),
        ("handoff.claimed", f"agent:{other.name}"),
        ("handoff.released", f"agent:{other.name}"),
        ("return.missing", f"agent:{other.name}"),
        ("handoff.release_ignored", f"agent:{other.name}"),
    ]


def test_the_visitor_talks_to_the_sibling(
    desk: Desk, sibling: Desk, grant: Channel, conversation: Conversation
) -> None:
    session = hand(desk, grant, conversation=conversation)
    place = f"conversations/{conversation.public_id}/messages"
    turn = desk.post(
        place, {"client_id": "t1", "author": "subscriber", "text": "Where is it?"}
    ).json()
    assert (turn["bypass"], turn["message"]["routed_to"]) == (True, "recipient")
    heard = sibling.get("events").json()["data"][-1]
    assert (heard["type"], heard["conversation"]) == ("message.routed", None)
    assert heard["data"]["message"]["text"] == "Where is it?"
    args = {"handoff_session_id": session, "text": "On its way."}
    key = {"Idempotency-Key": "r1"}
    first = sibling.call("handoff_reply", args, headers=key)
    again = sibling.call("handoff_reply", args, headers=key)
    assert (first["text"], again["result"]["already"]) == ("The visitor has it.", True)
    lines = desk.get(place).json()["data"]
    said = [(line["author"], line["name"], line["text"]) for line in lines]
    assert said == [
        ("subscriber", "Ana", "Where is it?"),
        ("sibling", "Order desk", "On its way."),
    ]
    row = Session.objects.get(public_id=session)
    assert (row.joined_name, row.claimed_at is not None) == ("Order desk", True)
    late = desk.post(place, {"client_id": "a1", "author": "agent", "text": "I think…"})
    assert late.json()["code"] == "superseded"


def test_a_key_said_one_thing_in_one_handoff(
    desk: Desk, sibling: Desk, grant: Channel, conversation: Conversation
) -> None:
    """A repeat is not said again; other words, or the next handoff's, are never taken for one."""
    key = {"Idempotency-Key": "r1"}
    session = hand(desk, grant, conversation=conversation)
    args = {"handoff_session_id": session, "text": "On its way."}
    sibling.call("handoff_reply", args, headers=key)
    other = sibling.call("handoff_reply", {**args, "text": "It is lost."}, headers=key)
    assert (other["isError"], other["result"]["code"]) == (True, "idempotency_reused")
    give_back(sibling, session)
    args["handoff_session_id"] = hand(desk, grant, conversation=conversation)
    second = sibling.call("handoff_reply", args, headers=key)
    assert (second["text"], second["result"].get("already")) == ("The visitor has it.", None)
    lines = desk.get(f"conversations/{conversation.public_id}/messages").json()["data"]
    said = [line["text"] for line in lines if line["author"] == "sibling"]
    assert said == ["On its way.", "On its way."]


def test_wrong_values_are_reported_to_both_and_block_nothing(
    desk: Desk, sibling: Desk, grant: Channel
) -> None:
    answer = desk.call("handoff_request", factories.arguments(grant, expected_return=SEVEN))
    session = answer["result"]["handoff_session_id"]
    values = {"weight": "1,234", "insured": "perhaps", "colour": "blue"}
    said = give_back(sibling, session, "unresolved", return_values=values)
    assert said["isError"] is False
    assert said["text"].splitlines()[1:] == [
        "Not filled: order_status (required), carrier, history, eta_date, tracking_url.",
        'Not usable: weight "1,234" (not a number), insured "perhaps" (not true or false).',
        'Also sent: colour "blue".',
    ]
    found = desk.call("handoff_status", {"handoff_session_id": session})["result"]["handoff"]
    assert (found["status"], found["outcome"], found["values"]) == ("released", "unresolved", {})
    assert [item["name"] for item in found["invalid"]] == ["weight", "insured"]
    assert found["unknown"] == {"colour": "blue"}


def test_a_second_release_stands_or_is_refused(desk: Desk, sibling: Desk, grant: Channel) -> None:
    session = hand(desk, grant)
    give_back(sibling, session)
    assert give_back(sibling, session)["result"]["already"] is True
    result = refused(give_back(sibling, session, "declined"), "already_released")
    assert result["details"]["outcome"] == "resolved"


def test_only_the_holder_releases_and_replies(desk: Desk, grant: Channel, db: None) -> None:
    session = hand(desk, grant)
    stranger = Desk(factories.AgentFactory.create())
    words = set()
    for caller, named in ((desk, session), (stranger, session), (stranger, "hs_nothing")):
        for tool, args in (
            ("handoff_release", {"outcome": "resolved"}),
            ("handoff_reply", {"text": "hello"}),
        ):
            answer = caller.call(tool, {"handoff_session_id": named, **args})
            assert answer["result"]["code"] == "not_holder"
            words.add(answer["text"])
    assert words == {"Refused. You do not hold such a handoff."}
    assert AuditEvent.objects.filter(reason="not_holder").count() == 6
    answers = [stranger.post(f"inbox/{named}/claim", {}) for named in (session, "hs_nothing")]
    assert [found.status_code for found in answers] == [404, 404]
    assert answers[0].json() == answers[1].json()


def test_bad_arguments_are_named_all_at_once(desk: Desk, sibling: Desk, grant: Channel) -> None:
    hand(desk, grant)
    answer = sibling.call(
        "handoff_release", {"outcome": "done", "message": "x" * 1001, "values": {}}
    )
    problems = {
        item["field"] for item in refused(answer, "invalid_arguments")["details"]["problems"]
    }
    assert problems == {"handoff_session_id", "outcome", "message", "values"}


def test_no_agent_is_handed_what_it_handed_on(
    desk: Desk, sibling: Desk, grant: Channel, agent: Agent, other: Agent
) -> None:
    back = factories.sibling_channel(other, agent, label="Back")
    session = hand(desk, grant)
    answer = sibling.call("handoff_request", factories.arguments(back), on_behalf_of=session)
    result = refused(answer, "cycle")
    assert result["details"] == {"channel_id": back.pk}
    assert "Nobody was asked" in result["error"]
    row = AuditEvent.objects.get(reason="cycle")
    assert (row.agent, row.other_agent) == (other.name, agent.name)
    # for a matter of its own it may
    assert hand(sibling, back, on_behalf_of=None)


def test_hops_are_counted_and_the_refusal_names_the_limit(db: None) -> None:
    agents = [factories.AgentFactory.create() for _ in range(5)]
    grants = [factories.sibling_channel(a, b) for a, b in pairwise(agents)]
    session: str | None = None
    for place in range(3):
        session = hand(Desk(agents[place]), grants[place], on_behalf_of=session)
    assert Session.objects.get(public_id=session).depth == 3
    answer = Desk(agents[3]).call(
        "handoff_request", factories.arguments(grants[3]), on_behalf_of=session
    )
    result = refused(answer, "depth_limit")
    assert result["details"] == {"limit": 3, "depth": 4}
    assert "the limit is 3" in result["error"]
    inbox = factories.inbox_channel(agents[3])
    assert hand(Desk(agents[3]), inbox, on_behalf_of=session)


def test_a_holder_says_for_which_hop_it_asks(
    desk: Desk, sibling: Desk, grant: Channel, other: Agent
) -> None:
    person = factories.inbox_channel(other)
    session = hand(desk, grant)
    answer = sibling.call("handoff_request", factories.arguments(person))
    [problem] = refused(answer, "invalid_arguments")["details"]["problems"]
    assert problem["field"] == "on_behalf_of"
    assert session in problem["problem"]
    wrong = sibling.call("handoff_request", factories.arguments(person), on_behalf_of="hs_x")
    refused(wrong, "not_holder")
    asked = hand(sibling, person, on_behalf_of=session)
    made = Session.objects.get(public_id=asked)
    assert made.parent == Session.objects.get(public_id=session)
    assert made.depth == 0


def test_an_agent_can_t_be_given_a_channel_to_itself_or_to_nobody(agent: Agent) -> None:
    words = set()
    for name in (agent.name, "ghost"):
        with pytest.raises(Exception, match="agent: must name another agent") as error:
            create_channel(agent, kind="agent", label="x", config={"agent": name}, actor="test")
        words.add(str(error.value))
    assert len(words) == 1
    assert not Channel.objects.exists()
