"""The databases of the tests.

In the process of the test: one database for each run and worker, so that two runs never meet.
For a server that a test starts: `database_url`, an own migrated database for each test.
"""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from pathlib import Path
from typing import Final, LiteralString

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase
from psycopg import sql

from tests import environment

TRAIL: Final = "audit_event"


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Replaces pytest-django's: a name of this process only, and on SQLite a file (threads share
    it as in production) that is not synced to the disk after each transaction.
    """
    database = settings.DATABASES["default"]
    name = f"handoff_test_{secrets.token_hex(6)}"
    if environment.on_postgres():
        database["TEST"]["NAME"] = name
        return
    database["TEST"]["NAME"] = str(settings.DATA_DIR / f"{name}.sqlite3")
    options = database["OPTIONS"]
    options["init_command"] = options["init_command"].replace("synchronous=FULL", "synchronous=OFF")


@contextmanager
def unprotected_trail() -> Iterator[None]:
    """Lifts the triggers that refuse to change the audit trail. Only a flush may do that."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            lift = [f"ALTER TABLE {TRAIL} DISABLE TRIGGER USER"]
            restore = [f"ALTER TABLE {TRAIL} ENABLE TRIGGER USER"]
        else:
            cursor.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s",
                [TRAIL],
            )
            triggers = cursor.fetchall()
            lift = [f"DROP TRIGGER {name}" for name, _ in triggers]
            restore = [statement for _, statement in triggers]
        for statement in lift:
            cursor.execute(statement)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for statement in restore:
                cursor.execute(statement)


def _flush(case: TransactionTestCase, *, plain: Callable[[TransactionTestCase], None]) -> None:
    with unprotected_trail():
        plain(case)


@pytest.fixture(scope="session", autouse=True)
def _flush_reaches_the_trail() -> Iterator[None]:
    """Between transactional tests Django empties every table, the append-only one too."""
    plain = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", partialmethod(_flush, plain=plain))
        yield


@pytest.fixture(scope="session")
def _migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A migrated, empty database to copy: a file, or the name of a PostgreSQL database."""
    folder = tmp_path_factory.mktemp("migrated")
    if not environment.on_postgres():
        file = folder / "desk.sqlite3"
        migrate(f"sqlite:///{file}", folder)
        yield str(file)
        return
    with _new_database(template="template0") as name:
        migrate(environment.with_database(os.environ["TEST_DATABASE_URL"], name), folder)
        yield name


def migrate(url: str, data: Path) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=environment.ROOT,
        env=environment.clean_environment(data) | {"DATABASE_URL": url},
        check=True,
        timeout=120,
    )


@contextmanager
def copied(migrated: str, folder: Path) -> Iterator[str]:
    """DATABASE_URL of a copy of `_migrated` for the block."""
    if not environment.on_postgres():
        file = folder / "desk.sqlite3"
        shutil.copy(migrated, file)
        yield f"sqlite:///{file}"
        return
    with _new_database(template=migrated) as name:
        yield environment.with_database(os.environ["TEST_DATABASE_URL"], name)


@pytest.fixture
def database_url(_migrated: str, tmp_path: Path) -> Iterator[str]:
    """DATABASE_URL of a migrated, empty database of this test alone, for a process it starts."""
    with copied(_migrated, tmp_path) as url:
        yield url


@pytest.fixture
def empty_database_url(tmp_path: Path) -> Iterator[str]:
    """DATABASE_URL of a database of this test alone in which nothing was migrated."""
    if not environment.on_postgres():
        yield f"sqlite:///{tmp_path / 'empty.sqlite3'}"
        return
    with _new_database(template="template0") as name:
        yield environment.with_database(os.environ["TEST_DATABASE_URL"], name)


@contextmanager
def _new_database(*, template: str) -> Iterator[str]:
    """The name of a new PostgreSQL database, dropped at the end whoever is still connected."""
    name = f"handoff_test_{secrets.token_hex(6)}"
    _administer("CREATE DATABASE {} TEMPLATE {}", name, template)
    try:
        yield name
    finally:
        _administer("DROP DATABASE {} WITH (FORCE)", name)


def _administer(statement: LiteralString, *names: str) -> None:
    with psycopg.connect(os.environ["TEST_DATABASE_URL"], autocommit=True) as server:
        server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
