"""Tool calls while the database or the trail is away: the sentence is true, and leaves a trace."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.db import OperationalError, ProgrammingError, connection
from pytest_django import Settings

from audit import spool
from audit.models import Event as AuditEvent
from handoff.actions import dispatch
from handoff.actions import request as requesting
from handoff.actions.gaps import settle_gaps
from handoff.models import Agent, Attempt, Channel, Conversation, Session
from tests import factories
from tests.api.conftest import Desk, Reply
from tests.fakes.smtp import Mode, SmtpServer

pytestmark = pytest.mark.django_db
UNAVAILABLE: Final = {
    "error": "This call asked nobody. Do not say that it did.",
    "code": "desk_unavailable",
}
UNRECORDED: Final = {
    "error": "A message may have reached the person, but the conversation was not handed over. "
    "Do not promise an answer.",
    "code": "outcome_unrecorded",
}
type Statement = Callable[[str, Any], bool]


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(requesting, "OUTCOME_SECONDS", 0.0)
    return tmp_path


@pytest.fixture
def email(agent: Agent, smtp: SmtpServer) -> Channel:
    return factories.email_channel(agent, smtp_url=smtp.url)


@contextlib.contextmanager
def refusing(which: Statement, problem: type[Exception] = OperationalError) -> Iterator[list[str]]:
    """The database refuses these statements; yields those that it refused."""
    refused: list[str] = []

    def refuse(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if which(sql, params):
            refused.append(sql)
            raise problem("connection to server at db-3.internal failed: Connection refused")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield refused


def everything(sql: str, params: Any) -> bool:
    return True


def rows_of_the_trail(sql: str, params: Any) -> bool:
    return sql.startswith('INSERT INTO "audit_event"')


def outcomes(sql: str, params: Any) -> bool:
    return sql.startswith('UPDATE "handoff_attempt"')


def asked(desk: Desk, channel: Channel, conversation: Conversation | None = None) -> Reply:
    body: dict[str, Any] = {"name": "handoff_request", "args": factories.arguments(channel)}
    if conversation is not None:
        body["conversation"] = conversation.public_id
    return desk.post("tool-calls", body)


def kept(folder: Path) -> list[dict[str, Any]]:
    file = folder / spool.FILE
    return [json.loads(line) for line in file.read_text().splitlines() if line]


def test_without_the_database_nobody_is_asked_and_the_token_is_not_called_wrong(
    desk: Desk, email: Channel, smtp: SmtpServer, folder: Path
) -> None:
    with refusing(everything):
        reply = asked(desk, email)
    assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)
    assert reply.headers["Retry-After"] == "30"
    assert smtp.connections == 0
    [line] = kept(folder)
    assert (line["reason"], line["failure"]) == ("desk_unavailable", "OperationalError")
    assert "agent" not in line  # nobody could verify the token


@pytest.mark.parametrize("problem", [OperationalError, ProgrammingError])
def test_while_the_trail_takes_no_row_nobody_is_asked_and_each_refusal_is_a_gap(
    problem: type[Exception],
    desk: Desk,
    email: Channel,
    inbox_of_owner: Channel,
    conversation: Conversation,
    smtp: SmtpServer,
) -> None:
    with refusing(rows_of_the_trail, problem):
        for channel in (email, inbox_of_owner):
            reply = asked(desk, channel, conversation)
            assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)
    assert smtp.connections == 0
    assert not Session.objects.exists()
    assert settle_gaps() == 2
    gap = AuditEvent.objects.filter(action="audit.gap").latest("id")
    assert (gap.agent, gap.tool) == (desk.agent.name, "handoff_request")
    assert gap.token
    assert gap.details["happened_at"]
    assert settle_gaps() == 0


def test_an_accepted_message_whose_outcome_is_lost_is_neither_promised_nor_denied(
    desk: Desk, email: Channel, smtp: SmtpServer, folder: Path
) -> None:
    with refusing(outcomes):
        reply = asked(desk, email)
    assert (reply.status_code, reply.json()) == (503, UNRECORDED)
    assert reply.headers["Retry-After"] == "30"
    assert len(smtp.messages) == 1
    attempt = Attempt.objects.get()
    assert (attempt.status, attempt.session.status) == ("sending", "dispatching")
    [line] = kept(folder)
    assert (line["reason"], line["attempt"]) == ("outcome_unrecorded", attempt.public_id)


def test_a_refused_message_whose_outcome_is_lost_asked_nobody(desk: Desk, agent: Agent) -> None:
    with SmtpServer(recipients={"sales@example.com": "550 no such user"}) as server:
        email = factories.email_channel(agent, smtp_url=server.url)
        with refusing(outcomes):
            reply = asked(desk, email)
    assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)


@pytest.mark.django_db(transaction=True)
def test_an_outcome_is_written_when_the_database_comes_back_within_seconds(
    desk: Desk, email: Channel, smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requesting, "OUTCOME_SECONDS", 3.0)
    tries = iter([True, True])
    with refusing(lambda sql, params: outcomes(sql, params) and next(tries, False)) as refused:
        reply = asked(desk, email)
    assert len(refused) == 2
    assert (reply.status_code, reply.json()["isError"]) == (200, False)
    assert len(smtp.messages) == 1
    assert Session.objects.get().status == "active"


def test_what_became_of_a_call_is_told_even_when_its_own_row_is_lost(
    desk: Desk, agent: Agent, folder: Path, settings: Settings
) -> None:
    settings.DISPATCH_SECONDS = 0.5
    with SmtpServer(mode=Mode.HANG_AFTER_DOT) as server:
        email = factories.email_channel(agent, smtp_url=server.url)
        with refusing(
            lambda sql, params: rows_of_the_trail(sql, params) and "tool.call_failed" in params
        ):
            reply = asked(desk, email)
    assert reply.status_code == 200
    assert reply.json()["result"]["code"] == "dispatch_unknown"
    assert [line["reason"] for line in kept(folder)] == ["dispatch_unknown"]


def test_a_call_that_finds_no_place_is_on_the_trail(desk: Desk, email: Channel) -> None:
    with contextlib.ExitStack() as taken:
        for channel in range(8):
            taken.enter_context(dispatch.slot(-channel))
        reply = asked(desk, email)
    assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)
    row = AuditEvent.objects.get(action="tool.call_failed")
    assert (row.reason, row.agent, row.tool) == (
        "desk_unavailable",
        desk.agent.name,
        "handoff_request",
    )


def test_a_channel_whose_server_hangs_takes_only_its_share_of_the_places(
    desk: Desk, email: Channel, agent: Agent
) -> None:
    other = factories.email_channel(
        agent, label="Other", smtp_url=email.opened_settings()["smtp_url"]
    )
    with contextlib.ExitStack() as taken:
        for _ in range(3):
            taken.enter_context(dispatch.slot(email.pk))
        assert asked(desk, email).status_code == 503
        assert asked(desk, other).json()["isError"] is False
    assert asked(desk, email).json()["isError"] is False


@pytest.fixture
def inbox_of_owner(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)
