"""Nothing waits for a PostgreSQL that does not answer: one of the tests' own, which is frozen."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import environ
import pytest
from django.db import OperationalError
from django.db.utils import ConnectionHandler
from pytest_django import DjangoDbBlocker, Settings

from config.postgresql.deadline import LEAST_SECONDS
from config.postgresql.gate import PAUSE_SECONDS, gate
from tests import programs
from tests.programs import Cluster

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.alone]
ALIAS: Final = "frozen"
LIMIT: Final = 0.8
GRACE: Final = 0.4
"""What a busy machine may add to a deadline."""


class Database:
    """A cluster, and our backend on it as the server process has it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        config = environ.Env.db_url_config(cluster.url) | {
            "ENGINE": "config.postgresql",
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": {
                "connect_timeout": 2,
                "pool": {
                    "min_size": 1,
                    "max_size": 12,
                    "timeout": LIMIT,
                    "reconnect_timeout": 1.0,
                },
            },
        }
        self.handler = ConnectionHandler({"default": {}, ALIAS: config})

    @property
    def connection(self) -> Any:
        """This thread's."""
        return self.handler[ALIAS]

    def ask(self, statement: str = "SELECT 1") -> list[tuple[Any, ...]]:
        """One statement as one request makes it: on a connection from the pool, given back."""
        self.connection.close_if_unusable_or_obsolete()
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())
        finally:
            self.connection.close()

    def commit(self, *, before: Callable[[], None]) -> None:
        """Insert a row; `before` comes between it and its COMMIT."""
        connection = self.connection
        connection.set_autocommit(False)
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO row VALUES (1)")
        before()
        try:
            connection.commit()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    try:
        with programs.own_cluster() as started:
            yield started
    except programs.Absent as absent:
        pytest.skip(str(absent))


@pytest.fixture
def database(
    cluster: Cluster, settings: Settings, django_db_blocker: DjangoDbBlocker
) -> Iterator[Database]:
    settings.DATABASE_SECONDS = LIMIT
    database = Database(cluster)
    with django_db_blocker.unblock():
        yield database
        cluster.thaw()
        time.sleep(PAUSE_SECONDS)
        database.ask()
        database.connection.close_pool()


def _seconds_until_refused(call: Callable[[], object]) -> float:
    began = time.monotonic()
    with pytest.raises(OperationalError):
        call()
    return time.monotonic() - began


def test_a_statement_a_commit_and_a_new_connection_end_with_the_deadline(
    database: Database,
) -> None:
    with database.connection.cursor() as cursor:
        cursor.execute("CREATE TABLE row (n int)")
    with database.connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        database.cluster.freeze()
        assert LIMIT <= _seconds_until_refused(lambda: cursor.execute("SELECT 1")) < LIMIT + GRACE
    database.connection.close()
    time.sleep(PAUSE_SECONDS)
    assert LIMIT <= _seconds_until_refused(database.ask) < LIMIT + GRACE

    database.cluster.thaw()
    time.sleep(PAUSE_SECONDS)
    assert database.ask() == [(1,)]
    freezing = database.cluster.freeze
    assert _seconds_until_refused(lambda: database.commit(before=freezing)) < LIMIT + GRACE
    database.cluster.thaw()
    time.sleep(PAUSE_SECONDS)
    # what a client cannot know: the server commits as soon as it can
    assert database.ask("SELECT count(*) FROM row") == [(1,)]


def test_one_request_does_not_wait_twice(database: Database) -> None:
    database.ask()
    database.cluster.freeze()
    _seconds_until_refused(database.ask)
    with pytest.raises(OperationalError, match="did not answer a moment ago"):
        database.connection.ensure_connection()


def test_while_it_is_frozen_one_thread_waits_and_the_others_are_refused_at_once(
    database: Database,
) -> None:
    database.ask()
    database.cluster.freeze()
    _seconds_until_refused(database.ask)
    time.sleep(PAUSE_SECONDS)

    def refused(_: int) -> float:
        return _seconds_until_refused(database.ask)

    with ThreadPoolExecutor(8) as threads:
        waits = sorted(threads.map(refused, range(8)))
    assert waits[-1] < LIMIT + GRACE
    assert [wait for wait in waits if wait > GRACE] == waits[-1:]

    database.cluster.thaw()
    began = time.monotonic()
    while time.monotonic() - began < 3:
        try:
            assert database.ask() == [(1,)]
        except OperationalError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("it was not found to be back")


def test_one_frozen_backend_is_the_error_of_one_call_only(database: Database) -> None:
    connection = database.connection
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = int(cursor.fetchone()[0])
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: database.ask(), range(8)))
            os.kill(backend, signal.SIGSTOP)
            assert _seconds_until_refused(lambda: cursor.execute("SELECT 1")) < LIMIT + GRACE
            assert list(threads.map(lambda _: database.ask(), range(8))) == [[(1,)]] * 8
    connection.close()
    os.kill(backend, signal.SIGCONT)


def test_after_a_restart_no_call_meets_a_dead_connection(database: Database) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: database.ask("SELECT pg_sleep(0.05)"), range(32)))
        database.cluster.stop()
        _seconds_until_refused(database.ask)
        database.cluster.start()
        time.sleep(PAUSE_SECONDS + 1)  # for the last attempt to reconnect to run out
        began = time.monotonic()
        assert list(threads.map(lambda _: database.ask(), range(32))) == [[(1,)]] * 32
        assert time.monotonic() - began < LIMIT + GRACE


def test_the_time_of_a_transaction_counts_as_a_whole(database: Database) -> None:
    began = time.monotonic()
    connection = database.connection
    connection.set_autocommit(False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.6)")
        with pytest.raises(OperationalError, match="no answer within"):
            cursor.execute("SELECT pg_sleep(0.6)")
    assert time.monotonic() - began < LIMIT + LEAST_SECONDS + GRACE
    connection.close()


def test_a_call_that_fails_otherwise_leaves_the_gate_open(database: Database) -> None:
    with pytest.raises(OperationalError, match="statement timeout"):
        database.ask("SET statement_timeout = 50; SELECT pg_sleep(1)")
    assert database.ask() == [(1,)]
    assert not gate._doubted


def test_without_our_clock_the_server_s_own_deadline_ends_nothing(
    database: Database, settings: Settings
) -> None:
    """The broken variant: what everybody sets, and nothing else."""
    settings.DATABASE_SECONDS = 0
    with database.connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 200")
        with ThreadPoolExecutor(1) as threads:
            database.cluster.freeze()
            asked = threads.submit(cursor.cursor.execute, "SELECT 1")
            time.sleep(LIMIT + 1)
            assert not asked.done()
            database.cluster.thaw()
            asked.result(timeout=5)
    database.connection.close()
