#!/usr/bin/env python3
"""Django's command line for this deployment; finds the environment that bin/run made."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

OWN_PYTHON = Path(__file__).resolve().parent / ".venv" / "bin" / "python"


def main() -> None:
    if find_spec("django") is None:
        use_own_python()
    os.umask(0o077)
    # A command may wait for the database as long as it takes: a migration does.
    os.environ.setdefault("HANDOFF_DATABASE_SECONDS", "0")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # what it imports needs Django
    from config.shell import run  # noqa: PLC0415

    run(sys.argv)


def use_own_python() -> None:
    """Start again with the packages of `.venv`."""
    if not OWN_PYTHON.exists() or sys.executable == str(OWN_PYTHON):
        sys.exit("Django is not installed here: run bin/run once, which installs it into .venv.")
    os.execv(OWN_PYTHON, [str(OWN_PYTHON), *sys.argv])  # noqa: S606  (our own interpreter)


if __name__ == "__main__":
    main()
