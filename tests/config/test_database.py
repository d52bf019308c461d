"""Connections of the pool's threads outlive the loss of their server."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.config.servers import running


def _kill_backends(database: str) -> int:
    """How many connections to the database were cut."""
    with psycopg.connect(os.environ["TEST_DATABASE_URL"], autocommit=True) as server:
        rows = server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database]
        ).fetchall()
    return len(rows)


@pytest.mark.slow
@pytest.mark.postgres
def test_after_all_backends_were_killed_no_request_fails(tmp_path: Path, database_url: str) -> None:
    database = urlsplit(database_url).path.lstrip("/")
    with running(tmp_path / "desk", database_url) as server, ThreadPoolExecutor(8) as clients:
        for _ in range(3):
            answers = clients.map(server.get, ["/probe/database"] * 40)
            assert set(answers) == {(200, b"row")}
            assert _kill_backends(database) >= 1
            answers = clients.map(server.get, ["/probe/database"] * 40)
            assert set(answers) == {(200, b"row")}
            assert server.get("/readyz")[0] == 200
        server.terminate()
        assert server.wait(5) == 0
        time.sleep(0.3)
        assert _kill_backends(database) == 0


@pytest.mark.slow
def test_requests_on_many_threads_share_the_database(tmp_path: Path, database_url: str) -> None:
    with running(tmp_path / "desk", database_url) as server, ThreadPoolExecutor(16) as clients:
        answers = clients.map(server.get, ["/probe/database"] * 100)
        assert set(answers) == {(200, b"row")}
