"""What the trail could not take stands in a file, and on the trail later, once."""

import contextlib
import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import DatabaseError, transaction
from pytest_django import Settings

from audit import spool
from audit.models import Event
from tests import environment


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    with transaction.atomic():
        yield


class _Refused(contextlib.AbstractContextManager[None]):
    """A transaction that cannot begin."""

    def __enter__(self) -> None:
        raise DatabaseError

    def __exit__(self, *problem: object) -> None:
        return None


class _Killed(BaseException):
    """Stands for the end of the process."""


def _gaps() -> list[Event]:
    return list(Event.objects.filter(action="audit.gap").order_by("id"))


def test_a_line_is_private_on_the_disk_and_says_when_and_why(folder: Path) -> None:
    assert spool.keep(
        "desk_unavailable", failure="OperationalError", agent="shop", token="AbCd1234"
    )
    file = folder / spool.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    [line] = [json.loads(line) for line in file.read_text().splitlines() if line]
    assert line.pop("at").endswith("+00:00")
    assert line == {
        "reason": "desk_unavailable",
        "failure": "OperationalError",
        "agent": "shop",
        "token": "AbCd1234",
    }


@pytest.mark.django_db
def test_a_line_becomes_one_row_with_both_times_and_the_file_goes(folder: Path) -> None:
    spool.keep("desk_unavailable", agent="shop", tool="handoff_request")
    spool.keep("outcome_unrecorded", attempt="he_1")
    assert spool.settle(_writing) == 2
    first, second = _gaps()
    assert (first.actor, first.agent, first.tool) == ("agent:shop", "shop", "handoff_request")
    assert (first.reason, second.reason) == ("desk_unavailable", "outcome_unrecorded")
    assert second.attempt == "he_1"
    assert first.details["happened_at"] <= second.details["happened_at"]
    assert second.details["happened_at"] <= second.at.isoformat()
    assert list(folder.iterdir()) == []
    assert spool.settle(_writing) == 0


@pytest.mark.django_db
def test_a_run_killed_in_the_middle_repeats_no_row(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "ROWS", 2)
    for number in range(7):
        spool.keep(f"reason {number}")
    batches = 0

    @contextlib.contextmanager
    def dying() -> Iterator[None]:
        nonlocal batches
        batches += 1
        with transaction.atomic():
            yield
            if batches == 3:
                raise _Killed

    with pytest.raises(_Killed):
        spool.settle(dying)
    spool.keep("reason 7")
    assert len(_gaps()) == 4
    assert spool.settle(_writing) == 4
    assert [row.reason for row in _gaps()] == [f"reason {number}" for number in range(8)]
    assert list(folder.iterdir()) == []


@pytest.mark.django_db
def test_a_file_whose_rows_are_all_there_is_only_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the commit and the removal."""
    spool.keep("desk_unavailable")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda path: (_ for _ in ()).throw(_Killed))
        with pytest.raises(_Killed):
            spool.settle(_writing)
    assert len(_gaps()) == 1
    assert spool.settle(_writing) == 0
    assert len(_gaps()) == 1
    assert list(folder.iterdir()) == []


@pytest.mark.django_db
def test_while_the_trail_takes_nothing_the_lines_stay(folder: Path) -> None:
    spool.keep("one")

    for _ in range(2):
        with pytest.raises(DatabaseError):
            spool.settle(_Refused)
        spool.keep("another")
    assert spool.settle(_writing) == 3
    assert len(_gaps()) == 3


@pytest.mark.django_db
def test_a_line_that_was_cut_short_spoils_no_other(folder: Path) -> None:
    spool.keep("before")
    with (folder / spool.FILE).open("ab") as file:
        file.write(b'\n{"at": "2026-01-01", "rea\xff')
    spool.keep("after")
    assert spool.settle(_writing) == 3
    assert [row.reason for row in _gaps()] == ["before", "unreadable", "after"]


def test_at_its_cap_the_file_takes_no_more_and_the_log_still_has_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(spool, "CAP_BYTES", 1000)
    kept = [spool.keep("desk_unavailable") for _ in range(20)]
    size = (folder / spool.FILE).stat().st_size
    assert 900 < size <= 1000
    assert kept == sorted(kept, reverse=True)
    assert caplog.text.count("not on the audit trail") == 20


def test_a_spool_that_fails_too_raises_nothing(
    folder: Path, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATA_DIR = folder / "absent"
    assert not spool.keep("desk_unavailable")
    assert '"reason": "desk_unavailable"' in caplog.text
    assert "not in the spool either" in caplog.text


@pytest.mark.django_db
def test_lines_of_many_threads_and_processes_are_all_kept(folder: Path) -> None:
    """Some while the file is taken away."""
    program = (
        "import django; django.setup(); from audit import spool\n"
        "for n in range(50): assert spool.keep('process')"
    )
    environ = environment.clean_environment(folder) | {"HANDOFF_DATA": str(folder)}
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=environment.ROOT,
        env=environ,
        stderr=subprocess.DEVNULL,
    )
    rows = 0
    with ThreadPoolExecutor(4) as threads:
        kept = threads.map(lambda n: spool.keep("thread"), range(100))
        while process.poll() is None:
            rows += spool.settle(_writing)
        assert all(kept)
    rows += spool.settle(_writing)
    assert process.returncode == 0
    assert rows == len(_gaps()) == 150
    assert not (folder / spool.FILE).exists()
