"""The figures of the fault matrix: each test reports what it measured, the run prints all of it.

A plugin of pytest. Workers and the process that started them write to one file, a JSON object a
line; `TEST_FIGURES` names it, so that whoever started pytest can keep it.
"""

import dataclasses
import json
import os
import tempfile
from pathlib import Path
from typing import Final

import pytest

from tests import environment

VARIABLE: Final = "TEST_FIGURES"
_OWN: Final = pytest.StashKey[Path]()


@dataclasses.dataclass(frozen=True)
class Figure:
    """What one test measured for one row of the matrix (failures.md), on which database."""

    row: str
    text: str
    database: str


def report(row: int | str, text: str) -> None:
    """Keep one figure: `report(8, "50 reconnects: 0 gaps, 0 repeats")`.

    `row` is the number in the fault matrix, or a word where no row stands for it.
    """
    database = "postgres" if environment.on_postgres() else "sqlite"
    line = json.dumps(dataclasses.asdict(Figure(str(row), text, database)))
    with Path(os.environ[VARIABLE]).open("a") as file:
        file.write(line + "\n")


def read(path: Path) -> list[Figure]:
    """The figures in a file, by row; within one in the order of the reports."""
    lines = path.read_text().splitlines() if path.exists() else []
    return sorted((Figure(**json.loads(line)) for line in lines), key=lambda f: _place(f.row))


def _place(row: str) -> tuple[int, str]:
    return (int(row), "") if row.isdecimal() else (1000, row)


def pytest_configure(config: pytest.Config) -> None:
    if VARIABLE not in os.environ:
        handle, name = tempfile.mkstemp(prefix="handoff-figures-", suffix=".jsonl")
        os.close(handle)
        os.environ[VARIABLE] = name
        config.stash[_OWN] = Path(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    own = terminalreporter.config.stash.get(_OWN, None)
    figures = read(own or Path(os.environ[VARIABLE]))
    if figures:
        terminalreporter.section("fault matrix")
    for figure in figures:
        terminalreporter.line(f"row {figure.row:>2}, {figure.database}: {figure.text}")


def pytest_unconfigure(config: pytest.Config) -> None:
    own = config.stash.get(_OWN, None)
    if own is not None:
        own.unlink(missing_ok=True)
        os.environ.pop(VARIABLE, None)
