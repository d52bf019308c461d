"""A PostgreSQL of the tests' own, and a desk on a new database of it for each test."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests import environment, programs
from tests.databases import migrate
from tests.fakes.smtp import SmtpServer
from tests.programs import Cluster
from tests.reliability.outage.struck import Struck


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Started, its database `postgres` migrated and empty."""
    try:
        with programs.own_cluster() as started:
            migrate(started.url, tmp_path_factory.mktemp("migrated"))
            yield started
    except programs.Absent as absent:
        pytest.skip(str(absent))


@pytest.fixture
def struck(cluster: Cluster, tmp_path: Path) -> Iterator[Struck]:
    """A desk that is to be started; its server is down and its database is not yet struck."""
    name = f"struck_{secrets.token_hex(6)}"
    template1 = environment.with_database(cluster.url, "template1")
    with psycopg.connect(template1, autocommit=True) as server:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE postgres")
        server.execute(statement.format(sql.Identifier(name)))
    with SmtpServer() as smtp:
        yield Struck(cluster, tmp_path, environment.with_database(cluster.url, name), smtp)
    cluster.thaw()
