"""Figures of one running desk, printed: call, form, resume latency, idle memory.

Absolute times depend on the machine and what else runs on it; compare within one run.
"""

import contextlib
import http.client
import json
import re
import statistics
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from websockets.sync.client import connect

from tests import environment
from tests.browser.demo import SETTINGS
from tests.config.servers import Server, running
from tests.fakes.smtp import SmtpServer

pytestmark = [pytest.mark.bench, pytest.mark.alone]
ROUNDS: Final = 60
SUMMARY: Final = "The visitor asks where order 1234 is; I cannot see orders."
ACTION: Final = "Look up order 1234 and fill in its status."
FAST: Final = {
    "HANDOFF_HANDOFFS_PER_MINUTE": "100000",
    "HANDOFF_CALLS_PER_MINUTE": "100000",
}
"""The limits are there, and cost what they cost, but nobody meets them."""
FIELDS: Final = [
    {"name": "order_status", "type": "enum", "enum_values": ["shipped", "lost"], "required": True},
    {"name": "eta_date", "type": "date"},
]


class Desk:
    """A running desk as its agent and its people use it, on kept-alive connections."""

    def __init__(self, server: Server, token: str, smtp: SmtpServer) -> None:
        self.server = server
        self.smtp = smtp
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._api = server.connection()

    def close(self) -> None:
        self._api.close()

    def api(self, method: str, path: str, body: object = None) -> Any:
        self._api.request(
            method, f"/api/v1/{path}", json.dumps(body) if body else None, self._headers
        )
        response = self._api.getresponse()
        answer = json.loads(response.read())
        assert response.status < 300, answer
        return answer

    def hand_over(self, channel: int, conversation: str | None = None) -> Any:
        answer = self.api(
            "POST",
            "tool-calls",
            {
                "name": "handoff_request",
                "conversation": conversation,
                "args": {
                    "channel_id": channel,
                    "summary": SUMMARY,
                    "expected_action": ACTION,
                    "expected_return": FIELDS,
                },
            },
        )
        assert answer["isError"] is False, answer
        return answer["result"]

    def form(self, link: str) -> tuple[http.client.HTTPConnection, str, str]:
        """A connection, the form's path, and the id that its page carries."""
        path = urllib.parse.urlsplit(link).path
        connection = self.server.connection()
        connection.request("GET", path)
        response = connection.getresponse()
        page = response.read().decode()
        assert response.status == 200, page
        found = re.search(r'name="submission_id" value="([^"]+)"', page)
        assert found is not None
        return connection, path, found[1]


@pytest.fixture
def desk(tmp_path: Path, database_url: str) -> Iterator[Desk]:
    folder = tmp_path / "desk"
    folder.mkdir(mode=0o700)
    with SmtpServer() as smtp:
        environ = {"EMAIL_URL": smtp.url, "PUBLIC_BASE_URL": "http://127.0.0.1", **FAST}
        manage = _manager(folder, {"DATABASE_URL": database_url, **environ})
        manage("prepare")
        token = manage("new_agent", "bench", "--json")["token"]
        limit = {"contact_limit_per_hour": 100_000}
        _channel(manage, "email", {"to": "a@example.com", **limit})
        owner = "from django.contrib.auth.models import User; from handoff.models import Agent; "
        owner += "Agent.objects.get().owners.add(User.objects.create(username='o'))"
        manage("shell", "-v", "0", "-c", owner)
        _channel(manage, "owner_inbox", limit)
        with running(folder, database_url, settings=SETTINGS, environ=environ) as server:
            desk = Desk(server, token, smtp)
            yield desk
            desk.close()


def _manager(folder: Path, environ: dict[str, str]) -> Callable[..., Any]:
    def manage(*arguments: str) -> Any:
        found = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=environment.ROOT,
            env=environment.clean_environment(folder) | environ,
            check=True,
            capture_output=True,
            timeout=60,
        )
        return json.loads(found.stdout) if "--json" in arguments else None

    return manage


def _channel(manage: Callable[..., Any], kind: str, config: dict[str, Any]) -> int:
    label = ["--label", kind, "--config", json.dumps(config), "--json"]
    made: int = manage("new_channel", "--agent", "bench", "--kind", kind, *label)["channel_id"]
    return made


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _print(name: str, times: list[float]) -> None:
    cuts = statistics.quantiles(times, n=20)
    sys.stdout.write(f"{name:<46} p50 {cuts[9]:7.1f} ms   p95 {cuts[18]:7.1f} ms\n")


def test_the_figures_of_one_desk(desk: Desk) -> None:
    time.sleep(2)
    sys.stdout.write(f"\n{'memory, idle':<46} {desk.server.figure('VmRSS') / 1024:7.0f} MB\n")
    channels = {item["kind"]: item["id"] for item in desk.api("GET", "channels")["data"]}
    desk.hand_over(channels["owner_inbox"])
    _print("GET /api/v1/me", [_timed(lambda: desk.api("GET", "me")) for _ in range(ROUNDS)])
    _print(
        "tool call: owner inbox",
        [_timed(lambda: desk.hand_over(channels["owner_inbox"])) for _ in range(ROUNDS)],
    )
    _print(
        "tool call: email, SMTP on loopback",
        [_timed(lambda: desk.hand_over(channels["email"])) for _ in range(ROUNDS)],
    )
    submits, resumes = [], []
    for number in range(ROUNDS // 2):
        submit, resume = _answer(desk, channels["email"], f"visitor-{number}")
        submits.append(submit)
        resumes.append(resume)
    _print("form: POST to confirmation", submits)
    _print("resume: form POST to the note on the chat socket", resumes)
    sys.stdout.write(
        f"{'memory, after the calls above':<46} {desk.server.figure('VmRSS') / 1024:7.0f} MB\n"
    )


def _answer(desk: Desk, channel: int, visitor: str) -> tuple[float, float]:
    """Milliseconds from sending the form to its answer, and to the note in the chat."""
    conversation = desk.api("POST", "conversations", {"external_id": visitor})["id"]
    ticket = desk.api("POST", f"conversations/{conversation}/tickets", {"role": "agent"})["ticket"]
    before = len(desk.smtp.messages)
    desk.hand_over(channel, conversation)
    mail = desk.smtp.wait_for_message(number=before + 1).text
    found = re.search(r"http://127\.0\.0\.1/r/\S+/", mail)
    assert found is not None
    connection, path, submission_id = desk.form(found[0])
    address = f"ws://127.0.0.1:{desk.server.port}/ws/chat?ticket={ticket}&last_event_id=0"
    values = {
        "submission_id": submission_id,
        "value.order_status": "shipped",
        "value.eta_date": "2026-12-24",
        "outcome": "resolved",
    }
    body = urllib.parse.urlencode(values)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    with contextlib.closing(connection), connect(address) as socket:
        _until(socket, "handoff.started")
        start = time.perf_counter()
        connection.request("POST", path, body, kind)
        response = connection.getresponse()
        response.read()
        submit = (time.perf_counter() - start) * 1000
        assert response.status in (200, 303)
        _until(socket, "handoff.released")
        return submit, (time.perf_counter() - start) * 1000


def _until(socket: Any, kind: str) -> None:
    while json.loads(socket.recv(timeout=10))["type"] != kind:
        pass
