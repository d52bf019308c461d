"""`manage.py prepare` does what a start needs, once, and never opens the data folder to others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError
from pytest_django import Settings

from handoff.management.commands import prepare
from tests import environment


def start(data: Path, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "prepare"],
        cwd=environment.ROOT,
        env=environment.clean_environment(data) | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        umask=0o077,
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return output


@pytest.mark.slow
def test_several_processes_may_prepare_the_same_folder_at_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for process in [start(data) for _ in range(3)]:
        assert "createsuperuser" in finish(process)
    assert (data / "desk.sqlite3").is_file()
    assert list((data / "static/admin/css").glob("base.*.css"))
    private = [data, *(path for path in data.iterdir() if path.name != "static")]
    assert [path for path in private if path.stat().st_mode & 0o077] == []


@pytest.mark.slow
def test_several_processes_may_prepare_one_database_from_their_own_folders(
    tmp_path: Path, empty_database_url: str
) -> None:
    """As many machines do that share PostgreSQL; on SQLite the folder is shared, too."""
    folders = [tmp_path / name for name in "abc"]
    if not environment.on_postgres():
        folders = folders[:1]
    processes = [start(folder, DATABASE_URL=empty_database_url) for folder in folders]
    for process in processes:
        finish(process)


@pytest.mark.slow
def test_a_database_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    process = start(tmp_path, DATABASE_URL="postgres://desk@127.0.0.1:1/desk")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert output.splitlines()[-1].startswith("CommandError: The database cannot be used: ")
    assert "Traceback" not in output


def test_a_new_folder_is_made_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "secret_key").write_text("key")
    prepare.make_private(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_read_and_use_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "somebody-elses").write_text("")
    with pytest.raises(CommandError, match="Run: chmod 700"):
        prepare.make_private(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_static_files_are_collected_again_only_when_a_source_changed(
    tmp_path: Path, settings: Settings
) -> None:
    sources, stamp = tmp_path / "sources", tmp_path / "stamp"
    sources.mkdir()
    page = sources / "page.css"
    page.write_text("body {}")
    settings.STATICFILES_DIRS = [sources]
    settings.STATIC_ROOT = tmp_path / "static"
    collected = settings.STATIC_ROOT / "page.css"

    prepare.collect_static(stamp)
    assert collected.read_text() == "body {}"
    collected.write_text("marked")
    prepare.collect_static(stamp)
    assert collected.read_text() == "marked", "nothing changed, so nothing was collected"
    page.write_text("body { margin: 0 }")
    later = page.stat().st_mtime + 10
    os.utime(page, (later, later))
    prepare.collect_static(stamp)
    assert collected.read_text() == "body { margin: 0 }"
