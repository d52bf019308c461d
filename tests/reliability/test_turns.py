"""Whose turn it is: a bot whose run began before the handoff never talks over the person."""

import contextlib
import dataclasses
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from websockets.exceptions import InvalidHandshake
from websockets.sync.client import ClientConnection

from tests.reliability import races
from tests.reliability.doors import Doors, read_to
from tests.reliability.figures import report
from tests.reliability.outside.broken import Variant
from tests.reliability.place import Place
from tests.reliability.sizes import sizes
from tests.reliability.stories import new_mark

AT_ONCE: Final = 3
LINES: Final = 5
"""That the bot says around one handoff."""
BETWEEN_SECONDS: Final = 0.04
ENDS: Final = frozenset({"handoff.released", "handoff.cancelled"})


@dataclasses.dataclass(frozen=True)
class Said:
    """One line of the bot, and what the desk answered."""

    message: str
    event: int
    superseded: bool


class Round:
    """One conversation: the bot goes on talking while it is handed over and given back."""

    def __init__(self, doors: Doors, number: int) -> None:
        self._doors = doors
        self._cancels = number % 2 == 0
        self.said: list[Said] = []
        self.frames: list[dict[str, Any]] = []

    def run(self) -> "Round":
        doors, mark = self._doors, new_mark()
        conversation = doors.conversation(mark)
        with _chat(doors, conversation) as socket:
            bot = threading.Thread(target=self._talk, args=(conversation,))
            bot.start()
            time.sleep(random.uniform(0, 2 * BETWEEN_SECONDS))
            session = races.handed_over(doors, mark)
            time.sleep(random.uniform(0, 3 * BETWEEN_SECONDS))
            if self._cancels:
                named = {"handoff_session_id": session}
                races.answered(partial(doors.tool, "handoff_cancel", named))
            else:
                release = partial(doors.press, "release", session, outcome="resolved")
                races.answered(release)
            bot.join()
            last = races.answered(partial(doors.say, conversation, "?", client_id=mark))
            self.frames = read_to(socket, last.json["message"]["event_id"])
        assert len(self.said) == LINES, "the bot was not answered"
        return self

    def _talk(self, conversation: str) -> None:
        path = f"/api/v1/conversations/{conversation}/messages"
        for _ in range(LINES):
            body = {"client_id": new_mark(), "author": "agent", "text": "One moment, please."}
            reply = races.answered(partial(self._doors.rest, "POST", path, body))
            assert (reply.status == 200) == (reply.json.get("code") == "superseded")
            message = reply.json["message"]
            self.said.append(Said(message["id"], message["event_id"], reply.status == 200))
            time.sleep(random.uniform(0, BETWEEN_SECONDS))


@contextlib.contextmanager
def _chat(doors: Doors, conversation: str) -> Iterator[ClientConnection]:
    """The visitor's socket; asked for again where the machine is too busy to answer in time."""
    with contextlib.ExitStack() as stack:
        for left in reversed(range(5)):
            try:
                socket = stack.enter_context(doors.chat(doors.ticket(conversation)))
                break
            except (InvalidHandshake, TimeoutError):
                if not left:
                    raise
        yield socket


def faults(played: Round) -> Iterator[str]:
    """Lines of the bot that the visitor saw during the bypass, or saw not at all, or twice."""
    with_people, shown = False, []
    for frame in played.frames:
        message = frame["data"].get("message", {})
        if frame["type"] == "handoff.started":
            with_people = True
        elif frame["type"] in ENDS:
            with_people = False
        elif (frame["type"], message.get("author")) == ("message.created", "agent"):
            shown.append(message["id"])
            if with_people:
                yield f"{message['id']}: shown during the bypass"
    if shown != [line.message for line in played.said if not line.superseded]:
        yield f"shown {shown}, answered {played.said}"


def play(doors: Doors, size: int) -> list[Round]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda one: one.run(), [Round(doors, n) for n in range(size)]))


@sizes(quick=24, full=1000)
def test_a_late_line_of_the_bot_never_reaches_the_visitor(
    tmp_path: Path, database_url: str, size: int
) -> None:
    place = Place(tmp_path / "desk", database_url)
    with place.serving() as doors:
        rounds = play(doors, size)
    assert [fault for played in rounds for fault in faults(played)] == []
    assert place.tracebacks() == []
    lines = [line for played in rounds for line in played.said]
    late = [line.message for line in lines if line.superseded]
    assert 0 < len(late) < len(lines), "the race was none"
    trail = place.rows.read("SELECT details FROM audit_event WHERE action = 'message.superseded'")
    assert sorted(row["details"]["message"] for row in trail) == sorted(late)
    report(
        "turns",
        f"{size} handoffs, {len(lines)} lines of a bot that goes on talking: {len(late)} came too"
        " late, all audited and told to it, 0 shown to the visitor during a bypass, 0 others lost",
    )


@pytest.mark.slow
def test_a_desk_that_looks_before_it_holds_the_lock_is_caught(
    tmp_path: Path, database_url: str
) -> None:
    place = Place(tmp_path / "desk", database_url)
    with place.serving(variant=Variant.SPEAKS_UNLOCKED) as doors:
        found = [fault for played in play(doors, 12) for fault in faults(played)]
    assert any("during the bypass" in fault for fault in found)
