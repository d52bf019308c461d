"""Probe servers. They are about the process, not the database, so they run on SQLite only."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.servers import Server, running


@pytest.fixture(scope="session")
def empty_desk(_migrated: str) -> Path:
    """A migrated SQLite file to copy."""
    return Path(_migrated)


@pytest.fixture
def desk_url(empty_desk: Path, tmp_path: Path) -> str:
    """DATABASE_URL of an empty desk of this test alone."""
    file = tmp_path / "empty.sqlite3"
    shutil.copy(empty_desk, file)
    return f"sqlite:///{file}"


@pytest.fixture
def server(tmp_path: Path, desk_url: str) -> Iterator[Server]:
    """A ready server of this test alone, with the probe's views and its watcher off."""
    with running(tmp_path / "desk", desk_url, HANDOFF_WATCHER="0") as started:
        yield started


@pytest.fixture(scope="session")
def steady(empty_desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("steady")
    file = folder / "empty.sqlite3"
    shutil.copy(empty_desk, file)
    with running(folder / "desk", f"sqlite:///{file}", HANDOFF_WATCHER="0") as started:
        yield started
