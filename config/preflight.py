"""What must be right before the server starts, each as a sentence that says what to do."""

from collections.abc import Iterator

from cryptography.fernet import Fernet
from django.conf import settings
from django.core import checks
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from handoff.management.shell import command


def problems() -> list[str]:
    """All of them at once; empty when the server may start."""
    found = [*_settings(), *_checks()]
    return found or [*_database()]


def _settings() -> Iterator[str]:
    if settings.DEBUG:
        yield "DEBUG is on: error pages would show settings and values. Unset DEBUG."
    if "*" in settings.ALLOWED_HOSTS:
        yield "ALLOWED_HOSTS holds *: name the hosts that people open instead."
    if len(settings.SECRET_KEY) < 32:
        yield "SECRET_KEY is missing or shorter than 32 characters: set a long random text."
    if not settings.ENCRYPTION_KEYS:
        yield "HANDOFF_ENCRYPTION_KEYS is empty: channel settings cannot be encrypted."
    for number, key in enumerate(settings.ENCRYPTION_KEYS, start=1):
        try:
            Fernet(key)
        except ValueError:
            yield (
                f"Key {number} of HANDOFF_ENCRYPTION_KEYS is not a Fernet key "
                "(32 bytes as url-safe base64)."
            )


def _checks() -> Iterator[str]:
    for message in checks.run_checks():
        if message.is_serious() and not message.is_silenced():
            yield f"{message.id}: {message.msg} {message.hint or ''}".rstrip()


def _database() -> Iterator[str]:
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as problem:
        yield f"The database cannot be opened. Check DATABASE_URL. ({problem})"
    else:
        if plan:
            yield f"{len(plan)} database migrations are not applied. Run: {command('migrate')}"
    finally:
        connection.close()
