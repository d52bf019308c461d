"""The Pythons of this machine that the client has to run on."""

import functools
import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

OLDEST: Final = (3, 10)
_ASK: Final = "import sys, ensurepip, venv; print(*sys.version_info[:3])"


@functools.cache
def all_of_them() -> dict[tuple[int, int, int], str]:
    """Version -> program, oldest first: those on the PATH, those of pyenv, and our own."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], 20)]
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    programs = [shutil.which(name) for name in names]
    programs += [
        path for root in roots if root for path in glob.glob(f"{root}/versions/*/bin/python")
    ]
    found = {_version(program): program for program in filter(None, programs)}
    found[sys.version_info[:3]] = sys.executable
    return {version: found[version] for version in sorted(found) if version[:2] >= OLDEST}


def oldest() -> str:
    return next(iter(all_of_them().values()))


def newest() -> str:
    return list(all_of_them().values())[-1]


def _version(program: str) -> tuple[int, int, int]:
    """(0, 0, 0) for a program that can't make an environment."""
    asked = subprocess.run(
        [program, "-c", _ASK], capture_output=True, text=True, check=False, timeout=30
    )
    numbers = asked.stdout.split()
    if asked.returncode or len(numbers) != 3:
        return (0, 0, 0)
    return (int(numbers[0]), int(numbers[1]), int(numbers[2]))
