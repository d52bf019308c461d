"""When the database stops answering, one thread at a time finds out whether it does again.

Without this each of 16 threads waits out its deadline, request after request, and pages that need
no database wait behind them.
"""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Final

import psycopg

VERDICT_SECONDS: Final = 0.25
"""How long others wait for the first look after a deadline was missed: one slow answer alone
must not become everybody's error."""
PAUSE_SECONDS: Final = 0.5
"""Between two looks at a database that does not answer."""


class Gate:
    """Open until a deadline is missed; then shut for all but one, until a connection works."""

    def __init__(self) -> None:
        self._settled = threading.Condition()
        self._mine = threading.local()
        self._doubted = False
        self._failed = False
        self._looking = False
        self._next_look = 0.0

    def doubt(self) -> None:
        """A deadline was missed, in this thread."""
        self._mine.has_waited = True
        self._doubted = True

    def new_work(self) -> None:
        """This thread begins something else."""
        self._mine.has_waited = False

    @contextlib.contextmanager
    def way(self) -> Iterator[None]:
        """Around taking a connection; raises OperationalError at once where the answer is known."""
        looks = self._doubted and self._looks()
        failed = True
        try:
            yield
            failed = False
        except psycopg.OperationalError:
            self.doubt()
            raise
        finally:
            if looks:
                self._settle(failed=failed)

    def _looks(self) -> bool:
        """True for the one that looks; the others go on once a look went well, or are refused."""
        # a request that has waited in vain does not wait twice: Django reconnects by itself, and
        # even after a lost COMMIT
        has_waited = getattr(self._mine, "has_waited", False)
        with self._settled:
            if not (self._looking or has_waited) and time.monotonic() >= self._next_look:
                self._looking = True
                return True
            if not (self._failed or has_waited):
                self._settled.wait_for(lambda: not self._looking, VERDICT_SECONDS)
            if self._doubted:
                raise psycopg.OperationalError("the database did not answer a moment ago")
            return False

    def _settle(self, *, failed: bool) -> None:
        with self._settled:
            self._looking = False
            self._doubted = self._failed = failed
            self._next_look = time.monotonic() + PAUSE_SECONDS if failed else 0.0
            self._settled.notify_all()


gate: Final = Gate()
"""The gate of this process's database."""
