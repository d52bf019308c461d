"""What a call sends: the contract's body, the key, and nothing that is not JSON."""

import json
from typing import Any

import pytest

from handoff_client import AsyncDesk, Desk
from tests.client.raw_server import RawServer, answer
from tests.client.test_reading import READABLE, TOKEN

CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize("args", [{"x": object()}, {"x": float("nan")}, {"x": CIRCLE}, {(1,): 2}])
def test_arguments_that_are_no_json_are_refused_here(args: Any) -> None:
    with RawServer(answer(200, READABLE)) as server:
        found = Desk(server.url, TOKEN).call("x", args)
    assert found.text == "Refused. The arguments are not plain JSON; nothing was sent."
    assert server.asked == []


def test_a_call_is_sent_as_the_contract_says() -> None:
    with RawServer(answer(200, READABLE)) as server:
        desk = Desk(server.url + "/below/", f" {TOKEN}\n")
        desk.call(
            "a", {"é": "\ud800"}, conversation={"external_id": "v"}, run="r", on_behalf_of=None
        )
        desk.call("b", {}, conversation="c_1", idempotency_key="k")
        desk.call("b", {}, idempotency_key="é")
        desk.call("b", {}, idempotency_key="é")
        desk.call("b", {})
        desk.call("b", {})
    first, second, third, again, made, other = server.asked
    assert (first.method, first.target) == ("POST", "/below/api/v1/tool-calls")
    assert first.headers["authorization"] == f"Bearer {TOKEN}"
    assert first.headers["host"] == f"127.0.0.1:{server.port}"
    assert first.headers["content-type"] == "application/json"
    assert first.json() == {
        "name": "a",
        "args": {"é": "\ud800"},
        "conversation": {"external_id": "v"},
        "run": "r",
        "on_behalf_of": None,
    }
    assert "idempotency-key" not in first.headers, "the desk makes it from run and arguments"
    assert second.json() == {"name": "b", "args": {}, "conversation": "c_1"}
    assert second.headers["idempotency-key"] == "k"
    assert third.headers["idempotency-key"] == again.headers["idempotency-key"]
    assert third.headers["idempotency-key"].isascii()
    assert made.headers["idempotency-key"] != other.headers["idempotency-key"]
    assert json.loads(made.body) == {"name": "b", "args": {}}


def test_each_verb_is_the_tool_of_its_name() -> None:
    field = {"name": "eta", "type": "date"}
    with RawServer(answer(200, READABLE)) as server:
        desk = Desk(server.url, TOKEN)
        desk.request_handoff(
            7, "a summary", "an action", urgency="high", expected_return=[field], run="r"
        )
        desk.ask_a_person("a question", conversation="c_1", idempotency_key="k")
        desk.status("hs_1")
        desk.cancel("hs_1", reason="done")
        desk.release("hs_2", outcome="declined", message="no", return_values={"eta": None})
        desk.reply("hs_2", "hello")
    sent = [asked.json() for asked in server.asked]
    base = {"channel_id": 7, "summary": "a summary", "expected_action": "an action"}
    one, two = {"handoff_session_id": "hs_1"}, {"handoff_session_id": "hs_2"}
    gone = {"outcome": "declined", "message": "no", "return_values": {"eta": None}}
    assert sent == [
        {
            "name": "handoff_request",
            "args": {**base, "urgency": "high", "expected_return": [field]},
            "run": "r",
        },
        {"name": "ask_a_person", "args": {"question": "a question"}, "conversation": "c_1"},
        {"name": "handoff_status", "args": one},
        {"name": "handoff_cancel", "args": {**one, "reason": "done"}},
        {"name": "handoff_release", "args": {**two, **gone}},
        {"name": "handoff_reply", "args": {**two, "text": "hello"}},
    ]


def test_a_desk_can_be_awaited_for_everything_that_asks_it_something() -> None:
    def verbs(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert verbs(Desk) - verbs(AsyncDesk) == {"events", "timeout", "waiting"}
