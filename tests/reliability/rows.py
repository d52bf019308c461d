"""Reads the tables of a desk that another process serves."""

import contextlib
import json
import sqlite3
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

type Row = dict[str, Any]

_JSON: Final = frozenset({"returned", "entries", "details"})


class Rows:
    """The database behind a DATABASE_URL."""

    def __init__(self, url: str) -> None:
        self.url = url

    def read(self, statement: str) -> list[Row]:
        """The rows of one statement, by column."""
        if not self.url.startswith("sqlite"):
            with psycopg.connect(self.url) as server, server.cursor(row_factory=dict_row) as cursor:
                # the statements are literals of this folder
                return cursor.execute(statement.encode()).fetchall()
        with contextlib.closing(self._sqlite()) as file:
            file.row_factory = sqlite3.Row
            return [_opened(dict(row)) for row in file.execute(statement).fetchall()]

    def write(self, statement: str) -> None:
        """Run one statement behind the back of the desk."""
        if not self.url.startswith("sqlite"):
            with psycopg.connect(self.url) as server:
                server.execute(statement.encode())
            return
        with contextlib.closing(self._sqlite()) as file:
            file.execute(statement)
            file.commit()

    def count(self, statement: str) -> int:
        """The only number that a statement answers, its column called `n`."""
        [row] = self.read(statement)
        return int(row["n"])

    def _sqlite(self) -> sqlite3.Connection:
        return sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=20)


def _opened(row: Row) -> Row:
    """JSON columns as what they hold; PostgreSQL's driver does that itself."""
    return {
        name: json.loads(value) if name in _JSON and value is not None else value
        for name, value in row.items()
    }
