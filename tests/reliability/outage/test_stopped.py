"""Row 5: PostgreSQL is stopped and started while calls come in."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.realtime.desk import closing
from tests.reliability.figures import report
from tests.reliability.outage.struck import INTERNAL, UNAVAILABLE, Struck, load
from tests.reliability.outage.truth import judge
from tests.reliability.sizes import sizes

pytestmark = [pytest.mark.postgres, pytest.mark.alone]
DOWN_SECONDS = 1.5
HEALTHY_SECONDS = 5.0


@sizes(quick=2, full=10)
def test_stopped_and_started_under_load_no_answer_is_false(size: int, struck: Struck) -> None:
    recoveries = []
    with struck.running():
        with load(struck.ask, threads=6):
            for _ in range(size):
                time.sleep(2)
                struck.cluster.stop()
                time.sleep(DOWN_SECONDS)
                struck.cluster.start()
                recoveries.append(struck.healthy_after(seconds=HEALTHY_SECONDS))
        assert struck.server.get("/readyz")[0] == 200
    struck.forget_clock()
    with struck.running():  # its first sweep resolves what the outage left open
        judgement = judge(struck)
    assert judgement.refusals > 0
    assert judgement.gaps == judgement.refusals
    report(
        5,
        f"{size} stops and starts under load, {len(struck.answers)} calls ({judgement}): "
        f"0 false sentences, 0 half-facts, {judgement.gaps} gap rows; "
        f"healthy after at most {max(recoveries):.1f} s",
    )


@pytest.mark.slow
def test_stopped_before_a_call_it_asks_nobody_and_the_gap_is_there_after_a_restart_once(
    struck: Struck,
) -> None:
    with struck.running():
        struck.ask()
        struck.cluster.stop()
        for channel in (struck.email, struck.inbox):
            assert struck.ask(channel).body == UNAVAILABLE
        status, body = struck.server.get("/readyz")
        assert (status, body) == (503, b'{"status":"no database"}')
        assert struck.server.get("/healthz")[0] == 200
        assert struck.page("/inbox/")[0] == 503
        struck.cluster.start()
    for _ in range(2):
        with struck.running():
            assert judge(struck).gaps == 2
    assert len(struck.smtp.messages) == 1


@pytest.mark.slow
@pytest.mark.parametrize("back", [True, False], ids=["and is back soon", "and stays away"])
def test_stopped_while_the_provider_accepts(struck: Struck, *, back: bool) -> None:
    answers: list[Any] = []
    with struck.running():
        struck.smtp.may_answer.clear()
        with load(lambda: answers.append(struck.ask()), threads=1, pause=60):
            struck.smtp.wait_for_message()
            struck.cluster.stop()
            struck.smtp.may_answer.set()
            time.sleep(1)
            if back:
                struck.cluster.start()
            began = time.monotonic()
            while not answers and time.monotonic() - began < 15:
                time.sleep(0.05)
        if not back:
            struck.cluster.start()
    struck.forget_clock()
    with struck.running():
        judgement = judge(struck)
        [(state,)] = struck.sql("SELECT status FROM handoff_session")
    said = answers[0].word
    assert (said, state) == (
        ("handed over", "active") if back else ("outcome_unrecorded", "unknown")
    )
    assert judgement.gaps == judgement.refusals
    came = "came back soon" if back else "stayed away"
    report(5, f"stopped between acceptance and outcome, {came}: {said}, session {state}")


@pytest.mark.slow
def test_who_waits_while_it_stops_hears_503_or_is_let_go(struck: Struck) -> None:
    token = {"Authorization": f"Bearer {struck.token}"}
    with struck.running() as server:
        url = f"ws://127.0.0.1:{server.port}/ws/agent"
        with connect(url, additional_headers=token) as socket, ThreadPoolExecutor(1) as pool:
            socket.recv(timeout=5)
            poll = pool.submit(server.get, "/api/v1/wait/events?seconds=3&after=99", headers=token)
            time.sleep(1)
            struck.cluster.stop()
            status, body = poll.result(timeout=10)
            assert (status, json.loads(body)) == (503, UNAVAILABLE)
            began = time.monotonic()
            status, body = server.get("/api/v1/wait/events?seconds=3", headers=token)
            assert (status, json.loads(body)) == (503, UNAVAILABLE)
            assert time.monotonic() - began < 3
        with connect(url, additional_headers=token) as socket:
            code, sentence = closing(socket)
        assert code == 4503
        assert not INTERNAL.search(sentence)
        struck.cluster.start()
