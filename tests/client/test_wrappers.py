"""Each wrapper with the real package and a scripted model: refused, broke, hung and succeeded."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from tests import environment
from tests.client import environments
from tests.client.raw_server import RawServer, Script, answer, endless, hang, reset
from tests.client.test_following import handoff
from tests.client.test_reading import INCOMPLETE, UNREADABLE

pytestmark = pytest.mark.slow

AGENTS: Final = Path(__file__).parent / "agents"
PUT: Final[dict[str, Any]] = {
    "text": "Your question was put to Mia.",
    "isError": False,
    "result": {"ok": True},
}
BROKE: Final[dict[str, Any]] = {
    "text": "Nobody could be asked: the way to a person gave no word that anyone was reached.",
    "isError": True,
    "result": {"code": "dispatch_failed"},
}
REFUSED: Final[dict[str, Any]] = {
    "text": "Refused. No channel.",
    "isError": True,
    "result": {"code": "x"},
}
SITUATIONS: Final[dict[str, tuple[Script, str, bool]]] = {
    "success": (answer(200, PUT), PUT["text"], True),
    "refused": (answer(200, REFUSED), REFUSED["text"], False),
    "broke": (answer(200, BROKE), BROKE["text"], False),
    "no token that counts": (
        answer(401, {"error": "Not authorised."}),
        "Refused. Tool callback returned HTTP 401. Not authorised.",
        False,
    ),
    "hang": (hang, INCOMPLETE, False),
    "torn down": (reset, INCOMPLETE, False),
    "without an end": (endless, UNREADABLE, False),
}
"""Situation -> what the desk does, what the model reads, whether that is a success."""
TOOLS: Final = [
    {
        "name": name,
        "description": "Does it.",
        "inputSchema": {"type": "object", "properties": {argument: {}}, "required": [argument]},
    }
    for name, argument in (("ask_a_person", "question"), ("handoff_request", "channel_id"))
]


def run(program: str, *arguments: str, **variables: str) -> Any:
    """What a program of `agents/` prints, in the environment with the frameworks."""
    finished = subprocess.run(
        [environments.python("frameworks"), AGENTS / program, *arguments],
        env={**clean(), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


def clean() -> Mapping[str, str]:
    """No keys and no tracing of the developer's; nothing is sent to anybody."""
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(environment.ROOT / "client"),
        "LANGSMITH_TRACING": "false",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }


@pytest.fixture
def desks() -> Iterator[list[RawServer]]:
    """One desk for each situation; each lists its tools first."""
    with ExitStack() as stack:
        listed = answer(200, {"tools": TOOLS})
        yield [
            stack.enter_context(RawServer(listed, script)) for script, _, _ in SITUATIONS.values()
        ]


def expected() -> list[tuple[str, bool]]:
    return [(text, succeeds) for _, text, succeeds in SITUATIONS.values()]


def keys_of(server: RawServer) -> set[str]:
    return {asked.headers["idempotency-key"] for asked in server.asked[1:]}


def test_a_langgraph_agent_is_told_and_goes_on(desks: list[RawServer]) -> None:
    for runs, (text, succeeds) in zip(
        run("langchain_agent.py", *(desk.url for desk in desks)), expected(), strict=True
    ):
        for seen in runs:
            assert seen["text"] == text
            assert seen["status"] == ("success" if succeeds else "error")
            assert seen["last"] == "That is all."
    assert runs[0]["result"]["code"] == "unreadable"
    for desk in desks:
        assert len(keys_of(desk)) == 1, "a step that is run again is the same call"
        assert desk.asked[1].json() == {
            "name": "ask_a_person",
            "args": {"question": "May I refund order 1234?"},
            "conversation": "c_1",
        }


@pytest.mark.parametrize("word", ["ask", "async-ask"])
def test_a_parked_run_is_resumed_without_asking_again(word: str, tmp_path: Path) -> None:
    """The request is kept with the run, so a desk that fails by then can't unsay it."""
    asked = {"ok": True, "handoff_session_id": "hs_1", "channel_label": "Sales"}
    ended = {"handoff": {"status": "released", "values": {"order_status": "lost"}}}
    scripts: list[Script] = [
        answer(200, {"tools": TOOLS}),
        answer(200, {"text": "Handed to Sales.", "isError": False, "result": asked}),
        handoff("released"),
        answer(200, {"text": "[Bot resumed — …]", "isError": False, "result": ended}),
    ]
    with RawServer(*scripts, answer(503)) as desk:
        told = run("story.py", word, str(tmp_path / "threads"), desk.url, "hd_token", "1")
    assert told == {
        "note": "[Bot resumed — …]",
        "status": "success",
        "handoff": ended["handoff"],
        "last": "Your order is lost.",
    }
    assert len(desk.asked) == 4


def test_an_openai_agent_is_told_and_goes_on(desks: list[RawServer]) -> None:
    with RawServer(answer(200, {"tools": TOOLS})) as spare:
        broken, *found = run("openai_agent.py", spare.url, *(desk.url for desk in desks))
    assert broken["text"] == "Refused. The arguments are not plain JSON; nothing was sent."
    assert [(seen["text"], seen["last"]) for seen in found] == [
        (text, "That is all.") for text, _ in expected()
    ]


def test_a_pydantic_agent_is_told_and_goes_on(desks: list[RawServer]) -> None:
    asked = {
        "text": "Handed to Sales.",
        "isError": False,
        "result": {"ok": True, "handoff_session_id": "hs_1"},
    }
    note = {
        "text": "[Bot resumed — …]",
        "isError": False,
        "result": {"handoff": {"status": "released", "values": {"n": 1}}},
    }
    still = {"text": "Not yet.", "isError": False, "result": {"handoff": {"status": "active"}}}
    scripts = [answer(200, asked), handoff("active"), answer(200, still), handoff("released")]
    with RawServer(answer(200, {"tools": TOOLS}), *scripts, answer(200, note)) as parking:
        parked, *found = run("pydantic_agent.py", parking.url, *(desk.url for desk in desks))
    assert parked == {
        "parked": {"call_2": {"handoff_session_id": "hs_1"}},
        "early": None,
        "text": "[Bot resumed — …]",
        "result": note["result"],
        "last": "That is all.",
    }
    for seen, (text, succeeds) in zip(found, expected(), strict=True):
        assert (seen["text"], seen["last"]) == (text, "That is all.")
        assert seen["result"] == (PUT["result"] if succeeds else None)


def test_a_front_end_gets_the_schema_and_then_the_values() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number"}}, "required": []}
    opened = {"id": "hs_1", "status": "active", "return_schema": schema, "channel_label": "Sales"}
    closed = {**opened, "status": "released", "outcome": "resolved", "values": {"n": 1}}
    told = [
        answer(200, {"text": text, "isError": False, "result": {"handoff": found}})
        for text, found in (("Not yet.", opened), ("[Bot resumed — …]", closed))
    ]
    with RawServer(told[0], handoff("released"), told[1]) as desk:
        asked, ended = run("ag_ui_events.py", desk.url, "hs_1")
    assert (asked["type"], asked["name"]) == ("CUSTOM", "handoff.asked")
    assert asked["value"]["responseSchema"] == schema
    assert (ended["type"], ended["name"]) == ("CUSTOM", "handoff.ended")
    assert ended["value"]["values"] == {"n": 1}
    assert ended["value"]["text"] == "[Bot resumed — …]"
