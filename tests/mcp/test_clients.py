"""The clients that agents really use, each in its own environment, against a desk that runs."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests import environment
from tests.client import environments
from tests.client.shop import Shop, shop
from tests.client.test_docs import HANDED
from tests.client.test_wrappers import AGENTS, clean

pytestmark = [pytest.mark.slow, pytest.mark.once]

CLIENTS: Final = Path(__file__).parent / "clients"
REFUSED: Final = (
    "The arguments can't be used: summary must have 20 to 2000 characters; it has 5; "
    "expected_action must have 10 to 1000 characters; it has 4; channel_id is not a channel "
    "that is available to you. Correct them and call again; nobody was asked."
)
NOT_FOUND: Final = "There is no such handoff."
STILL_OPEN: Final = ["ask_a_person", "handoff_cancel", "handoff_request", "handoff_status"]


def calls(desk: Shop) -> list[tuple[str, dict[str, Any]]]:
    """One that asks a person, and two that are refused."""
    good = {
        "channel_id": desk.channel,
        "summary": "The visitor asks where order 1234 is; I cannot see orders.",
        "expected_action": "Look up order 1234 and fill in its status.",
    }
    return [
        ("handoff_request", good),
        ("handoff_request", {"channel_id": 999, "summary": "short", "expected_action": "Help"}),
        ("handoff_status", {"handoff_session_id": "hs_none"}),
    ]


def run(desk: Shop, lock: str, program: str, *arguments: str) -> Any:
    """What a program of `clients/` prints, in the environment of a lock."""
    variables = {
        "DESK_URL": desk.url,
        "DESK_TOKEN": desk.token,
        "DESK_CALLS": json.dumps(calls(desk)),
        "PYTHONPATH": os.pathsep.join([str(environment.ROOT / "client"), str(AGENTS)]),
    }
    finished = subprocess.run(
        [environments.python(lock), CLIENTS / program, *arguments],
        env={**clean(), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


def official_is_told(desk: Shop) -> None:
    found = run(desk, "mcp", "official_client.py", "legacy", "auto", "2026-07-28")
    assert [seen["version"] for seen in found] == ["2025-11-25", "2026-07-28", "2026-07-28"]
    assert [seen["server"] for seen in found] == ["handoff-desk", "handoff-desk", None]
    assert found[0]["tools"] == ["ask_a_person", "handoff_request"]
    assert found[1]["tools"] == found[2]["tools"] == STILL_OPEN
    for seen in found:
        assert seen["typed"], "every tool has an outputSchema"
        handed, refused, missing = seen["told"]
        assert (handed["text"], handed["is_error"]) == (HANDED, False)
        assert handed["result"]["human_notified"] is True
        assert (refused["text"], refused["is_error"]) == (f"Refused. {REFUSED}", True)
        assert refused["result"]["error"] == REFUSED
        assert refused["result"]["code"] == "invalid_arguments"
        assert missing["text"] == f"Refused. {NOT_FOUND}"
        assert missing["result"]["code"] == "not_found"


def langchain_is_told(desk: Shop) -> None:
    found = run(desk, "langchain_mcp", "langchain_adapters.py")
    assert found["tools"] == STILL_OPEN
    handed, refused, missing = found["told"]
    assert (handed["text"], handed["status"]) == (HANDED, "success")
    assert handed["artifact"]["structured_content"]["human_notified"] is True
    assert (refused["text"], refused["status"]) == (f"Refused. {REFUSED}", "error")
    assert (missing["text"], missing["status"]) == (f"Refused. {NOT_FOUND}", "error")


def openai_is_told(desk: Shop) -> None:
    found = run(desk, "frameworks", "openai_agents.py")
    assert found["tools"] == STILL_OPEN
    expected = [HANDED, f"Refused. {REFUSED}", f"Refused. {NOT_FOUND}"]
    for seen, text in zip(found["told"], expected, strict=True):
        assert seen["output"] == [{"type": "input_text", "text": text}]
        assert seen["last"] == "That is all."


def test_the_real_clients_list_and_call_the_tools_of_a_running_desk(
    tmp_path: Path, database_url: str
) -> None:
    """The official client in both protocol versions, LangChain's adapters, OpenAI's agents."""
    with shop(tmp_path / "desk", database_url) as desk, desk.served():
        official_is_told(desk)
        langchain_is_told(desk)
        openai_is_told(desk)
