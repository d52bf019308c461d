"""Every snippet of docs/agents.md runs as it stands against a desk, and says what it promises."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from handoff_client import Desk
from tests import environment
from tests.client import snippets
from tests.client.shop import Shop, shop

PAGE: Final = environment.ROOT / "docs" / "agents.md"
NOT_RUN: Final = "no test runs it:\n\n"


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


def asks_in_words(printed: str) -> bool:
    return printed == f"{HANDED}\n"


def was_told_in_json(printed: str) -> bool:
    return printed.startswith("I was told: ") and f'"text":"{HANDED}"' in printed


RUNS: Final[dict[str, Callable[[str], bool]]] = {
    "curl 1": asks,
    "Python 1": waits,
    "Python 2": talks,
    "LangGraph and LangChain 1": was_told,
    "OpenAI Agents SDK 1": was_told_at_once,
    "Pydantic AI 1": was_told,
    "MCP 1": asks_in_words,
    "TypeScript 1": was_told_in_json,
}
"""Snippet -> whether what it printed is right."""
LOCKS: Final = {"MCP 1": "mcp"}
"""Snippets that have an environment of their own."""


@pytest.mark.once
@pytest.mark.slow
def test_every_snippet_does_what_the_page_says(tmp_path: Path, database_url: str) -> None:
    with shop(tmp_path / "desk", database_url) as desk, desk.served(), everything_ends(desk):
        for snippet, is_right in RUNS.items():
            lock = LOCKS.get(snippet, "frameworks")
            printed = snippets.run(desk, tmp_path, snippets.of(PAGE)[snippet], lock=lock)
            assert is_right(printed), f"{snippet} printed {printed}"


def test_no_snippet_is_left_out_unless_it_says_so() -> None:
    page = PAGE.read_text()
    found = snippets.of(PAGE)
    for name, (language, source) in found.items():
        block = f"```{language}\n{source}"
        assert (name in RUNS) is not (NOT_RUN + block in page), name
    assert set(RUNS) <= set(found)
