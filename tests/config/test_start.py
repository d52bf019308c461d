"""The server starts only when it may, says why not, and keeps capabilities out of its log."""

import subprocess
import sys
from pathlib import Path

import pytest

from handoff import links
from tests import environment
from tests.config.servers import Server, running


def _refusal(folder: Path, **environ: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-m", "config.serve", "--port", environ.pop("port", "0")],
        cwd=environment.ROOT,
        env=environment.clean_environment(folder) | environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert "Traceback" not in finished.stderr
    return finished.stderr


@pytest.mark.slow
def test_unapplied_migrations_are_refused_with_the_command_that_helps(tmp_path: Path) -> None:
    said = _refusal(tmp_path)
    assert "migrations are not applied. Run: HANDOFF_DATA=" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("DEBUG", "1", "DEBUG is on"),
        ("ALLOWED_HOSTS", "*", "ALLOWED_HOSTS holds *"),
        ("SECRET_KEY", "short", "SECRET_KEY is missing or shorter"),
        ("HANDOFF_ENCRYPTION_KEYS", "nonsense", "Key 1 of HANDOFF_ENCRYPTION_KEYS is not"),
        ("PUBLIC_BASE_URL", "desk", "PUBLIC_BASE_URL must be"),
        ("DATABASE_URL", "postgres://127.0.0.1:1/none", "The database cannot be opened."),
    ],
)
def test_a_wrong_setting_is_refused_in_words(
    tmp_path: Path, variable: str, value: str, sentence: str
) -> None:
    assert sentence in _refusal(tmp_path, **{variable: value})


@pytest.mark.slow
def test_a_taken_port_is_refused_in_words(steady: Server, desk_url: str, tmp_path: Path) -> None:
    said = _refusal(tmp_path / "desk", DATABASE_URL=desk_url, port=str(steady.port))
    assert f"Cannot listen on 127.0.0.1, port {steady.port}" in said


@pytest.mark.slow
def test_no_capability_reaches_the_log(tmp_path: Path, desk_url: str) -> None:
    link, ticket = links.return_token("a" * 26), links.ticket_token("b" * 26)
    with running(tmp_path / "desk", desk_url, LOG_LEVEL="DEBUG") as server:
        for path in (
            f"/r/{link}/",
            f"/%72/{link}/",
            f"/r%2F{link}/",
            f"/r/{link}/nothing?x={link}",
        ):
            server.get(path)
        server.get(f"/ws/chat?ticket={ticket}")
        server.get(f"/probe/ping?ticket={ticket}")
        server.get("/probe/broken", headers={"Referer": f"http://localhost/r/{link}/"})
        log = server.log()
    assert "GET /r/***" in log
    assert link not in log
    assert ticket not in log


@pytest.mark.slow
def test_the_idle_process_is_small(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.get("/probe/ping")
    memory, threads = server.figure("VmRSS"), server.figure("Threads")
    with capsys.disabled():
        print(f"\n  idle: RSS {memory // 1024} MB, {threads} threads")  # noqa: T201
    assert memory < 200 * 1024
