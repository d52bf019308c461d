"""Couriers: a few threads that talk to providers, so that nobody else has to wait for one.

A provider that hangs holds the courier that talks to it and no other: a session has at most one,
a channel few, and a channel whose last word was a failure one. The rows and their leases are the
truth; what a courier leaves behind becomes due again.
"""

import collections
import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connections

from handoff import push
from handoff.actions import notices
from handoff.actions.notices import Owed
from handoff.actions.outbox import Batch, claim
from handoff.actions.relay import deliver

log = logging.getLogger(__name__)
PLACES_OF_A_CHANNEL: Final = 2


class _Couriers:
    """Those of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._one_errand = threading.Lock()
        self._sending: collections.Counter[int] = collections.Counter()
        """Sends under way, by channel."""
        self._running: set[threading.Thread] = set()

    def look(self) -> int:
        """Start a courier for what is due, as far as there are places; returns how many started.

        Leases rows, and waits for nobody. A courier that is through looks for more by itself.
        """
        started = 0
        while (work := self._next()) is not None:
            try:
                self._start(self._deliver, work)
            except RuntimeError:  # no thread is to be had
                self._give_back(work)
                raise
            started += 1
        return started

    def errand(self, work: Callable[[], object]) -> None:
        """Do other work that talks to a provider, one after the other; not once the desk stops."""
        self._start(self._alone, work)

    def wait(self, seconds: float) -> bool:
        """Until nothing is under way, at most so long; False when something still is."""
        end = time.monotonic() + seconds
        while running := self._under_way():
            left = end - time.monotonic()
            if left <= 0:
                return False
            running[0].join(left)
        return True

    def _next(self) -> Batch | Owed | None:
        """What is ours to send, its place taken; None when nothing may begin now."""
        with self._lock:
            if push.stopping or self._sending.total() >= settings.RELAY_PLACES:
                return None
            work = claim(sending=self._sending, places=PLACES_OF_A_CHANNEL) or notices.claim(
                busy=self._sending
            )
            if work is not None:
                self._sending[work.channel] += 1
            return work

    def _give_back(self, work: Batch | Owed) -> None:
        with self._lock:
            self._sending[work.channel] -= 1
            if not self._sending[work.channel]:
                del self._sending[work.channel]

    def _under_way(self) -> list[threading.Thread]:
        with self._lock:
            return list(self._running)

    def _start[**P](self, work: Callable[P, None], *args: P.args, **named: P.kwargs) -> None:
        def run() -> None:
            try:
                work(*args, **named)
            except (OperationalError, InterfaceError) as problem:
                log.error("a courier lost the database; what is due stays due: %s", problem)
            except DatabaseError:
                log.exception("the database refused a courier; what is due stays due")
            finally:
                connections.close_all()
                with self._lock:
                    self._running.discard(thread)

        thread = threading.Thread(target=run, name="courier", daemon=True)
        with self._lock:
            thread.start()
            self._running.add(thread)

    def _deliver(self, first: Batch | Owed) -> None:
        work: Batch | Owed | None = first
        while work is not None:
            try:
                if isinstance(work, Batch):
                    deliver(work)
                else:
                    notices.send(work)
            finally:
                self._give_back(work)
            work = self._next()

    def _alone(self, work: Callable[[], object]) -> None:
        with self._one_errand:
            if not push.stopping:
                work()


_couriers: Final = _Couriers()
look: Final = _couriers.look
errand: Final = _couriers.errand
wait: Final = _couriers.wait
