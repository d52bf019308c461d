"""docs/webhooks.md: its programs run as they stand, and its numbers are the desk's."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final

import pytest

from config.settings import CALLS_PER_MINUTE, WEBHOOK_BACKLOG, WEBHOOK_OVERLAP_HOURS, WEBHOOK_PLACES
from handoff.actions.webhook_addresses import CALLS_A_CHANGE
from handoff.actions.webhook_queue import BACKOFF_SECONDS
from handoff.contract.kinds import EventType
from handoff_client import Desk
from tests import environment, programs
from tests.client.shop import shop
from tests.client.test_wrappers import clean

PAGE: Final = environment.ROOT / "docs" / "webhooks.md"
_UNITS: Final = {"s": 1, "min": 60, "h": 3600}


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.once
@pytest.mark.slow
def test_what_the_page_says_to_run_works(tmp_path: Path, database_url: str) -> None:
    port = programs.free_port()
    with shop(tmp_path / "desk", database_url) as desk, desk.served():
        variables = {
            **clean(),
            "DESK_URL": desk.url,
            "DESK_TOKEN": desk.token,
            "HOOK_URL": f"http://127.0.0.1:{port}/",
            "HOOK_PORT": str(port),
        }
        made: dict[str, Any] = json.loads(_sh(block("sh"), variables))
        receiver = subprocess.Popen(
            [sys.executable, "-c", block("python")],
            env={**os.environ, **variables, "HOOK_SECRET": made["secret"]},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        stop = threading.Timer(60, receiver.kill)
        stop.start()
        try:
            agent = Desk(desk.url, desk.token)
            asked = agent.request_handoff(
                desk.channel,
                summary="The visitor asks where order 1234 is; I cannot see orders.",
                expected_action="Look up order 1234 and fill in its status.",
            )
            session = asked.result["handoff_session_id"]
            agent.cancel(session, reason="Found it.")
            assert receiver.stdout is not None
            assert receiver.stdout.readline() == f"handoff.cancelled {session}\n"
        finally:
            stop.cancel()
            receiver.kill()
            receiver.communicate()


def _sh(script: str, variables: dict[str, str]) -> str:
    finished = subprocess.run(
        ["sh", "-euc", script],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return finished.stdout


def test_the_pauses_of_the_page_are_the_desk_s() -> None:
    [row] = [line for line in PAGE.read_text().splitlines() if line.startswith("| pause")]
    *pauses, end = [cell.strip() for cell in row.strip("|").split("|")[1:]]
    told = [int(number) * _UNITS[unit] for number, unit in map(str.split, pauses)]
    assert tuple(told) == BACKOFF_SECONDS
    assert end == "given up"
    assert 0.95 < sum(told) / (24 * 3600) < 1


def test_the_other_numbers_and_names_of_the_page_are_the_desk_s() -> None:
    written = PAGE.read_text()
    assert f"`HANDOFF_WEBHOOK_BACKLOG` ({WEBHOOK_BACKLOG:,})" in written
    assert f"`HANDOFF_WEBHOOK_PLACES` ({WEBHOOK_PLACES})" in written
    assert f"`HANDOFF_WEBHOOK_OVERLAP_HOURS` ({WEBHOOK_OVERLAP_HOURS:g})" in written
    assert f"allows ({CALLS_PER_MINUTE // CALLS_A_CHANGE} a minute)" in " ".join(written.split())
    example = json.loads(block("json"))
    assert set(example) == {"type", "timestamp", "data"}
    assert example["type"] in list(EventType)
