"""A sibling agent through the public API alone, which kills itself where it is told.

`python -m tests.reliability.hop_sibling`: `DESK_URL` and `DESK_TOKEN` say who it is; `KILL_FILE`
may hold one of POINTS, whose file it removes as it dies.
"""

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from handoff_client import Answer, Desk

STEPS: Final = ("claim", "reply", "release")
POINTS: Final = tuple(f"{when} {step}" for step in STEPS for when in ("before", "after"))
ORDER: Final = re.compile(r"order (\d+)")
PAUSE_SECONDS: Final = 0.1


def work(desk: Desk, kill_file: Path) -> None:
    """Everything that is given to the agent and not ended, as far as it goes now."""
    after = 0
    while items := desk.inbox(after):
        for item in items:
            after = item["event_id"]
            if item["status"] == "active":
                _answer(desk, kill_file, item)


def _answer(desk: Desk, kill_file: Path, item: dict[str, Any]) -> None:
    session = str(item["id"])
    found = ORDER.search(item["initial_context"])
    number = found[1] if found else ""

    def done(step: str, call: Callable[[], Answer]) -> bool:
        _reach(kill_file, f"before {step}")
        answer = call()
        _reach(kill_file, f"after {step}")
        return not answer.is_error

    if not done("claim", lambda: desk.claim(session)):
        return
    words = f"I look up order {number}."
    if done("reply", lambda: desk.reply(session, words, idempotency_key=f"{session} looking")):
        done("release", lambda: desk.release(session, return_values={"found": f"order {number}"}))


def _reach(kill_file: Path, point: str) -> None:
    if kill_file.exists() and kill_file.read_text() == point:
        kill_file.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)


def main() -> None:
    desk = Desk(os.environ["DESK_URL"], os.environ["DESK_TOKEN"], timeout=6)
    kill_file = Path(os.environ["KILL_FILE"])
    parent = os.getppid()
    while os.getppid() == parent:  # whoever started it may be killed as well
        work(desk, kill_file)
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main()
