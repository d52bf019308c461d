"""The worker thread: it sweeps first, runs what is due when nudged, survives what breaks, halts."""

import logging
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from pytest_django.fixtures import Settings

from config.worker import Worker
from handoff import push


class Work:
    """Counts its calls; raises while `broken`."""

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls
        self.broken = False
        self.called = threading.Event()

    def run_due(self) -> None:
        self.calls.append("due")
        self.called.set()
        if self.broken:
            raise RuntimeError("the outbox is on fire")


@pytest.fixture
def work(settings: Settings) -> Iterator[tuple[Work, Worker]]:
    settings.WORKER_SECONDS = 0.2
    calls: list[str] = []
    work = Work(calls)
    worker = Worker(
        run_due=work.run_due,
        sweep=lambda: calls.append("sweep"),
        when_swept=lambda: calls.append("ready"),
    )
    worker.start()
    yield work, worker
    worker.halt()
    worker.join(5)
    assert not worker.is_alive()


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_it_sweeps_before_it_is_ready_and_then_runs_what_is_due(work: tuple[Work, Worker]) -> None:
    doing, _ = work
    _until(lambda: len(doing.calls) > 3)
    assert doing.calls[:4] == ["sweep", "ready", "due", "due"]
    assert doing.calls.count("sweep") == 1


def test_a_nudge_is_heard_before_the_next_look(
    work: tuple[Work, Worker], settings: Settings
) -> None:
    settings.WORKER_SECONDS = 60
    doing, _ = work
    time.sleep(0.5)
    before = len(doing.calls)
    push.nudge("work")
    _until(lambda: len(doing.calls) > before)


def test_work_that_breaks_is_logged_and_tried_again(
    work: tuple[Work, Worker], caplog: pytest.LogCaptureFixture
) -> None:
    doing, _ = work
    doing.broken = True
    with caplog.at_level(logging.ERROR, "config.worker"):
        _until(lambda: "background work failed" in caplog.text)
    doing.broken = False
    doing.called.clear()
    assert doing.called.wait(5)


def test_it_halts_while_it_waits_for_another_try(work: tuple[Work, Worker]) -> None:
    doing, worker = work
    doing.broken = True
    time.sleep(0.6)
    began = time.monotonic()
    worker.halt()
    worker.join(5)
    assert time.monotonic() - began < 0.2
