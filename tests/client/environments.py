"""Environments of their own for tests with packages that are not ours, made once for each lock.

They stay in the folder for temporary files, named by what is in them, and are shared by all runs.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

LOCKS: Final = Path(__file__).parent / "locks"
MAKE_SECONDS: Final = 600
WHOLE: Final = "whole"
"""A file that is written last."""


def python(lock: str) -> Path:
    """The interpreter of an environment that holds what the lock pins, by hash."""
    written = LOCKS / f"{lock}.lock"
    base = f"{sys.version}{sys.executable}".encode()
    return _made(lock, base + written.read_bytes(), lambda folder: _make(folder, written)) / (
        "bin/python"
    )


def node(lock: str) -> Path:
    """A folder with the `node_modules` of a lock for Node.js; the test is skipped without Node.js.

    No package runs a program of its own when it is installed.
    """
    if shutil.which("npm") is None:
        pytest.skip("there is no Node.js")
    place = LOCKS / lock
    files = [place / "package.json", place / "package-lock.json"]

    def install(folder: Path) -> None:
        folder.mkdir()
        for file in files:
            shutil.copy(file, folder)
        options = ["--ignore-scripts", "--no-audit", "--no-fund"]
        _run("npm", "ci", "--prefix", str(folder), *options)
        (folder / WHOLE).touch()

    return _made(lock, b"".join(file.read_bytes() for file in files), install)


def _made(lock: str, written: bytes, make: Callable[[Path], None]) -> Path:
    """The folder for what is written in a lock, made by whoever needs it first."""
    name = f"{lock}-{hashlib.sha256(written).hexdigest()[:16]}"
    folder = _place() / name
    with (folder.parent / f"{name}.making").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        if not (folder / WHOLE).exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
            make(folder)
    return folder


def _place() -> Path:
    """A folder that is ours alone: others of this machine may write beside it."""
    place = Path(tempfile.gettempdir()) / f"handoff-environments-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    found = place.lstat()
    assert found.st_uid == os.getuid(), "somebody else has made the folder"
    assert found.st_mode & 0o777 == 0o700
    assert not place.is_symlink()
    return place


def _make(folder: Path, lock: Path) -> None:
    _run(sys.executable, "-m", "venv", str(folder))
    _run(
        str(folder / "bin" / "python"),
        *("-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(lock)),
    )
    (folder / WHOLE).touch()


def _run(*command: str) -> None:
    finished = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=MAKE_SECONDS
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
