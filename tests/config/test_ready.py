"""`/readyz` is red while the database or the trail is broken, and until the first sweep is done."""

import sqlite3
from pathlib import Path

import pytest
from django.tasks import task

from handoff import tasks
from tests.config.servers import Server, running

pytestmark = pytest.mark.slow
BREAK = """
    CREATE TRIGGER broken BEFORE INSERT ON audit_event
    BEGIN SELECT RAISE(ABORT, 'no space left on db-3'); END
"""
GAPS = "SELECT agent, details ->> 'happened_at' FROM audit_event WHERE action = 'audit.gap'"


def _execute(url: str, statement: str) -> None:
    with sqlite3.connect(url.removeprefix("sqlite:///"), timeout=20) as database:
        database.execute(statement)
    database.close()


def test_a_trail_that_takes_no_row_is_red_and_a_process_that_lives_is_not(
    server: Server, desk_url: str
) -> None:
    assert server.get("/readyz") == (200, b'{"status":"ok"}')
    _execute(desk_url, BREAK)
    assert server.get("/readyz") == (503, b'{"status":"no audit trail"}')
    assert server.get("/healthz")[0] == 200
    _execute(desk_url, "DROP TRIGGER broken")
    assert server.get("/readyz")[0] == 200


def test_what_an_outage_left_behind_is_on_the_trail_before_the_process_is_ready(
    tmp_path: Path, desk_url: str
) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    line = '{"at": "2026-11-30T12:00:00.000+00:00", "reason": "desk_unavailable", "agent": "shop"}'
    (folder / "audit-gaps.jsonl").write_text(f"\n{line}\n" * 3)
    with running(folder, desk_url):
        with sqlite3.connect(desk_url.removeprefix("sqlite:///"), timeout=20) as database:
            rows = database.execute(GAPS).fetchall()
        database.close()
    assert rows == [("shop", "2026-11-30T12:00:00.000+00:00")] * 3


@task
def failing() -> int:
    raise RuntimeError("not today")


@task
def counting() -> int:
    ran.append(True)
    return 1


ran: list[bool] = []


def test_a_sweep_that_failed_is_not_done_and_holds_nothing_else_up() -> None:
    with pytest.raises(tasks.Unfinished, match="failing"):
        tasks._enqueue(failing, counting)
    assert ran == [True]
