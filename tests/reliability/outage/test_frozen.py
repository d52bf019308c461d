"""Row 6: PostgreSQL stands still (SIGSTOP): connections stay open, and no answer comes."""

import os
import signal
import time
from typing import Any

import pytest

from tests.reliability.figures import report
from tests.reliability.outage.struck import UNRECORDED, Struck, load
from tests.reliability.outage.truth import judge
from tests.reliability.sizes import sizes

pytestmark = [pytest.mark.postgres, pytest.mark.alone]
CALL_SECONDS = 12.0
"""As `struck` sets it."""
DEADLINE = 2.0
GRACE = 1.0


@sizes(quick=6, full=60)
def test_frozen_under_load_every_answer_comes_within_the_deadline(
    size: int, struck: Struck
) -> None:
    pages: list[float] = []
    health: list[float] = []

    def page() -> None:
        pages.append(struck.page("/inbox/")[1])

    def healthz() -> None:
        began = time.monotonic()
        assert struck.server.get("/healthz")[0] == 200
        health.append(time.monotonic() - began)

    with (
        struck.running(),
        load(struck.ask, threads=6),
        load(page, threads=2),
        load(healthz, threads=1),
    ):
        time.sleep(2)
        struck.cluster.freeze()
        time.sleep(size)
        assert struck.server.get("/readyz")[0] == 503
        struck.cluster.thaw()
        recovery = struck.healthy_after(seconds=5)
        time.sleep(1)
    struck.forget_clock()
    with struck.running():
        judgement = judge(struck)
    slowest = {word: struck.slowest(word) for word in judgement.words}
    # who was contacted is worth some seconds more: the outcome is written when it is back in time
    assert max(slowest.values()) <= CALL_SECONDS
    assert slowest["desk_unavailable"] <= DEADLINE + GRACE
    assert max(pages) <= DEADLINE + GRACE
    assert max(health) <= GRACE
    assert judgement.gaps == judgement.refusals > 0
    report(
        6,
        f"frozen {size} s under load, {len(struck.answers)} calls ({judgement}): slowest refusal "
        f"{slowest['desk_unavailable']:.2f} s, slowest answer {max(slowest.values()):.2f} s, "
        f"slowest of {len(pages)} pages {max(pages):.2f} s, /healthz {max(health):.2f} s; "
        f"0 false sentences, 0 half-facts; healthy {recovery:.1f} s later",
    )


@pytest.mark.slow
def test_frozen_while_the_provider_accepts_the_answer_promises_and_denies_nothing(
    struck: Struck,
) -> None:
    answers: list[Any] = []
    with struck.running():
        struck.smtp.may_answer.clear()
        with load(lambda: answers.append(struck.ask()), threads=1, pause=60):
            struck.smtp.wait_for_message()
            struck.cluster.freeze()
            accepted = time.monotonic()
            struck.smtp.may_answer.set()
            while not answers and time.monotonic() - accepted < 15:
                time.sleep(0.05)
            waited = time.monotonic() - accepted
        struck.cluster.thaw()
        assert answers[0].body == UNRECORDED
    struck.forget_clock()
    with struck.running():
        judge(struck)
    assert waited <= 8
    report(6, f"frozen between acceptance and outcome: outcome_unrecorded after {waited:.1f} s")


@pytest.mark.slow
def test_one_frozen_backend_holds_up_one_call(struck: Struck) -> None:
    with struck.running():
        struck.ask()
        [(backend,)] = struck.sql(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND state = 'idle' LIMIT 1"
        )
        os.kill(backend, signal.SIGSTOP)
        answers = [struck.ask() for _ in range(20)]
        os.kill(backend, signal.SIGCONT)
        refused = [answered for answered in answers if answered.word != "handed over"]
        assert len(refused) <= 1
        assert max(answered.seconds for answered in answers) <= DEADLINE + GRACE
    report(6, f"one frozen backend: {len(refused)} of 20 calls refused")
