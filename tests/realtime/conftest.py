"""One desk for all tests that leave it open for the next."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.realtime.desk import Desk, open_desk


@pytest.fixture(scope="session")
def empty_desk(_migrated: str) -> Path:
    """A migrated SQLite file to copy."""
    return Path(_migrated)


@pytest.fixture(scope="session")
def desk(empty_desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with open_desk(tmp_path_factory.mktemp("desk"), empty_desk) as opened:
        yield opened
