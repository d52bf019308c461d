"""Wires every test to its environment, its database and the programs beside it."""

import os
from collections.abc import Iterator
from contextlib import ExitStack

import django
import pytest
from django.conf import settings
from hypothesis import settings as hypothesis_settings
from pytest_django import Settings

from handoff.actions import folding, lots
from handoff.transports import discord_api
from tests import environment, programs
from tests.fakes.providers import BASES, Providers

pytest_plugins = [
    "tests.databases",
    "tests.fakes.mailboxes",
    "tests.fakes.toy_desk",
    "tests.reliability.figures",
]

_SERVICES = ExitStack()


def _postgres_url() -> str | None:
    """The server of the PostgreSQL half; None in the SQLite half. Workers inherit it."""
    if not environment.on_postgres():
        return None
    url = _SERVICES.enter_context(programs.postgres())
    os.environ["TEST_DATABASE_URL"] = url
    return url


try:
    environment.prepare(_postgres_url())
except programs.Absent as absent:
    raise pytest.UsageError(str(absent)) from None
django.setup()

# Pages name static files by their source: nothing is collected for the test client.
settings.STORAGES["staticfiles"]["BACKEND"] = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"
)
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
hypothesis_settings.register_profile("desk", deadline=None, print_blob=True)
hypothesis_settings.load_profile("desk")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="fail the run when a test was skipped")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each half runs what is its own: PostgreSQL the tests that use a database, SQLite all but
    those that are about PostgreSQL.
    """
    on_postgres = environment.on_postgres()
    kept = [item for item in items if _belongs(item, on_postgres=on_postgres)]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


_DATABASE_FIXTURES = frozenset(
    {"db", "transactional_db", "live_server", "database_url", "empty_database_url"}
)


def _belongs(item: pytest.Item, *, on_postgres: bool) -> bool:
    about_postgres = item.get_closest_marker("postgres") is not None
    if not on_postgres:
        return not about_postgres
    fixtures = frozenset(getattr(item, "fixturenames", ()))
    return (
        about_postgres
        or item.get_closest_marker("django_db") is not None
        or bool(fixtures & _DATABASE_FIXTURES)
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """With --no-skips, a skipped test is a failure of the run."""
    if not session.config.getoption("--no-skips"):
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.stats.get("skipped") and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure() -> None:
    _SERVICES.close()


@pytest.fixture(autouse=True)
def _nothing_counted_in_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    folding.take_over(unfinished=True)
    monkeypatch.setattr(lots, "_lots", {})
    monkeypatch.setattr(discord_api, "_away_until", {})


@pytest.fixture
def providers(settings: Settings) -> Iterator[Providers]:
    """The chat providers on loopback, with the settings pointing at them.

    The test fails when something was asked that no provider has.
    """
    with Providers() as running:
        for provider in running.fakes:
            setattr(settings, BASES[provider], running.base(provider))
        yield running
    assert running.problems == []


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The URL of a Redis server; the test is skipped when there is none."""
    with ExitStack() as stack:
        try:
            url = stack.enter_context(programs.redis_server())
        except programs.Absent as absent:
            pytest.skip(str(absent))
        yield url


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The path of a Chromium; the test is skipped when there is none."""
    try:
        return programs.chromium()
    except programs.Absent as absent:
        pytest.skip(str(absent))
