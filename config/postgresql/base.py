"""The backend that `DATABASES` names: Django's own, with bounded connections, behind a gate."""

import threading
import time
from typing import Any, Final

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool

from config.postgresql.deadline import BoundedConnection
from config.postgresql.gate import gate

DRAIN_SECONDS: Final = 1.0


class DatabaseWrapper(base.DatabaseWrapper):
    """Takes connections through the gate, and after one was found dead doubts all idle ones."""

    _draining = threading.Lock()
    _drained_at = 0.0

    @property
    def pool(self) -> Any:
        options = self.settings_dict["OPTIONS"].get("pool")
        if options:
            options.setdefault("connection_class", BoundedConnection)
            options.setdefault("check", self._check)
        return super().pool

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        with gate.way():
            return super().get_new_connection(conn_params)

    def close_if_unusable_or_obsolete(self) -> None:
        """Called before and after every request, and around each piece of background work."""
        gate.new_work()
        super().close_if_unusable_or_obsolete()

    @classmethod
    def _check(cls, connection: BoundedConnection) -> None:
        """Before a connection is given out. Its neighbours died of the same: a server that
        restarted has closed them all, and to try them one by one would take a second each.
        """
        try:
            ConnectionPool.check_connection(connection)
        except psycopg.Error:
            with cls._draining:
                fresh = time.monotonic() - cls._drained_at < DRAIN_SECONDS
                cls._drained_at = time.monotonic()
            if not fresh:
                for pool in list(cls._connection_pools.values()):  # type: ignore[attr-defined]
                    pool.drain()
            raise
