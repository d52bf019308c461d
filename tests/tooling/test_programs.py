"""PostgreSQL, Redis and Chromium are found, started, or refused in a sentence that helps."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from tests import programs

NOWHERE = "127.0.0.1:1"


def test_our_own_postgresql_creates_databases_and_is_gone_afterwards() -> None:
    with programs.own_postgres() as url:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute("CREATE DATABASE proof")
            row = server.execute("SELECT current_setting('data_directory')").fetchone()
        assert row is not None
        folder = Path(row[0])
        assert folder.stat().st_uid != 0
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=2)


def test_a_server_of_our_own_comes_before_the_one_on_the_local_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)
    with programs.postgres() as url, psycopg.connect(url) as server:
        row = server.execute("SELECT current_setting('fsync')").fetchone()
    assert row == ("off",)


def test_our_own_postgresql_asks_for_its_password() -> None:
    with programs.own_postgres() as url, pytest.raises(psycopg.OperationalError):
        psycopg.connect(host="127.0.0.1", port=urlsplit(url).port, user="postgres", password="x")


def test_our_own_redis_answers_and_is_gone_afterwards() -> None:
    with programs.own_redis() as url, redis.Redis.from_url(url) as client:
        assert client.ping()
    with redis.Redis.from_url(url) as client, pytest.raises(redis.ConnectionError):
        client.ping()


def test_without_postgresql_the_sentence_names_the_package_and_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "DEBIAN", str(tmp_path / "*"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(programs.Absent, match=r"Debian: postgresql\) or set TEST_DATABASE_URL="),
        programs.own_postgres(),
    ):
        pass


def test_without_redis_the_sentence_names_the_package_and_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(programs.Absent, match=r"Debian: redis-server\) or set TEST_REDIS_URL="),
        programs.own_redis(),
    ):
        pass


def test_without_chromium_the_sentence_names_the_package_and_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(programs.Absent, match=r"Debian: chromium\) or set CHROMIUM"):
        programs.chromium()


def test_a_named_server_that_does_not_answer_is_not_replaced_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_DATABASE_URL", f"postgres://nobody@{NOWHERE}/none")
    monkeypatch.setenv("TEST_REDIS_URL", f"redis://{NOWHERE}/0")
    with pytest.raises(programs.Absent, match="TEST_DATABASE_URL names"), programs.postgres():
        pass
    with pytest.raises(programs.Absent, match="TEST_REDIS_URL names"), programs.redis_server():
        pass


def test_a_named_chromium_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "browser"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(own))
    assert programs.chromium() == os.fspath(own)
