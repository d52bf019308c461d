"""A connection whose every wait ends: for the answer to a statement, a COMMIT, a check.

`statement_timeout` is the server's promise, and a server that is frozen keeps none (measured: 6 s).
This clock is ours: psycopg waits on the socket in C with a limit of our own, in the thread that
asked, so it costs one subtraction a statement and needs no second thread.
"""

import time
from typing import Any, Final

import psycopg
from django.conf import settings
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout
from psycopg.pq import TransactionStatus

from config.postgresql.gate import gate

LEAST_SECONDS: Final = 0.5
"""What a statement gets when our own work has used up the time of its transaction."""
INTERVAL: Final = 0.1
"""How often psycopg looks whether the process was interrupted."""


class BoundedConnection(psycopg.Connection[Any]):
    """Ends itself when the server does not answer within `DATABASE_SECONDS`.

    The time counts from the start of the transaction, or of a statement outside of one. It is
    spent: the connection is closed, and whoever waits gets an OperationalError. The server may
    have done what it was asked, a COMMIT included; nobody here can know.
    """

    _began = 0.0

    def wait[RV](
        self, gen: PQGen[RV], interval: float = INTERVAL, timeout: float | None = None
    ) -> RV:
        """Every wait of psycopg passes here; `timeout` is what psycopg itself asks for."""
        limit: float = settings.DATABASE_SECONDS
        if timeout is not None or not limit:
            return super().wait(gen, interval, timeout)
        now = time.monotonic()
        if self.pgconn.transaction_status == TransactionStatus.IDLE:
            self._began = now
        left = max(self._began + limit - now, LEAST_SECONDS)
        try:
            return super().wait(gen, interval, left)
        except _WaitTimeout:
            self.close()
            gate.doubt()
            raise psycopg.OperationalError(f"no answer within {limit:g} s") from None
