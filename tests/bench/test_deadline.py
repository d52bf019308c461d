"""What the clock of our own adds to a statement, as a ratio within one run."""

import os
import statistics
import time
from typing import Final

import psycopg
import pytest
from pytest_django import Settings

from config.postgresql.deadline import BoundedConnection

pytestmark = [pytest.mark.bench, pytest.mark.alone, pytest.mark.postgres]
ROUNDS: Final = 15
STATEMENTS: Final = 1000


def _microseconds(connection: psycopg.Connection) -> float:
    began = time.perf_counter()
    for _ in range(STATEMENTS):
        connection.execute("SELECT 1").fetchone()
    return (time.perf_counter() - began) / STATEMENTS * 1e6


def test_the_cost_of_a_deadline(settings: Settings) -> None:
    settings.DATABASE_SECONDS = 2.0
    url = os.environ["TEST_DATABASE_URL"]
    with (
        psycopg.connect(url, autocommit=True) as plain,
        BoundedConnection.connect(url, autocommit=True) as bounded,
    ):
        pairs = [(_microseconds(plain), _microseconds(bounded)) for _ in range(ROUNDS)]
    without, with_it = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(right / left for left, right in pairs)
    print(  # noqa: T201
        f"\n  SELECT 1: {without:.1f} µs as psycopg has it, {with_it:.1f} µs with the deadline "
        f"(ratio {ratio:.2f})"
    )
