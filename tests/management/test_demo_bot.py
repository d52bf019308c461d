"""`manage.py demo_agent` against a real server process: what a visitor of the chat would read."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from handoff.management import demo_bot
from handoff.management.demo_desk import Desk, Json, Refused, Unreachable
from tests import environment, programs
from tests.config.servers import running

pytestmark = pytest.mark.slow
SECONDS = 40.0


class Shop:
    """The chat side of one conversation, over the same API."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address, token
        self.desk = Desk(address, token)
        chat = self.desk.post("/api/v1/conversations", {"external_id": "visitor"})
        self.path = f"/api/v1/conversations/{chat['id']}/messages"
        self._said = 0

    def say(self, text: str) -> None:
        self._said += 1
        body = {"client_id": f"v{self._said}", "author": "subscriber", "text": text}
        self.desk.post(self.path, body)

    def bot_lines(self) -> list[str]:
        page = self.desk.get(self.path, limit=200)
        return [line["text"] for line in page["data"] if line["author"] == "agent"]

    def handoffs(self) -> list[Json]:
        return list(self.desk.get("/api/v1/handoffs")["data"])


@contextlib.contextmanager
def shop(folder: Path, database_url: str, *, email_url: str = "") -> Iterator[Shop]:
    """A desk with the demo's agent, and no bot of its own."""
    folder.mkdir(mode=0o700)
    environ = environment.clean_environment(folder) | {"DATABASE_URL": database_url}
    subprocess.run(
        [sys.executable, "manage.py", "demo_setup"],
        cwd=environment.ROOT,
        env=environ,
        check=True,
        capture_output=True,
        timeout=60,
    )
    token = json.loads((folder / "demo.json").read_text())["token"]
    with running(folder, database_url, settings="config.settings", EMAIL_URL=email_url) as server:
        yield Shop(f"http://127.0.0.1:{server.port}", token)


@contextlib.contextmanager
def bot(at: Shop, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "demo_agent", "--url", at.address, "--token", at.token],
        cwd=environment.ROOT,
        env=environment.clean_environment(folder),
        stdout=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        # -15: stopped before it could ask to be told
        assert process.wait(5) in (0, -9, -15)


def wait_for(found: Callable[[], Any]) -> Any:
    end = time.monotonic() + SECONDS
    while not (value := found()) and time.monotonic() < end:
        time.sleep(0.05)
    assert value, "it did not happen in time"
    return value


def test_it_greets_hands_over_and_says_what_came_of_it(tmp_path: Path, database_url: str) -> None:
    mail = tmp_path / "mail"
    with (
        shop(tmp_path / "desk", database_url, email_url=f"filemail://{mail}") as at,
        bot(at, tmp_path / "bot"),
    ):
        at.say("hello")
        wait_for(at.bot_lines)
        at.say("where is order 1234?")
        session = wait_for(at.handoffs)[0]
        assert at.bot_lines()[1] == (
            "I can't see order 1234 myself. One moment, I'm asking Sales support to take over."
        )
        assert list(session["return_schema"]["properties"]) == [
            "order_status",
            "tracking_url",
            "eta_date",
            "notes",
        ]
        wait_for(lambda: at.handoffs()[0]["status"] == "active")
        at.say("It is urgent.")
        at.desk.post(
            "/api/v1/tool-calls",
            {"name": "handoff_cancel", "args": {"handoff_session_id": session["id"]}},
        )
        wait_for(lambda: len(at.bot_lines()) == 3)
        assert "withdrawn" in at.bot_lines()[2]
        assert len(list(mail.glob("*.eml"))) >= 1


def test_killed_at_any_time_it_says_nothing_twice_and_answers_what_it_missed(
    tmp_path: Path, database_url: str
) -> None:
    with shop(tmp_path / "desk", database_url, email_url=f"filemail://{tmp_path / 'mail'}") as at:
        at.say("hello")
        with bot(at, tmp_path / "bot") as process:
            wait_for(at.bot_lines)
            at.say("order 1234")
            wait_for(at.handoffs)
            process.kill()
        before = at.bot_lines()
        assert len(before) == 2
        with bot(at, tmp_path / "bot"):
            wait_for(lambda: at.handoffs()[0]["status"] == "active")
            time.sleep(1)
        assert at.bot_lines() == before
        assert len(at.handoffs()) == 1
        at.desk.post(
            "/api/v1/tool-calls",
            {
                "name": "handoff_cancel",
                "args": {"handoff_session_id": at.handoffs()[0]["id"]},
            },
        )
        at.say("thanks")
        with bot(at, tmp_path / "bot"):
            wait_for(lambda: "You are welcome. Is there anything else?" in at.bot_lines())
        assert len(at.bot_lines()) == 4


def test_when_nobody_can_be_reached_it_says_so(tmp_path: Path, database_url: str) -> None:
    nobody = f"smtp://127.0.0.1:{programs.free_port()}"
    with (
        shop(tmp_path / "desk", database_url, email_url=nobody) as at,
        bot(at, tmp_path / "bot"),
    ):
        at.say("talk to a person")
        wait_for(lambda: len(at.bot_lines()) == 2)
        assert at.bot_lines()[1] == (
            "I couldn't reach Sales support just now, so nobody is on it yet. "
            "Please try again later."
        )


def test_a_wrong_token_ends_it_in_words(tmp_path: Path, database_url: str) -> None:
    with shop(tmp_path / "desk", database_url) as at:
        ended = subprocess.run(
            [sys.executable, "manage.py", "demo_agent", "--url", at.address, "--token", "hd_no"],
            cwd=environment.ROOT,
            env=environment.clean_environment(tmp_path / "bot"),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert ended.returncode == 1
        assert "The bot ended. 401: Not authorised." in ended.stderr
        with pytest.raises(Refused, match="401"):
            Desk(at.address, "hd_no").get("/api/v1/me")


def test_while_the_desk_is_away_it_waits_and_ends_when_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stop = threading.Event()
    address = f"http://127.0.0.1:{programs.free_port()}"
    thread = threading.Thread(target=demo_bot.run, args=(address, "hd_x", stop))
    thread.start()
    wait_for(lambda: "the desk is not reachable" in caplog.text)
    assert thread.is_alive()
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    with pytest.raises(Unreachable):
        Desk(address, "hd_x").get("/api/v1/me")
    with pytest.raises(ValueError, match="http"):
        Desk("file:///etc/passwd", "hd_x")
