"""The system checks, and the doctor, which prints them with everything else."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from handoff.actions.ask import SHIPPED
from handoff.management.checks import check_private_targets, check_route
from handoff.models import Attempt, Channel, InboundEvent
from tests import environment, factories
from tests.api.conftest import Desk
from tests.fakes import routes as fakes


def found(settings: Settings, **changes: object) -> list[str]:
    for name, value in changes.items():
        setattr(settings, name, value)
    return [f"{message.id}: {message.msg}" for message in check_route(None)]


def test_what_ships_is_in_order(settings: Settings) -> None:
    assert settings.ROUTE == SHIPPED
    assert (settings.ROUTE_SECONDS, settings.ROUTE_PLACES) == (10, 4)
    assert found(settings) == []


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("nowhere.ask", "cannot be imported (ModuleNotFoundError: No module named 'nowhere')"),
        ("ask", "cannot be imported (ImportError: ask doesn't look like a module path)"),
        ("tests.fakes.routes.absent", "cannot be imported (ImportError: Module "),
        ("tests.fakes.routes.NOT_CALLABLE", "is not callable"),
        ("tests.fakes.routes.takes_nothing", "cannot be called as a route (too many positional"),
    ],
)
def test_a_route_that_cannot_be_used_is_an_error_with_a_hint(
    settings: Settings, path: str, problem: str
) -> None:
    [said] = found(settings, ROUTE=path)
    assert said.startswith(f"handoff.E001: HANDOFF_ROUTE names {path}, which {problem}")
    assert "docs/routes.md" in str(check_route(None)[0].hint)


def test_a_private_target_that_cannot_be_read_is_an_error_each(settings: Settings) -> None:
    assert check_private_targets(None) == []
    settings.PRIVATE_TARGETS = ["mail.internal", "10.0.0.0/33", "smtp://mail.internal", "[::1]"]
    said = [message.msg for message in check_private_targets(None)]
    assert [text.split(",")[0] for text in said] == [
        "HANDOFF_PRIVATE_TARGETS holds 10.0.0.0/33",
        "HANDOFF_PRIVATE_TARGETS holds smtp://mail.internal",
    ]


def test_a_route_whose_module_throws_is_an_error_and_no_traceback(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thrown_route.py").write_text("raise RuntimeError('no rota')\n")
    monkeypatch.syspath_prepend(tmp_path)
    [said] = found(settings, ROUTE="thrown_route.ask")
    assert "cannot be imported (RuntimeError: no rota)" in said
    assert "thrown_route" not in sys.modules


def test_an_async_route_and_a_class_that_can_be_called_are_fine(settings: Settings) -> None:
    assert found(settings, ROUTE="tests.fakes.routes.reaches_in_time") == []
    assert found(settings, ROUTE="tests.fakes.routes.reaches") == []


def test_numbers_with_which_no_route_could_answer_are_errors(settings: Settings) -> None:
    assert found(settings, ROUTE_PLACES=0)[0].startswith("handoff.E002: ")
    assert found(settings, ROUTE_PLACES=1, ROUTE_SECONDS=0)[0].startswith("handoff.E003: ")
    assert found(settings, ROUTE_SECONDS=19.5)[0].startswith("handoff.W004: ")
    assert found(settings, ROUTE_SECONDS=19) == []


def doctor() -> tuple[list[str], bool]:
    """The lines, and whether it found something broken."""
    out = StringIO()
    try:
        call_command("doctor", stdout=out)
    except CommandError:
        return out.getvalue().splitlines(), True
    return out.getvalue().splitlines(), False


@pytest.fixture
def channel(db: None) -> Channel:
    return factories.inbox_channel(factories.AgentFactory.create())


@pytest.mark.usefixtures("channel")
def test_the_doctor_says_how_everything_stands(settings: Settings) -> None:
    settings.EMAIL_URL = "smtp+tls://user:hidden-password@mail.example.org:587"
    lines, broken = doctor()

    assert not broken
    name = "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"
    assert lines == [
        "ok    Address: return links begin with http://desk.example.org.",
        "ok    Mail: goes to mail.example.org; manage.py send_test tries a channel.",
        "ok    Pushes: within one process; several need REDIS_URL.",
        "ok    Route: ask_a_person puts questions into the conversation itself.",
        f"ok    Database: {name} answers and is up to date.",
        "ok    Agents: 1, with 1 channels. Switched off: not shown.",
        "ok    Worker: nothing is overdue.",
        "ok    Questions in the last hour: 0 put, 0 refused, 0 failed.",
    ]


def test_the_doctor_counts_what_became_of_questions(channel: Channel, settings: Settings) -> None:
    settings.ROUTE_SECONDS = 0.1
    desk = Desk(channel.agent)
    with fakes.fresh():
        for route in ("reaches", "refuses", "throws", "hangs"):
            settings.ROUTE = f"tests.fakes.routes.{route}"
            desk.call("ask_a_person", {"question": "Who can tell me?"})
    lines, broken = doctor()

    assert not broken
    assert (
        "ok    Route: ask_a_person calls tests.fakes.routes.hangs, for at most 0.1 s, "
        "with 4 places in each process."
    ) in lines
    assert lines[-1] == (
        "look  Questions in the last hour: 1 put, 1 refused, 2 failed. 1 hung; at the last one "
        "1 of 4 places of its process were held. A restart of that process frees them."
    )


def test_the_doctor_names_what_is_broken_and_what_to_do(
    channel: Channel, settings: Settings
) -> None:
    settings.PUBLIC_BASE_URL = ""
    settings.EMAIL_URL = "imap://user:hidden-password@mail.example.org"
    settings.REDIS_URL = "redis://:hidden-password@127.0.0.1:1/0"
    settings.ROUTE = "nowhere.ask"
    Channel.objects.filter(pk=channel.pk).update(
        healthy=False,
        unhealthy_since="2026-11-30T12:00:00Z",
        last_error_kind="auth",
        last_error_hint="Replace the password.",
    )
    lines, broken = doctor()

    assert broken
    said = "\n".join(lines)
    assert "bad   handoff.E001: HANDOFF_ROUTE names nowhere.ask" in said
    assert "bad   Address: PUBLIC_BASE_URL is not set" in said
    assert "bad   Mail: EMAIL_URL cannot be used. The mail server URL must start with" in said
    assert "look  Pushes: 127.0.0.1 does not answer as Redis" in said
    assert (
        f"bad   Channel {channel.pk} (Shop team): it fails since 2026-11-30 12:00 UTC (auth). "
        "Replace the password."
    ) in said
    assert "hidden-password" not in said


def test_the_doctor_sees_that_no_worker_runs(channel: Channel, settings: Settings) -> None:
    session = factories.requested(channel.agent, channel)
    Attempt.objects.filter(session=session).update(
        status="sending", at="2026-01-01T00:00:00Z", finished_at=None
    )
    InboundEvent.objects.create(channel=channel, key="a", received_at="2026-01-01T00:00:00Z")
    lines, broken = doctor()
    assert broken
    said = "bad   Worker: 0 lines, 1 handoffs and 1 events of providers wait for over 5 minutes."
    assert any(line.startswith(said) for line in lines)


def test_the_doctor_says_why_replies_are_not_read(channel: Channel) -> None:
    Channel.objects.filter(pk=channel.pk).update(poll_hint="Give the bot the right to read.")
    said = f"look  Channel {channel.pk} (Shop team): Give the bot the right to read."
    assert said in doctor()[0]


@pytest.mark.slow
def test_the_doctor_of_a_new_database_says_to_migrate(
    empty_database_url: str, tmp_path: Path
) -> None:
    finished = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        cwd=environment.ROOT,
        env=environment.clean_environment(tmp_path) | {"DATABASE_URL": empty_database_url},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert finished.returncode == 1
    assert "migrations are not applied. Run: HANDOFF_DATA=" in finished.stdout
    assert finished.stderr.startswith("CommandError: Broken: 1.")
