"""Wrong tokens at the waiting routes and sockets, and what a clean stop leaves on the trail."""

import json
from pathlib import Path

import pytest

from handoff.actions import folding
from tests.realtime.desk import closing, open_desk

pytestmark = pytest.mark.slow


def test_an_address_with_many_wrong_tokens_hears_so_at_every_door(
    empty_desk: Path, tmp_path: Path
) -> None:
    with open_desk(tmp_path, empty_desk, HANDOFF_REFUSALS_PER_MINUTE="3") as desk:
        for path in ("/api/v1/wait/events", "/api/v1/me", "/api/v1/wait/stream"):
            assert desk.get(path, token="wrong")[0] == 401
        status, body = desk.get("/api/v1/wait/events", token="wrong")
        assert (status, body["code"]) == (429, "too_fast")
        assert desk.get("/api/v1/me", token="wrong")[0] == 429
        wrong = {"Authorization": "Bearer wrong"}
        with desk.socket("/ws/agent", headers=wrong) as socket:
            assert closing(socket)[0] == 4429
        assert desk.get("/api/v1/wait/events", seconds=0)[0] == 200


def test_a_clean_stop_writes_down_what_was_only_counted(empty_desk: Path, tmp_path: Path) -> None:
    with open_desk(tmp_path, empty_desk, HANDOFF_REFUSALS_PER_MINUTE="0") as desk:
        for _ in range(folding.ROWS_A_MINUTE + 7):
            assert desk.get("/api/v1/me", token="wrong")[0] == 401
        query = "SELECT details FROM audit_event WHERE action = 'tool.calls_folded'"
        assert desk.sql(query) == []
        desk.server.terminate()
        assert desk.server.wait(10) == 0
        [(details,)] = desk.sql(query)
        assert json.loads(details) == {"calls": 7, "malformed": 7}
        [(listed,)] = desk.sql("SELECT count(*) FROM audit_event WHERE action = 'access.denied'")
        assert listed == folding.ROWS_A_MINUTE
