"""What makes many transactions quick where it does not matter that they survive a crash."""

from django.db import connection


def unsynced() -> None:
    """This connection does not wait for the disk; the SQLite of the tests never does."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit TO off")
