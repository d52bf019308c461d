"""The lease of a hop: unclaimed it is lost, and so it is when its grant or its sibling goes."""

import datetime as dt

from django.db.models.functions import Now
from pytest_django.fixtures import Settings

from audit.models import Event as AuditEvent
from handoff.actions.change_agent import AgentFacts, change_agent
from handoff.actions.channels import change_channel
from handoff.actions.hops import end_unclaimed, end_unreachable
from handoff.models import Agent, Attempt, Channel, Conversation, Session
from tests import factories
from tests.api.conftest import Desk, refused
from tests.api.hops import give_back, hand, trail


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
    assert AuditEvent.objects.get(reason="not_granted").other_agent == "orders"


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
