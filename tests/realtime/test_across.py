"""Nudges between two processes over Redis, and after Redis was away. Watchers are off."""

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import programs
from tests.config.servers import Server, running

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def _pair(tmp_path: Path, database_url: str, redis_url: str) -> Iterator[tuple[Server, Server]]:
    def start(name: str) -> contextlib.AbstractContextManager[Server]:
        folder = tmp_path / name
        return running(folder, database_url, REDIS_URL=redis_url, HANDOFF_WATCHER="0")

    with start("one") as one, start("two") as two:
        yield one, two


def _crosses(nudged: Server, waiting: Server, topic: str) -> float:
    """Seconds from the nudge in one process to the answer of a poll in the other."""
    with ThreadPoolExecutor(1) as clients:
        poll = clients.submit(waiting.get, f"/probe/poll?{topic}")
        time.sleep(0.3)
        assert not poll.done()
        began = time.monotonic()
        nudged.get(f"/probe/nudge?topic={topic}")
        assert poll.result(10) == (200, b"woken")
        return time.monotonic() - began


def test_a_nudge_in_one_process_wakes_a_poll_in_the_other(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    with _pair(tmp_path, database_url, redis_url) as (one, two):
        time.sleep(1)
        assert _crosses(one, two, "there") < 1
        assert _crosses(two, one, "and-back") < 1
        for server in (one, two):
            server.terminate()
            assert server.wait(5) == 0
            assert "Traceback" not in server.log()


def test_after_redis_was_away_everybody_looks_and_nudges_cross_again(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    port = programs.free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"]
    with _pair(tmp_path, database_url, f"redis://127.0.0.1:{port}/0") as (one, two):
        assert one.get("/probe/ping") == (200, b"pong"), "nothing waits for an absent Redis"
        with ThreadPoolExecutor(1) as clients:
            poll = clients.submit(two.get, "/probe/poll?missed")
            time.sleep(0.5)
            one.get("/probe/nudge?topic=missed")
            time.sleep(0.5)
            assert not poll.done()
            with _redis(command, tmp_path) as first:
                assert poll.result(10) == (200, b"woken")
                time.sleep(2)
                assert _crosses(one, two, "there") < 1
                first.send_signal(signal.SIGKILL)
                first.wait(5)
                time.sleep(1)
                one.get("/probe/nudge?topic=lost")
            with _redis(command, tmp_path):
                time.sleep(4)
                assert _crosses(one, two, "again") < 1
        assert "Redis is away" in one.log()
        assert "Redis is back" in one.log()
        assert "Traceback" not in one.log() + two.log()


@contextlib.contextmanager
def _redis(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([*command, "--dir", str(folder)], stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(5)
