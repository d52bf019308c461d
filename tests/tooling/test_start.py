"""bin/run from an empty folder: it answers, starts again quickly, and stops when it is told to."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import environment, programs

SECOND_START_SECONDS = 5.0
TRIES = 3
"""Somebody else may be using the machine: the quickest of so many starts counts."""

pytestmark = [pytest.mark.slow, pytest.mark.alone]


@contextmanager
def bin_run(data: Path, *arguments: str, **variables: str) -> Iterator[tuple[str, float, Path]]:
    """A started desk: its address, the seconds until it was ready, what it wrote."""
    port = programs.free_port()
    written = data.with_suffix(".log")
    inherited = environment.clean_environment(data)
    del inherited["PUBLIC_BASE_URL"], inherited["HANDOFF_DATA"]
    began = time.monotonic()
    with written.open("wb") as log:
        process = subprocess.Popen(
            [environment.ROOT / "bin/run", "--port", str(port), "--data", data.name, *arguments],
            cwd=data.parent,  # --data is relative to where one stands
            env=inherited | variables,
            stdout=log,
            stderr=log,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        while True:
            assert process.poll() is None, written.read_text()
            assert time.monotonic() - began < 60, written.read_text()
            with contextlib.suppress(urllib.error.URLError):
                urllib.request.urlopen(f"{address}/readyz", timeout=5).close()
                break
            time.sleep(0.05)
        yield address, time.monotonic() - began, written
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0, written.read_text()


def test_a_second_start_is_quick_and_changes_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with bin_run(data, "--no-demo") as (_, first, _):
        made = {path.name for path in data.iterdir()}
    keys = {name: (data / name).read_text() for name in ("secret_key", "encryption_key")}
    later: list[float] = []
    while not later or (min(later) >= SECOND_START_SECONDS and len(later) < TRIES):
        with bin_run(data, "--no-demo") as (_, seconds, _):
            later.append(seconds)
    assert min(later) < SECOND_START_SECONDS, f"first {first:.1f} s, then {later}"
    assert {path.name for path in data.iterdir()} <= made | {"desk.sqlite3"}
    assert {name: (data / name).read_text() for name in keys} == keys
    assert data.stat().st_mode & 0o777 == 0o700


def test_the_demo_says_what_to_open_and_shows_a_password_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with bin_run(data) as (address, _, written):
        said = written.read_text()
        assert f"links open on this machine only, at {address}\n" in said
        for path in ("/demo/", "/demo/mail/", "/admin/"):
            assert f"{address}{path}" in said
            urllib.request.urlopen(f"{address}{path}", timeout=10).close()
        password = re.search(r"user admin, password (\S{12,}) ", said)
        assert password is not None
        token = re.search(r"hd_\w{8}_[\w-]{43}", said)
        assert token is not None
        ask = urllib.request.Request(
            f"{address}/api/v1/events", headers={"Authorization": f"Bearer {token.group()}"}
        )
        urllib.request.urlopen(ask, timeout=10).close()
    with bin_run(data) as (_, _, written):
        said = written.read_text()
        assert "user admin (" in said
        assert password[1] not in said


def test_without_the_demo_it_says_that_nobody_can_be_asked_yet(tmp_path: Path) -> None:
    with bin_run(tmp_path / "data", "--no-demo") as (_, _, written):
        assert "PUBLIC_BASE_URL is not set: nobody can be asked until it is." in written.read_text()


def test_what_public_base_url_says_counts(tmp_path: Path) -> None:
    url = "https://desk.example.org"
    with bin_run(tmp_path / "data", "--no-demo", PUBLIC_BASE_URL=url) as (_, _, written):
        assert "PUBLIC_BASE_URL" not in written.read_text()


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = subprocess.run(
            [environment.ROOT / "bin/run", "--no-demo", f"--port={port}", "--data=data"],
            cwd=tmp_path,
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert refused.returncode == 1
    assert f"Cannot listen on 127.0.0.1, port {port}" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert refused.stdout.count("\n") <= 1, "nothing is shown that would not answer"
    assert not (tmp_path / "data/desk.sqlite3").exists()
