"""A PostgreSQL database whose clock a test moves, while the clocks of all processes stand.

Django asks for the time by STATEMENT_TIMESTAMP(). In this database that name is found in `public`
before `pg_catalog`, so every default, condition and UPDATE of the product reads the moved clock.
"""

import datetime as dt
from typing import Any, Final, LiteralString

import psycopg
from psycopg import sql

INSTALL: Final[tuple[LiteralString, ...]] = (
    "CREATE TABLE public.moved (ahead interval NOT NULL)",
    "INSERT INTO public.moved VALUES ('0')",
    """CREATE FUNCTION public.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS
       'SELECT pg_catalog.statement_timestamp() + (SELECT ahead FROM public.moved)'""",
)


class Clock:
    """Install it before the tables are made: a column's default keeps the function it was given."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url

    def install(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as database:
            for statement in INSTALL:
                database.execute(statement)
            found = database.execute("SELECT current_database()").fetchone()
            assert found is not None
            path = sql.SQL("ALTER DATABASE {} SET search_path = public, pg_catalog")
            database.execute(path.format(sql.Identifier(found[0])))

    def move(self, ahead: dt.timedelta) -> None:
        """The database's clock is so far ahead of everybody's."""
        self.ask("UPDATE public.moved SET ahead = %s", ahead)

    def set(self, moment: dt.datetime) -> None:
        self.move(moment - dt.datetime.now(dt.UTC))

    def ask(self, statement: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a statement, if it gives any."""
        with psycopg.connect(self._url, autocommit=True) as database:
            cursor = database.execute(statement, values)
            return cursor.fetchall() if cursor.description else []
