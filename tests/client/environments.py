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
from pathlib import Path
from typing import Final

LOCKS: Final = Path(__file__).parent / "locks"
MAKE_SECONDS: Final = 600
WHOLE: Final = "whole"
"""A file that is written last."""


def python(lock: str) -> Path:
    """The interpreter of an environment that holds what the lock pins, by hash."""
    written = (LOCKS / f"{lock}.lock").read_bytes()
    base = f"{sys.version}{sys.executable}".encode()
    name = f"{lock}-{hashlib.sha256(base + written).hexdigest()[:16]}"
    folder = _place() / name
    with (folder.parent / f"{name}.making").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
        if not (folder / WHOLE).exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
            _make(folder, LOCKS / f"{lock}.lock")
    return folder / "bin" / "python"


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
