"""One agent hands to another and gets typed values back, through the doors that both call."""

import datetime as dt
from itertools import pairwise
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django.fixtures import Settings

from audit.models import Event as AuditEvent
from handoff.actions.change_agent import AgentFacts, change_agent
from handoff.actions.channels import change_channel, create_channel
from handoff.actions.hops import end_unclaimed, end_unreachable
from handoff.models import Agent, Attempt, Channel, Conversation, Session
from tests import factories
from tests.api.conftest import Desk, refused

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


@pytest.fixture
def other(db: None) -> Agent:
    return factories.AgentFactory.create(name="orders", display_name="Order desk")


@pytest.fixture
def sibling(other: Agent) -> Desk:
    return Desk(other)


@pytest.fixture
def grant(agent: Agent, other: Agent) -> Channel:
    return factories.sibling_channel(agent, other)


def hand(desk: Desk, channel: Channel, **more: Any) -> str:
    """Ask for a hop; the public id of its session."""
    answer = desk.call("handoff_request", factories.arguments(channel), **more)
    assert answer["isError"] is False, answer
    session: str = answer["result"]["handoff_session_id"]
    return session


def give_back(desk: Desk, session: str, outcome: str = "resolved", **args: Any) -> dict[str, Any]:
    return desk.call("handoff_release", {"handoff_session_id": session, "outcome": outcome, **args})


def trail(session: str) -> list[tuple[str, str, str, str]]:
    """What stands on the trail: action, who did it, both agents."""
    rows = AuditEvent.objects.filter(session=session).exclude(action__startswith="link.")
    columns = ("action", "actor", "agent", "other_agent")
    return list(rows.order_by("id").values_list(*columns))


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


def lapse(session: str, minutes: int = 10) -> None:
    Attempt.objects.filter(session__public_id=session).update(
        at=Now() - dt.timedelta(minutes=minutes, seconds=1)
    )


def test_a_hop_that_nobody_claims_is_lost_and_both_hear(
    desk: Desk, sibling: Desk, grant: Channel, conversation: Conversation
) -> None:
    session = hand(desk, grant, conversation=conversation)
    assert end_unclaimed() == 0
    lapse(session)
    assert end_unclaimed() == 1
    assert end_unclaimed() == 0
    found = desk.get(f"handoffs/{session}").json()
    assert (found["status"], found["release"]) == ("released", "lost")
    note = conversation.messages.get(author="system")
    assert note.text == "[Bot resumed — the sibling agent never answered.]"
    assert sibling.get("events").json()["data"][-1]["type"] == "handoff.released"
    assert ("handoff.lost", "desk") in [row[:2] for row in trail(session)]

    said = give_back(sibling, session, message="Sorry, here it is.")
    assert "too late" in said["text"]
    found = desk.get(f"handoffs/{session}").json()
    assert (found["late"], found["outcome"], found["release"]) == (True, "resolved", "lost")


def test_a_claimed_hop_is_not_lost(desk: Desk, sibling: Desk, grant: Channel) -> None:
    session = hand(desk, grant)
    sibling.post(f"inbox/{session}/claim", {})
    lapse(session)
    assert end_unclaimed() == 0


def test_a_channel_may_offer_a_hop_once_more(
    desk: Desk, sibling: Desk, agent: Agent, other: Agent
) -> None:
    twice = factories.sibling_channel(agent, other, redispatch="once")
    session = hand(desk, twice)
    lapse(session)
    assert end_unclaimed() == 1
    attempts = desk.get(f"handoffs/{session}").json()["attempts"]
    assert [item["status"] for item in attempts] == ["accepted", "accepted"]
    assert [event["type"] for event in sibling.get("events").json()["data"]] == [
        "handoff.assigned",
        "handoff.assigned",
    ]
    assert len(sibling.get("inbox").json()["data"]) == 1
    assert end_unclaimed() == 0
    lapse(session)
    assert end_unclaimed() == 1
    assert desk.get(f"handoffs/{session}").json()["release"] == "lost"
    assert [row[0] for row in trail(session)].count("handoff.retried") == 1


def test_a_grant_that_is_taken_back_ends_its_hops_in_words(
    desk: Desk, grant: Channel, conversation: Conversation
) -> None:
    session = hand(desk, grant, conversation=conversation)
    change_channel(grant, config={**grant.opened_settings(), "enabled": False}, actor="test")
    assert end_unreachable() == 1
    note = conversation.messages.get(author="system")
    assert note.text == "[Bot resumed — the sibling agent can no longer be reached.]"
    assert desk.get(f"handoffs/{session}").json()["release"] == "lost"
    answer = desk.call("handoff_request", factories.arguments(grant))
    assert refused(answer, "not_granted")["details"] == {"channel_id": grant.pk}


def test_a_sibling_that_is_switched_off_loses_its_hops_and_is_not_offered(
    desk: Desk, grant: Channel, other: Agent
) -> None:
    session = hand(desk, grant)
    change_agent(
        other,
        AgentFacts(display_name="", enabled=False, owners=[], allowed_origins=[]),
        actor="test",
    )
    assert end_unreachable() == 1
    assert Session.objects.get(public_id=session).unreachable
    [channel] = desk.get("channels").json()["data"]
    assert channel["available"] is False
    refused(desk.call("handoff_request", factories.arguments(grant)), "no_channels")


def test_the_depth_is_a_setting(desk: Desk, grant: Channel, settings: Settings) -> None:
    settings.HOP_DEPTH = 0
    answer = desk.call("handoff_request", factories.arguments(grant))
    assert refused(answer, "depth_limit")["details"]["limit"] == 0


def test_a_cancelled_hop_is_told_to_the_sibling(desk: Desk, sibling: Desk, grant: Channel) -> None:
    session = hand(desk, grant)
    desk.call("handoff_cancel", {"handoff_session_id": session, "reason": "Found it."})
    assert sibling.get("events").json()["data"][-1]["type"] == "handoff.cancelled"
