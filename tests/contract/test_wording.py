"""Problems are told in our words, never in a library's."""

from typing import Any

import pydantic
import pytest

from handoff.contract.turns import ConversationBody, TicketBody, ToolCall, TurnBody
from handoff.contract.wording import problems_of

TURN = {"client_id": "1", "author": "agent", "text": "Hello"}


def told(model: type[pydantic.BaseModel], value: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(pydantic.ValidationError) as failure:
        model.model_validate(value)
    return {item["field"]: item["problem"] for item in problems_of(failure.value)}


def test_a_whole_number_may_be_written_as_a_fraction() -> None:
    assert TurnBody.model_validate({**TURN, "ack_event_id": 12.0}).ack_event_id == 12


@pytest.mark.parametrize(
    ("model", "value", "problems"),
    [
        (ToolCall, {"name": "x", "args": None}, {"args": "must be an object"}),
        (ToolCall, {"name": "x", "args": "x"}, {"args": "must be an object"}),
        (ToolCall, {"name": "x", "colour": 1}, {"colour": "is not known here"}),
        (ToolCall, {"name": "x", "run": 1}, {"run": "must be a text"}),
        (ToolCall, {"name": "x" * 65}, {"name": "must have at most 64 characters"}),
        (
            ToolCall,
            {"name": "x", "conversation": {}},
            {"conversation": "must be an id c_… or an object with one member, external_id"},
        ),
        (
            ToolCall,
            {"name": "x", "conversation": 7, "args": []},
            {
                "conversation": "must be an id c_… or an object with one member, external_id",
                "args": "must be an object",
            },
        ),
        (TurnBody, {**TURN, "text": ""}, {"text": "must not be blank"}),
        (TurnBody, {**TURN, "text": "x" * 8001}, {"text": "must have at most 8000 characters"}),
        (TurnBody, {**TURN, "text": "a\x00"}, {"text": "holds a NUL character"}),
        (TurnBody, {**TURN, "author": "x"}, {"author": "must be one of 'subscriber' or 'agent'"}),
        (TurnBody, {**TURN, "ack_event_id": -1}, {"ack_event_id": "must be at least 0"}),
        (TurnBody, {**TURN, "ack_event_id": "1"}, {"ack_event_id": "must be a whole number"}),
        (TicketBody, {}, {"role": "is required"}),
        (
            ConversationBody,
            {"external_id": "v", "subscriber": {"email": "a@b@c"}},
            {"subscriber.email": "has a form that can't be used"},
        ),
    ],
)
def test_each_problem_continues_the_name_of_its_field(
    model: type[pydantic.BaseModel], value: dict[str, Any], problems: dict[str, str]
) -> None:
    assert told(model, value) == problems
