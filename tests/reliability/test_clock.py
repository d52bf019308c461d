"""Row 21: the database's clock decides, whatever the clock of the process says.

The database's clock is moved, not the process's: what matters is that they differ.
"""

import datetime as dt
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.signing import Signer

from handoff.links import RETURN_SALT
from tests import environment
from tests.realtime.desk import Desk
from tests.reliability.clock import Clock
from tests.reliability.desks import keys, open_desks
from tests.reliability.figures import report

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

DAY = dt.timedelta(days=1)
SECOND = dt.timedelta(seconds=1)
KEYS = keys("clock")
LINK_HOURS = 72


@pytest.fixture
def clock(empty_database_url: str, tmp_path: Path) -> Clock:
    """Of a database that was migrated under it."""
    clock = Clock(empty_database_url)
    clock.install()
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=environment.ROOT,
        env=environment.clean_environment(tmp_path) | {"DATABASE_URL": empty_database_url},
        check=True,
        timeout=120,
    )
    return clock


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def form(desk: Desk, clock: Clock, session: str) -> int:
    """The status of the page behind the session's link."""
    [(link_id,)] = clock.ask(
        "SELECT link_id FROM handoff_returnlink l JOIN handoff_session s ON s.id = l.session_id "
        "WHERE s.public_id = %s",
        session,
    )
    token = Signer(key=KEYS["SECRET_KEY"], salt=RETURN_SALT, sep=".").sign(link_id)
    return desk.server.get(f"/r/{token}/")[0]


def asked(desk: Desk) -> tuple[str, dict[str, str]]:
    """A new handoff: its id and H."""
    session = desk.hand_over(desk.conversation())
    return session, desk.get(f"/api/v1/handoffs/{session}")[1]


def check_expiry(desk: Desk, clock: Clock) -> None:
    """A link opens until the very moment by the database's clock."""
    session, view = asked(desk)
    created, until = moment(view["created_at"]), moment(view["return_until"])
    assert abs(until - created - dt.timedelta(hours=LINK_HOURS)) < SECOND
    assert form(desk, clock, session) == 200
    clock.set(until - 10 * SECOND)
    assert form(desk, clock, session) == 200
    clock.set(until)
    assert form(desk, clock, session) == 410


def check_idle(desk: Desk, clock: Clock) -> None:
    """The bypass ends after thirty minutes of the database's, and not before."""
    session, view = asked(desk)
    idle_at = moment(view["idle_at"])
    assert abs(idle_at - moment(view["created_at"]) - dt.timedelta(minutes=30)) < SECOND
    clock.set(idle_at - 60 * SECOND)
    time.sleep(7)  # the worker looks every five seconds
    assert desk.get(f"/api/v1/handoffs/{session}")[1]["status"] == "active"
    clock.set(idle_at)
    deadline = time.monotonic() + 20
    while (view := desk.get(f"/api/v1/handoffs/{session}")[1])["status"] == "active":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert (view["status"], view["release"]) == ("released", "idle_timeout")


def check_ticket_and_token(desk: Desk, clock: Clock) -> None:
    """Good for sixty seconds, and as long as it says, of the database's."""
    conversation = desk.conversation()
    with desk.chat(conversation) as (_, hello):
        assert hello["type"] == "hello"
    late = desk.ticket(conversation)
    [(ahead,)] = clock.ask("SELECT ahead FROM public.moved")
    clock.move(ahead + 61 * SECOND)
    with desk.socket(f"/ws/chat?ticket={late}") as socket:
        assert '"code":4401' in str(socket.recv(timeout=5))
    clock.ask("UPDATE handoff_token SET expires_at = statement_timestamp() + interval '1 hour'")
    assert desk.get("/api/v1/me")[0] == 200
    clock.move(ahead + dt.timedelta(hours=2))
    assert desk.get("/api/v1/me")[0] == 401
    clock.ask("UPDATE handoff_token SET expires_at = NULL")


def test_the_databases_clock_decides_a_day_apart_over_leap_days_and_clock_changes(
    tmp_path: Path, empty_database_url: str, clock: Clock
) -> None:
    starts = {
        "a day behind": dt.datetime.now(dt.UTC) - DAY,
        "a day ahead": dt.datetime.now(dt.UTC) + DAY,
        "leap day": moment("2028-02-27T23:30:00Z"),
        "clocks forward": moment("2028-03-11T20:00:00Z"),
        "clocks back": moment("2028-11-04T20:00:00Z"),
    }
    clock.set(starts["a day behind"])
    with open_desks(tmp_path, empty_database_url, "one", TIME_ZONE="America/New_York", **KEYS) as [
        desk
    ]:
        for start in starts.values():
            clock.set(start)
            check_expiry(desk, clock)
            check_ticket_and_token(desk, clock)
        check_idle(desk, clock)
        assert "Traceback" not in desk.server.log()
    report(
        21,
        f"links, tickets and tokens end by the database's clock at {len(starts)} places "
        f"({', '.join(starts)}), the idle clock too: 0 deviations",
    )
