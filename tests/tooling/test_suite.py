"""What bin/test runs, what it skips, and that it cannot pass by running nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import run
from tests.environment import ROOT


def commands(*switches: str) -> list[str]:
    """The runs of pytest for some switches, with both databases there."""
    options, rest = run.read_options(switches)
    return [
        f"{step.database}: {' '.join(step.command)}"
        for database in run.databases(options, {"TEST_DATABASE_URL": "postgres://"})
        for step in run.suites(options, rest, database)
    ]


def test_everything_runs_on_both_databases_and_what_measures_runs_alone() -> None:
    runs = commands()
    assert [step.partition(":")[0] for step in runs] == ["sqlite"] * 2 + ["postgres"] * 2
    shared = f"-n {run.WORKERS}"
    assert all(shared in step for step in runs if "not alone" in step)
    assert all("-n " not in step for step in runs if "and alone" in step)
    assert all("not bench and not full" in step for step in runs)


def test_what_no_database_changes_runs_on_the_first_only() -> None:
    assert ["not once" in step for step in commands()] == [False, False, True, True]
    for switches in (["--full"], ["--postgres"], ["tests/client"]):
        assert all("not once" not in step for step in commands(*switches))


def test_fast_is_sqlite_without_the_slow_half() -> None:
    (step,) = commands("--fast")
    assert step.startswith("sqlite")
    for mark in ("slow", "browser", "full", "bench", "alone"):
        assert f"not {mark}" in step


def test_full_leaves_only_the_figures_out() -> None:
    assert all("not bench" in step and "not full" not in step for step in commands("--full"))


def test_arguments_go_to_pytest() -> None:
    sqlite, postgres = commands("--no-skips", "tests/style", "-k", "lock")
    assert sqlite.endswith("--no-skips tests/style -k lock")
    assert postgres.endswith("--no-skips tests/style -k lock")


def bin_test(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.run", "--tests", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.slow
def test_an_absent_service_is_skipped_with_one_closing_line_that_says_how() -> None:
    finished = bin_test(
        "--sqlite", "tests/style/test_rules.py", TEST_REDIS_URL="redis://127.0.0.1:1/0"
    )
    assert finished.returncode == 0, finished.stdout
    *_, closing, verdict = finished.stdout.splitlines()
    assert closing == ("Skipped what needs it. TEST_REDIS_URL names no Redis server that answers.")
    assert verdict == "Everything passed."


@pytest.mark.slow
def test_with_no_skips_an_absent_service_is_a_failure() -> None:
    finished = bin_test(
        "--sqlite",
        "--no-skips",
        "tests/style/test_rules.py",
        TEST_REDIS_URL="redis://127.0.0.1:1/0",
    )
    assert finished.returncode == 1
    assert finished.stdout.splitlines()[-1] == "FAILED: nothing may be skipped"


@pytest.mark.slow
def test_a_run_that_selects_no_test_is_a_failure() -> None:
    finished = bin_test("--sqlite", "tests/style/test_rules.py", "-k", "no_such_test")
    assert finished.returncode == 1
    assert finished.stdout.splitlines()[-1] == "FAILED: no test was selected"


@pytest.mark.slow
@pytest.mark.parametrize(("switches", "code"), [([], 0), (["--no-skips"], 1)])
def test_a_skipped_test_fails_the_run_only_with_no_skips(
    switches: list[str], code: int, tmp_path: Path
) -> None:
    skipped = tmp_path / "test_skipped.py"
    skipped.write_text("import pytest\n\ndef test_it():\n    pytest.skip('not here')\n")
    ours = ["-p", "tests.conftest", "-c", "pyproject.toml", "-p", "no:cacheprovider"]
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", *ours, *switches, str(skipped)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "1 skipped" in finished.stdout
    assert finished.returncode == code, finished.stdout
