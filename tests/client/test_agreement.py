"""The client imports nothing of the server; what both say and count has to be the same."""

import ast
import json
from pathlib import Path

import pytest
from rest_framework.test import APIRequestFactory

from handoff import errors
from handoff.actions.calls import TOOLS
from handoff.api.problems import render
from handoff.contract import answers as desk
from handoff.contract import limits
from handoff.contract.request import HandoffRequest
from handoff.realtime import waiting as desk_waiting
from handoff_client import answers, events, keys, offers, waiting
from handoff_client import desk as client_desk
from tests.style import source

REFUSALS = [
    errors.NotAuthorised("unknown"),
    errors.NotYours(),
    errors.Malformed("A tool is required."),
    errors.TooLarge(),
    errors.TooFast(7),
    errors.DeskUnavailable(),
    errors.OutcomeUnrecorded(),
    errors.NotFound("There is no such handoff."),
    errors.Reused("The client_id was used."),
]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
def test_a_refusal_of_the_desk_is_read_in_its_own_words(error: errors.HandoffError) -> None:
    response = render(error, APIRequestFactory().get("/"))
    body = json.dumps(response.data).encode()
    read = answers.read(answers.Received(error.status, {}, body))
    status = f"Refused. Tool callback returned HTTP {error.status}."
    assert read.text == f"{status} {error.sentence}"
    assert read.code == response.data.get("code", f"http_{error.status}")


def test_the_same_is_said_of_an_outcome_that_nobody_knows() -> None:
    known = answers.INCOMPLETE.partition(". ")[2]
    assert desk.DESK_FAULT.endswith(known)
    assert known.startswith(answers.NOT_KNOWN.rstrip("."))


def test_a_refusal_begins_with_the_same_word() -> None:
    refused = desk.refused("x", "No.", {}).text
    assert refused.partition(" ")[0] == answers.NO_CREDENTIAL.partition(" ")[0] == "Refused."


def _named_codes(path: Path) -> set[str]:
    """The codes that a module gives to refusals and failures."""
    return {
        node.args[0].value
        for node in ast.walk(ast.parse(source.text(path)))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Refused"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }


def test_the_client_knows_every_code_of_the_desk() -> None:
    said = {error.code for error in REFUSALS}
    for path in source.python("handoff"):
        said |= _named_codes(path)
    assert len(said) > 10
    assert said <= answers.DESK_CODES


def test_both_count_alike() -> None:
    assert waiting.POLL_SECONDS == events.POLL_SECONDS == limits.WAIT_SECONDS_MAX
    assert events.PAGE == limits.PAGE_MAX
    assert keys.LONGEST == limits.IDEMPOTENCY_KEY_MAX
    assert set(desk_waiting.ENDED) == waiting.ENDED
    assert events.SILENCE_SECONDS >= 2 * desk_waiting.COMMENT_SECONDS
    first_try = client_desk.TIMEOUT * 2 / 3
    assert first_try > limits.CALL_SECONDS + 5, "it is the desk that says what happened"


def test_the_tools_that_every_agent_has_are_the_desks() -> None:
    known = {tool["name"]: tool["inputSchema"] for tool in offers.TOOLS}
    assert set(known) <= set(TOOLS)
    request = HandoffRequest.model_fields
    assert set(known["handoff_request"]["properties"]) == set(request)
    assert set(known["handoff_request"]["required"]) == {
        name for name, field in request.items() if field.is_required()
    }
