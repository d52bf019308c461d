"""Hanging providers, waiting repeats and a frozen PostgreSQL leave the pages their threads."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.smtp import Mode
from tests.reliability.figures import report
from tests.reliability.outage.struck import UNAVAILABLE, Struck

pytestmark = [pytest.mark.postgres, pytest.mark.alone, pytest.mark.slow]
WITHIN = 2.0


def _slowest_page(struck: Struck, *, rounds: int = 10) -> float:
    """Of a page with the database, a page without it, and both health routes."""
    slowest = 0.0
    for _ in range(rounds):
        for path in ("/inbox/", "/r/nothing/", "/healthz", "/readyz"):
            slowest = max(slowest, struck.page(path)[1])
    return slowest


def test_twenty_hanging_dispatches_twenty_repeats_and_a_frozen_database(struck: Struck) -> None:
    struck.smtp.mode = Mode.NEVER_GREET
    with struck.running(), ThreadPoolExecutor(40) as callers:
        hanging = [callers.submit(struck.ask, key=f"key {number}") for number in range(20)]
        time.sleep(1)
        repeats = [callers.submit(struck.ask, key=f"key {number % 8}") for number in range(20)]
        pages = _slowest_page(struck)
        began = time.monotonic()
        assert struck.ask().body == UNAVAILABLE  # no place among the provider calls is free
        refused = time.monotonic() - began
        assert max(pages, refused) <= WITHIN

        struck.cluster.freeze()
        began = time.monotonic()
        assert struck.ask().body == UNAVAILABLE
        frozen_call = time.monotonic() - began
        frozen_pages = _slowest_page(struck, rounds=3)
        struck.cluster.thaw()
        assert max(frozen_call, frozen_pages) <= WITHIN
        said = [call.result().word for call in (*hanging, *repeats)]
    assert "handed over" not in said
    report(
        "starvation",
        f"20 hanging dispatches, 20 repeats: page {pages:.2f} s, 503 after {refused:.2f} s; "
        f"with PostgreSQL frozen: page {frozen_pages:.2f} s, 503 after {frozen_call:.2f} s",
    )
