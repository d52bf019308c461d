"""Every snippet of docs/agents.md runs as it stands against a desk, and says what it promises."""

import contextlib
import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from handoff_client import Desk
from tests import environment
from tests.client import environments
from tests.client.shop import Shop, shop
from tests.client.test_wrappers import AGENTS, clean

PAGE: Final = environment.ROOT / "docs" / "agents.md"
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN: Final = "no test runs it:\n\n"


def snippets() -> dict[str, tuple[str, str]]:
    """Heading and number -> language and source."""
    found = {}
    for section in PAGE.read_text().split("\n## ")[1:]:
        title = section.partition("\n")[0]
        for number, (language, source) in enumerate(_BLOCK.findall(section), start=1):
            found[f"{title} {number}"] = (language, source)
    return found


def run(desk: Shop, folder: Path, snippet: str) -> str:
    """What a snippet prints, as its reader would run it."""
    language, source = snippets()[snippet]
    program = [environments.python("frameworks"), "-c"] if language == "python" else ["sh", "-euc"]
    variables = {
        "DESK_URL": desk.url,
        "DESK_TOKEN": desk.token,
        "DESK_CHANNEL": str(desk.channel),
        "PYTHONPATH": os.pathsep.join([str(environment.ROOT / "client"), str(AGENTS)]),
    }
    finished = subprocess.run(
        [*program, source],
        cwd=folder,
        env={**clean(), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@contextlib.contextmanager
def everything_ends(desk: Shop) -> Iterator[None]:
    """Two seconds after somebody was asked it is over, so that whoever waits goes on."""
    over, agent = threading.Event(), Desk(desk.url, desk.token)

    def end() -> None:
        after = 0
        while not over.is_set():
            for event in (following := agent.events(after, seconds=1)):
                if event["type"] == "handoff.started":
                    over.wait(2)
                    agent.cancel(event["handoff"], reason="Found it.")
            after = following.after

    ending = threading.Thread(target=end)
    ending.start()
    try:
        yield
    finally:
        over.set()
        ending.join(60)


HANDED: Final = (
    "Handed to Sales support by email; they were notified, and usually reply within 1 business "
    "day. Ask handoff_status for the answer."
)
NOTE: Final = "[Bot resumed — the handoff was cancelled. Found it.]"


def asks(printed: str) -> bool:
    return bool(json.loads(printed)["text"] == HANDED)


def waits(printed: str) -> bool:
    asked, note, values = printed.splitlines()
    return asked == HANDED and note.endswith(NOTE) and values == "{}"


def talks(printed: str) -> bool:
    return printed == "My model answers now, and reads [] first.\n"


def was_told(printed: str) -> bool:
    return printed.startswith("I was told: ") and printed.rstrip().endswith(NOTE)


def was_told_at_once(printed: str) -> bool:
    return printed == f"I was told: {HANDED}\n"


RUNS: Final[dict[str, Callable[[str], bool]]] = {
    "curl 1": asks,
    "Python 1": waits,
    "Python 2": talks,
    "LangGraph and LangChain 1": was_told,
    "OpenAI Agents SDK 1": was_told_at_once,
    "Pydantic AI 1": was_told,
}
"""Snippet -> whether what it printed is right."""


@pytest.mark.slow
def test_every_snippet_does_what_the_page_says(tmp_path: Path, database_url: str) -> None:
    with shop(tmp_path / "desk", database_url) as desk, desk.served(), everything_ends(desk):
        for snippet, is_right in RUNS.items():
            printed = run(desk, tmp_path, snippet)
            assert is_right(printed), f"{snippet} printed {printed}"


def test_no_snippet_is_left_out_unless_it_says_so() -> None:
    page = PAGE.read_text()
    for name, (language, source) in snippets().items():
        block = f"```{language}\n{source}"
        assert (name in RUNS) is not (NOT_RUN + block in page), name
    assert set(RUNS) <= set(snippets())
