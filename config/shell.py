"""What manage.py runs: Django's commands, with a sentence where the database is not there yet."""

import sys
from collections.abc import Sequence

from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import DatabaseError, connection

from handoff.management.shell import command


def run(arguments: Sequence[str]) -> None:
    """Run one command; exits with a sentence when the tables are missing."""
    try:
        execute_from_command_line(list(arguments))
    except DatabaseError:
        if _has_tables():
            raise
        sys.exit(
            f"The database has no tables yet. bin/run makes them, or: {command('migrate')}\n"
            f"The data folder is {settings.DATA_DIR}; the variable HANDOFF_DATA names another one."
        )


def _has_tables() -> bool:
    try:
        return "handoff_agent" in connection.introspection.table_names()
    except DatabaseError:
        return True  # it cannot be reached at all: the error itself says more
