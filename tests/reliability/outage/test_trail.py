"""Row 7: the audit trail refuses rows, or the disk is full: nobody is contacted, each is a gap."""

import pytest

from tests.reliability.figures import report
from tests.reliability.outage.struck import UNAVAILABLE, Struck
from tests.reliability.outage.truth import judge
from tests.reliability.sizes import sizes

pytestmark = [pytest.mark.postgres, pytest.mark.alone]
BREAK = """
    CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file "base/1/2"' USING ERRCODE = '{}'; END $$;
    CREATE TRIGGER broken BEFORE INSERT ON {} EXECUTE FUNCTION broken()
"""
MEND = "DROP FUNCTION broken CASCADE"


@sizes(quick=30, full=300)
@pytest.mark.parametrize(
    ("code", "table"),
    [
        pytest.param("insufficient_privilege", "audit_event", id="trail refuses"),
        pytest.param("disk_full", "audit_event", id="no room for the trail"),
        pytest.param("disk_full", "handoff_session", id="no room for the session"),
    ],
)
def test_what_the_database_refuses_contacts_nobody_and_is_a_gap_once(
    size: int, code: str, table: str, struck: Struck
) -> None:
    with struck.running():
        struck.sql(BREAK.format(code, table))
        for number in range(size):
            answered = struck.ask(struck.inbox if number % 3 == 0 else struck.email)
            assert answered.body == UNAVAILABLE
        if table == "audit_event":
            assert struck.server.get("/readyz") == (503, b'{"status":"no audit trail"}')
        struck.sql(MEND)
        assert struck.server.get("/readyz")[0] == 200
        assert struck.smtp.connections == 0
        assert struck.sql("SELECT count(*) FROM handoff_session") == [(0,)]
    for _ in range(2):
        with struck.running():
            judgement = judge(struck)
            assert judgement.gaps == judgement.refusals == size
    rows = "SELECT DISTINCT agent, tool FROM audit_event WHERE action = 'audit.gap'"
    assert struck.sql(rows) == [("shop", "handoff_request")]
    report(7, f"{code} on {table}: {size} refusals, 0 contacts, {judgement.gaps} gap rows")


@pytest.mark.slow
def test_the_spool_fills_up_and_the_answers_stay_the_same(struck: Struck) -> None:
    with struck.running():
        struck.sql(BREAK.format("disk_full", "audit_event"))
        spool = struck.state / "audit-gaps.jsonl"
        with spool.open("wb") as file:
            file.truncate(16 * 1024 * 1024)
        for _ in range(3):
            assert struck.ask().body == UNAVAILABLE
        assert spool.stat().st_size == 16 * 1024 * 1024
        assert struck.server.log().count("not in the spool either") == 3
        struck.sql(MEND)
