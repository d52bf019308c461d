"""`manage.py prepare`: everything between a new version, or an empty folder, and a server start.

Applies migrations, collects static files when their sources changed and, in the demo, makes what
it shows. Does nothing that is done already, so a second start is quick. Of several processes that
start at the same moment one does the work and the others wait for it.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import BaseCommand, CommandError, call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from handoff.management.shell import command

MIGRATING: Final = 0x68616E64
"""Our number for PostgreSQL's advisory lock."""
MADE_BEFORE_US: Final = frozenset({"encryption_key", "secret_key"})
"""What reading the settings leaves in an empty data folder."""


class Command(BaseCommand):
    help = "Migrate, collect static files and set up the demo; does nothing that is done already."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        make_private(settings.DATA_DIR)
        with alone(settings.DATA_DIR / "prepare.lock"):
            try:
                migrate()
                collect_static(settings.DATA_DIR / "static.sources")
                if settings.DEMO:
                    call_command("demo_setup")
                elif not get_user_model()._default_manager.filter(is_superuser=True).exists():
                    self.stdout.write(
                        f"Nobody can sign in to the admin yet: {command('createsuperuser')}"
                    )
            except OperationalError as problem:
                raise CommandError(f"The database cannot be used: {problem}") from problem


def make_private(folder: Path) -> None:
    """The data folder holds keys. A new one is made private; one that others use is refused."""
    status = folder.stat()
    if status.st_uid == os.geteuid() and not status.st_mode & 0o077:
        return
    if status.st_uid != os.geteuid() or {path.name for path in folder.iterdir()} - MADE_BEFORE_US:
        raise CommandError(
            f"Others can read {folder}, which is to hold keys. "
            f"Run: chmod 700 {folder} (as its owner), or name another folder with --data."
        )
    folder.chmod(0o700)


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Holds a lock among the processes that use this data folder."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def migrate() -> None:
    """Apply what is not applied; on PostgreSQL, other machines wait meanwhile."""
    if not pending():
        return
    if connection.vendor != "postgresql":
        call_command("migrate", interactive=False, verbosity=0)
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
        try:
            call_command("migrate", interactive=False, verbosity=0)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATING])


def pending() -> bool:
    """Are there migrations that this database has not seen?"""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def collect_static(stamp: Path) -> None:
    """Collect static files unless their names, sizes and times are those of the last time."""
    sources = fingerprint()
    if stamp.is_file() and stamp.read_text() == sources and settings.STATIC_ROOT.is_dir():
        return
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(sources)


def fingerprint() -> str:
    """A digest over the sources of all static files."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = os.stat(storage.path(name))
            digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
