"""A deployment's own route: the example of docs/routes.md against a real rota, and a server whose
routes all hang.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import routes
from handoff.contract.answers import NOBODY_ASKED
from handoff.models import Agent, Conversation
from tests import environment, factories
from tests.api.conftest import Desk
from tests.config.servers import Server, running
from tests.fakes.rota import Mood, Rota

QUESTION = "May I refund order 1234 without the receipt?"
HANGS = """
import time

def ask(question, *, agent, conversation, deadline):
    time.sleep(60)
"""


def example() -> str:
    """The one block of Python in docs/routes.md."""
    [block] = re.findall(
        r"^```python\n(.*?)^```$",
        (environment.ROOT / "docs/routes.md").read_text(),
        re.DOTALL | re.MULTILINE,
    )
    return str(block)


@pytest.fixture
def rota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Rota]:
    """A rota that the desk asks through the example."""
    (tmp_path / "rota.py").write_text(example())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "rota", raising=False)
    settings.ROUTE = "rota.ask"
    with Rota() as started:
        monkeypatch.setenv("ROTA_URL", started.url)
        yield started
    sys.modules.pop("rota", None)


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create()


@pytest.fixture
def desk(agent: Agent) -> Desk:
    return Desk(agent)


def ended() -> AuditEvent:
    return AuditEvent.objects.get(action__in=("agent.escalated", "agent.escalation_failed"))


@pytest.mark.django_db
def test_the_example_reaches_whoever_is_on_duty(desk: Desk, agent: Agent, rota: Rota) -> None:
    conversation: Conversation = factories.conversation(agent)
    answer = desk.call("ask_a_person", {"question": QUESTION}, conversation=conversation)

    assert answer["text"].startswith("Your question was put to Mia. ")
    assert rota.questions == [
        {"agent": agent.name, "conversation": conversation.public_id, "question": QUESTION}
    ]
    assert ended().action == "agent.escalated"


@pytest.mark.django_db
def test_the_example_refuses_when_nobody_is_on_duty(desk: Desk, rota: Rota) -> None:
    rota.mood = Mood.NOBODY
    answer = desk.call("ask_a_person", {"question": QUESTION})

    said = "Nobody is on duty now. Offer the visitor to write an email instead."
    assert answer["text"] == f"Refused. {said}"
    assert ended().reason == said


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("mood", "failure"),
    [
        (Mood.BAD_GATEWAY, "RuntimeError: the rota answered 502"),
        (Mood.CLOSES, "RemoteDisconnected: "),
        (Mood.NONSENSE, "JSONDecodeError: "),
        (Mood.HANGS, ""),
        (Mood.TRICKLES, ""),
        (Mood.TRICKLES_HEAD, ""),
    ],
)
def test_whatever_the_rota_does_the_example_lets_the_desk_answer_in_time(
    desk: Desk, rota: Rota, settings: Settings, mood: Mood, failure: str
) -> None:
    settings.ROUTE_SECONDS = 1.0
    rota.mood = mood
    before = time.monotonic()
    answer = desk.call("ask_a_person", {"question": QUESTION})

    assert time.monotonic() - before < 1.3
    assert answer["text"] == answer["result"]["error"] == NOBODY_ASKED
    row = ended()
    assert row.action == "agent.escalation_failed"
    assert row.failure.startswith(failure)
    assert row.failure
    assert not row.failure.startswith("timed out after"), "the example keeps its own deadline"
    assert routes.held() == 0


@pytest.mark.django_db
def test_a_rota_that_is_not_there_is_a_failure_with_a_name(desk: Desk, rota: Rota) -> None:
    port = rota.url.rpartition(":")[2].partition("/")[0]
    rota.__exit__()
    answer = desk.call("ask_a_person", {"question": QUESTION})

    assert answer["text"] == NOBODY_ASKED
    assert port not in json.dumps(answer)
    assert ended().failure.startswith("ConnectionRefusedError: ")


class Calling:
    """The tool, called on a real server by an agent of its own."""

    def __init__(self, server: Server, token: str) -> None:
        self.server = server
        self.token = token

    def ask(self) -> tuple[float, int, dict[str, Any]]:
        """Seconds, status and body."""
        before = time.monotonic()
        with closing(self.server.connection(30)) as connection:
            connection.request(
                "POST",
                "/api/v1/tool-calls",
                json.dumps({"name": "ask_a_person", "args": {"question": QUESTION}}),
                {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            )
            response = connection.getresponse()
            body = json.loads(response.read())
        return time.monotonic() - before, response.status, body


def _manage(folder: Path, environ: dict[str, str], *command: str) -> str:
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=environment.ROOT,
        env=environment.clean_environment(folder) | environ,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout


@pytest.fixture
def own(tmp_path: Path, database_url: str) -> dict[str, str]:
    """The environment of a desk whose route is the module `own_route` in this test's folder."""
    return {
        "DATABASE_URL": database_url,
        "HANDOFF_ROUTE": "own_route.ask",
        "PYTHONPATH": os.pathsep.join(
            [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
        ),
    }


@pytest.mark.slow
def test_six_hanging_routes_hold_no_page_and_no_other_call(
    tmp_path: Path, own: dict[str, str], database_url: str
) -> None:
    (tmp_path / "own_route.py").write_text(HANGS)
    folder = tmp_path / "desk"
    folder.mkdir()
    token = json.loads(_manage(folder, own, "new_agent", "probe", "--json"))["token"]
    with running(folder, database_url, environ=own) as server, ThreadPoolExecutor(6) as pool:
        calling = Calling(server, token)
        calls = [pool.submit(calling.ask) for _ in range(6)]
        time.sleep(1)
        for path, headers in (
            ("/healthz", {}),
            ("/inbox/login/", {"Host": "localhost"}),
            ("/api/v1/me", {"Authorization": f"Bearer {token}"}),
        ):
            before = time.monotonic()
            assert server.get(path, headers=headers)[0] == 200
            assert time.monotonic() - before < 2, path
        answers = sorted(call.result() for call in calls)

        assert {(status, body["text"]) for _, status, body in answers} == {(200, NOBODY_ASKED)}
        seconds = [took for took, _, _ in answers]
        assert max(seconds[:2]) < 2, "with no place left the answer comes at once"
        assert min(seconds[2:]) > 9.5
        assert max(seconds) < 11.5
        assert "a route hangs: 4 of 4 places are held" in server.log()

        took, status, body = calling.ask()
        assert (status, body["text"]) == (200, NOBODY_ASKED)
        assert took < 2, "the hung ones still hold every place"
        said = _manage(folder, own, "doctor")
        assert "Questions in the last hour: 0 put, 0 refused, 7 failed. 4 hung" in said
        assert "4 of 4 places" in said
        server.terminate()
        assert server.wait(20) == 0, "a daemon thread is left behind"
