"""A desk whose PostgreSQL a test may strike, the calls made meanwhile, and the judgement after."""

import contextlib
import dataclasses
import http.client
import json
import re
import secrets
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import psycopg

from tests import environment, factories
from tests.config.servers import Server, running
from tests.fakes.smtp import SmtpServer
from tests.programs import Cluster
from tests.reliability import desks

UNAVAILABLE: Final = {
    "error": "This call asked nobody. Do not say that it did.",
    "code": "desk_unavailable",
}
UNRECORDED: Final = {
    "error": "A message may have reached the person, but the conversation was not handed over. "
    "Do not promise an answer.",
    "code": "outcome_unrecorded",
}
INTERNAL: Final = re.compile(
    r"127\.0\.0\.1|localhost|psycopg|[Pp]ostgres|[Ss]qlite|[A-Z][a-z]+Error|[Ee]xception|Traceback|"
    r"[Cc]onnection (to|refused|reset)|server closed|no answer within|a moment ago"
)
"""Words of hosts, drivers and exceptions, which no answer may hold."""
MARKER: Final = re.compile(r"case-[0-9a-f]{16}")


@dataclasses.dataclass(frozen=True)
class Answered:
    """One tool call and what came back. `marker` stands in its summary, and so in its mail."""

    marker: str
    status: int
    body: dict[str, Any]
    seconds: float

    @property
    def word(self) -> str:
        """What kind of answer it is."""
        if self.status == 503:
            return str(self.body["code"])
        result: dict[str, Any] = self.body["result"]
        return str(result["code"]) if self.body["isError"] else "handed over"


class Struck:
    """One server process on a database of a cluster of our own, with a mail server beside it."""

    def __init__(self, cluster: Cluster, folder: Path, url: str, smtp: SmtpServer) -> None:
        self.cluster = cluster
        self.smtp = smtp
        self.url = url
        self.answers: list[Answered] = []
        self._folder = folder
        self.state = folder / "desk"
        self._environ = {
            **desks.UNLIMITED,
            **desks.keys("outage"),
            "DATABASE_URL": url,
            "HANDOFF_CALL_SECONDS": "12",
        }
        seed = desks.seeded(folder, self._environ)
        self.token: str = seed["token"]
        self.owner: str = seed["owner"]
        self.inbox: int = seed["channel"]
        self.email = self._email_channel()
        self.server: Server

    @contextlib.contextmanager
    def running(self) -> Iterator[Server]:
        """The server; its state outlives it."""
        with running(
            self.state, self.url, settings=desks.SETTINGS, environ=self._environ
        ) as self.server:
            yield self.server

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as database:
            cursor = database.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def ask(self, channel: int | None = None, *, key: str = "") -> Answered:
        """One detached `handoff_request`."""
        marker = f"case-{secrets.token_hex(8)}"
        args = {
            "channel_id": channel or self.email,
            "summary": f"{factories.SUMMARY} {marker}",
            "expected_action": factories.EXPECTED_ACTION,
        }
        return self.call({"name": "handoff_request", "args": args}, marker=marker, key=key)

    def call(self, body: dict[str, Any], *, marker: str = "", key: str = "") -> Answered:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        began = time.monotonic()
        with contextlib.closing(self.server.connection(timeout=60)) as connection:
            connection.request("POST", "/api/v1/tool-calls", json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode()
        answered = Answered(marker, response.status, json.loads(text), time.monotonic() - began)
        check_words(answered, response)
        self.answers.append(answered)
        return answered

    def page(self, path: str) -> tuple[int, float]:
        """Status and seconds of one page, asked as a signed-in owner."""
        began = time.monotonic()
        cookie = {"Cookie": f"sessionid={self.owner}"}
        status, body = self.server.get(path, timeout=60, headers=cookie)
        assert status < 500 or (status == 503 and not INTERNAL.search(body.decode())), body[:500]
        return status, time.monotonic() - began

    def healthy_after(self, *, seconds: float) -> float:
        """How long it took until a call was handed over again."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            if self.ask().word == "handed over":
                return time.monotonic() - began
            time.sleep(0.1)
        raise AssertionError(f"not healthy within {seconds} s:\n{self.server.log()[-3000:]}")

    def slowest(self, word: str) -> float:
        """Seconds of the slowest answer of a kind."""
        return max(answered.seconds for answered in self.answers if answered.word == word)

    def mails(self) -> Counter[str]:
        """How often each call's mail came."""
        found = (MARKER.search(received.text) for received in self.smtp.messages)
        return Counter(match[0] for match in found if match)

    def forget_clock(self) -> None:
        """Lets the attempts that are still open be old enough for the reconciler."""
        self.sql(
            "UPDATE handoff_attempt SET at = at - interval '5 minutes' WHERE status = 'sending'"
        )

    def _email_channel(self) -> int:
        config = {"to": "sales@example.com", "smtp_url": self.smtp.url}
        kind = ["--agent", "shop", "--kind", "email", "--label", "Sales support", "--json"]
        made = subprocess.run(
            [sys.executable, "manage.py", "new_channel", *kind, "--config", json.dumps(config)],
            cwd=environment.ROOT,
            env=environment.clean_environment(self._folder) | self._environ,
            capture_output=True,
            check=True,
            timeout=60,
        )
        self.sql("UPDATE handoff_channel SET contact_limit_per_hour = 1000000")
        return int(json.loads(made.stdout)["channel_id"])


def check_words(answered: Answered, response: http.client.HTTPResponse) -> None:
    """An answer is one of the contract's, to the letter where the contract gives the letter."""
    body = answered.body
    if answered.status == 503:
        assert body in (UNAVAILABLE, UNRECORDED), body
        assert response.headers["Retry-After"] == "30"
        return
    assert answered.status == 200, (answered.status, body)
    assert set(body) == {"text", "isError", "result"}
    assert not INTERNAL.search(json.dumps(body)), body


@contextlib.contextmanager
def load(work: Callable[[], object], *, threads: int, pause: float = 0.02) -> Iterator[None]:
    """Calls `work` again and again on some threads; raises what it raised."""
    over = threading.Event()

    def again() -> None:
        while not over.is_set():
            work()
            over.wait(pause)

    with ThreadPoolExecutor(threads) as pool:
        running_on = [pool.submit(again) for _ in range(threads)]
        try:
            yield
        finally:
            over.set()
        for thread in running_on:
            thread.result()
