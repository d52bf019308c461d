"""What `bin/test` does once its packages are there: the checks, then the tests on each database."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests import environment, programs

USAGE: Final = """bin/test [--fast | --full | --bench] [--sqlite | --postgres]
                [--checks | --tests] [--no-skips] [arguments for pytest]"""
WORKERS: Final = "3"
"""Processes that share the tests: on two cores, as one that waits for a server or a clock uses less
than half of one."""
SHARED: Final = ("-n", WORKERS, "--dist", "worksteal")
NO_TESTS: Final = 5
"""pytest's exit code when nothing was selected."""
SCRIPTS: Final = ("bin/run", "bin/test", "bin/setup.sh")


@dataclass(frozen=True)
class Step:
    """One program that must exit 0, and on which database it runs."""

    name: str
    command: Sequence[str]
    database: str = "sqlite"


def checks() -> Iterator[Step]:
    """Everything that reads the source and runs none of the tests; the slowest first."""
    tools = Path(sys.executable).parent
    yield Step("types", [str(tools / "mypy")])
    yield Step(
        "types of the client", [str(tools / "mypy"), "--config-file", "client/pyproject.toml"]
    )
    yield Step("migrations", [sys.executable, "manage.py", "makemigrations", "--check"])
    yield Step("layers", [str(tools / "lint-imports")])
    pages = ["templates", "handoff", "returnforms"]
    yield Step("templates", [str(tools / "djlint"), "--lint", "--allow-empty-input", *pages])
    yield Step("format", [str(tools / "ruff"), "format", "--check", "."])
    yield Step("lint", [str(tools / "ruff"), "check", "."])
    for shell in filter(shutil.which, ("sh", "dash")):
        for script in SCRIPTS:
            yield Step(f"{script} in {shell}", [shell, "-n", script])
    yield Step(".ci/run in bash", ["bash", "-n", ".ci/run"])
    if shutil.which("shellcheck"):
        yield Step("shell", ["shellcheck", "-x", *SCRIPTS, ".ci/run"])


def suites(options: argparse.Namespace, rest: Sequence[str], database: str) -> Iterator[Step]:
    """The runs of pytest on one database.

    Tests that measure (`alone`) get a run of their own; the others share a few processes. What is
    the same on every database (`once`) runs on the second one only with `--full`. With arguments
    for pytest, all that they select is one run.
    """
    kind = ["--no-skips"] if options.no_skips else []
    if options.bench:
        yield _suite(database, "bench", [*kind, "-s", "-p", "no:randomly", *rest])
        return
    marks = "not bench" if options.full else "not bench and not full"
    if options.fast:
        marks += " and not slow and not browser and not alone"
    if rest:
        yield _suite(database, marks, [*kind, *rest])
        return
    if database == "postgres" and not (options.full or options.postgres):
        marks += " and not once"
    yield _suite(database, f"{marks} and not alone", [*kind, *SHARED])
    if not options.fast:
        yield _suite(database, f"{marks} and alone", kind)


def _suite(database: str, marks: str, arguments: Sequence[str]) -> Step:
    command = [sys.executable, "-m", "pytest", "-m", marks, *arguments]
    return Step(f"tests on {database} ({marks})", command, database)


def _with_bytecode() -> dict[str, str]:
    """The tests start hundreds of processes: each would compile all of our modules again."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 when everything passed."""
    options, rest = read_options(arguments)
    failed: list[str] = []
    closing: list[str] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="handoff-check-")))
        own = environment.clean_environment(folder)
        if not options.tests:
            failed += _run_checks(own)
        if not options.checks:
            found = _programs(stack, options, closing)
            halves = databases(options, found)
            runs = [run for database in halves for run in suites(options, rest, database)]
            failed += _run_suites(runs, {**_with_bytecode(), **found})
    if closing and options.no_skips:
        failed.append("nothing may be skipped")
    for line in closing:
        _say(line)
    _say("FAILED: " + ", ".join(failed) if failed else "Everything passed.")
    return 1 if failed else 0


def read_options(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(prog="bin/test", usage=USAGE, allow_abbrev=False)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--fast", action="store_true", help="SQLite only, without the slow half")
    size.add_argument("--full", action="store_true", help="with the long form of the fault tests")
    size.add_argument("--bench", action="store_true", help="print the figures, test nothing else")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--sqlite", action="store_true", help="on SQLite only")
    where.add_argument("--postgres", action="store_true", help="on PostgreSQL only")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--checks", action="store_true", help="format, lint, types, layers only")
    what.add_argument("--tests", action="store_true", help="pytest only")
    parser.add_argument("--no-skips", action="store_true", help="fail when a test was skipped")
    options, rest = parser.parse_known_args(arguments)
    options.tests = options.tests or options.bench
    return options, rest


def _programs(
    stack: ExitStack, options: argparse.Namespace, closing: list[str]
) -> Mapping[str, str]:
    """The variables that name PostgreSQL and Redis; a closing line for each that is absent."""
    wanted = [("TEST_REDIS_URL", programs.redis_server)]
    if _wants_postgres(options):
        wanted.append(("TEST_DATABASE_URL", programs.postgres))
    found: dict[str, str] = {}
    for variable, service in wanted:
        try:
            found[variable] = stack.enter_context(service())
        except programs.Absent as absent:
            closing.append(f"Skipped what needs it. {absent}")
    return found


def databases(options: argparse.Namespace, found: Mapping[str, str]) -> Iterator[str]:
    if not options.postgres:
        yield "sqlite"
    if _wants_postgres(options) and "TEST_DATABASE_URL" in found:
        yield "postgres"


def _wants_postgres(options: argparse.Namespace) -> bool:
    return bool(options.postgres or not (options.sqlite or options.fast))


def _run_checks(variables: Mapping[str, str]) -> list[str]:
    """The names of those that failed, with what they wrote; two at a time."""
    failed = []
    with ThreadPoolExecutor(2) as pool:
        for step, (finished, seconds) in pool.map(lambda s: (s, _quietly(s, variables)), checks()):
            if finished.returncode:
                failed.append(step.name)
                _say(finished.stdout)
            _say(f"{'FAILED' if finished.returncode else 'ok    '} {step.name} ({seconds:.1f} s)")
    return failed


def _quietly(
    step: Step, variables: Mapping[str, str]
) -> tuple[subprocess.CompletedProcess[str], float]:
    began = time.monotonic()
    finished = subprocess.run(
        step.command,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return finished, time.monotonic() - began


def _run_suites(runs: Sequence[Step], variables: Mapping[str, str]) -> list[str]:
    """The names of those that failed. That some select nothing is fine; that all do is not."""
    failed, passed = [], False
    for run in runs:
        _say(f"\n{run.name}")
        own = {**variables, "HANDOFF_TEST_DATABASE": run.database}
        code = subprocess.run(run.command, env=own, check=False).returncode
        passed = passed or code == 0
        if code not in (0, NO_TESTS):
            failed.append(run.name)
    return failed if passed or failed else ["no test was selected"]


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
