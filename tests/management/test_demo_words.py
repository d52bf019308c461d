"""What the demo's bot understands, and that what it asks for passes the contract."""

from typing import Any

import pytest

from handoff.contract.request import parse_request
from handoff.management import demo_words as words

CHANNEL = {"id": 3, "kind": "email", "label": "Sales support", "available": True}


@pytest.mark.parametrize(
    "text",
    [
        "where is order 1234?",
        "Order #1234 please",
        "my ORDER no. 98765",
        "talk to a person",
        "can I speak with a human",
        "I want to talk to a person.",
    ],
)
def test_it_hands_over_for_an_order_and_for_who_wants_a_person(text: str) -> None:
    assert words.needs_people(text)


@pytest.mark.parametrize("text", ["hello", "in order to", "order", "a person told me", "thanks!"])
def test_it_answers_the_rest_itself(text: str) -> None:
    assert not words.needs_people(text)
    assert words.small_talk(text)


@pytest.mark.parametrize("text", ["order 1234", "talk to a person", "order 1234 " + "x" * 8000])
def test_its_tool_call_is_a_good_one(text: str) -> None:
    request = parse_request(words.request(CHANNEL, text))
    assert [field.type for field in request.expected_return] == [
        "enum",
        "url",
        "date",
        "multiline",
    ]
    assert request.expected_return[0].enum_values == ("processing", "shipped", "delivered", "lost")
    assert request.expected_return[0].required


def test_it_prefers_mail_and_takes_what_is_there() -> None:
    inbox = {**CHANNEL, "id": 1, "kind": "owner_inbox"}
    assert words.choose([inbox, CHANNEL]) == CHANNEL
    assert words.choose([inbox, {**CHANNEL, "available": False}]) == inbox
    assert words.choose([]) is None


def handoff(**facts: Any) -> dict[str, Any]:
    return {
        "values": {},
        "outcome": None,
        "release": "form",
        "channel_label": "Sales support",
        **facts,
    }


def test_it_says_every_value_that_came_back() -> None:
    values = {
        "order_status": "shipped",
        "tracking_url": "https://carrier.example/track/abc",
        "eta_date": "2026-06-10",
        "notes": "Left\nat the door.",
    }
    said = words.back_again(handoff(values=values, outcome="resolved"))
    assert said.startswith("Sales support has answered. Your order is on its way.")
    for part in ("https://carrier.example/track/abc", "2026-06-10", "Left\nat the door."):
        assert part in said


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({"outcome": "declined"}, "not for them"),
        ({"outcome": "unresolved"}, "could not solve it"),
        ({"outcome": "resolved", "release": "owner"}, "has handed you back"),
        ({"release": "subscriber"}, "here again"),
        ({"release": "idle_timeout"}, "Nobody has answered"),
        ({"release": "cancelled"}, "withdrawn"),
    ],
)
def test_it_never_claims_an_answer_that_did_not_come(facts: dict[str, Any], part: str) -> None:
    said = words.back_again(handoff(**facts))
    assert part in said
    assert "Sales support has answered" not in said
