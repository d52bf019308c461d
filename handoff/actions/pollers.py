"""Pollers: a few threads that look into mailboxes and queues which no provider posts to us.

One that hangs holds the thread that looks into it and no other.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections

from handoff import push
from handoff.actions.polls import Looked, lease, look_into, polling
from handoff.actions.relatives import Opened

log = logging.getLogger(__name__)


class Pollers:
    """Threads that look into the channels that `among` names, each when it is due.

    `told` is called with what each look brought.
    """

    def __init__(
        self,
        among: Callable[[], Sequence[Opened]] = polling,
        *,
        told: Callable[[Looked], object] | None = None,
    ) -> None:
        self._among = among
        self._told = told
        self._lock = threading.Lock()
        self._halted = False
        self._running: dict[threading.Thread, Opened] = {}

    def look(self) -> int:
        """Start a thread for each channel that is due, as far as there are places; how many.

        Waits for nobody. A thread that is through takes the next that is due.
        """
        started = 0
        while self._begin():
            started += 1
        return started

    def halt(self) -> None:
        """Begin no further look."""
        self._halted = True

    def wait(self, seconds: float) -> bool:
        """Until nobody looks any more, at most so long; False when somebody still does."""
        end = time.monotonic() + seconds
        while running := self._threads():
            left = end - time.monotonic()
            if left <= 0:
                return False
            running[0].join(left)
        return True

    def _begin(self) -> bool:
        with self._lock:
            one = self._take(list(self._running.values()))
            if one is None:
                return False
            run = functools.partial(self._run, one)
            thread = threading.Thread(target=run, name="poller", daemon=True)
            thread.start()
            self._running[thread] = one
            return True

    def _run(self, first: Opened) -> None:
        me = threading.current_thread()
        one: Opened | None = first
        try:
            while one is not None:
                looked = look_into(one)
                if self._told is not None:
                    self._told(looked)
                one = self._next(me)
        except DatabaseError:
            log.exception("a poller could not reach the database; its channel is due again later")
        finally:
            connections.close_all()
            with self._lock:
                self._running.pop(me, None)

    def _next(self, me: threading.Thread) -> Opened | None:
        with self._lock:
            one = self._take([busy for thread, busy in self._running.items() if thread is not me])
            if one is not None:
                self._running[me] = one
            return one

    def _take(self, busy: Sequence[Opened]) -> Opened | None:
        """A channel whose lease is ours now. Those that share a provider's queue take turns."""
        if push.stopping or self._halted or len(busy) >= settings.POLL_PLACES:
            return None
        for one in self._among():
            if not any(_shares_queue(one, other) for other in busy) and lease(one.channel):
                return one
        return None

    def _threads(self) -> list[threading.Thread]:
        with self._lock:
            return list(self._running)


def _shares_queue(one: Opened, other: Opened) -> bool:
    """Whether both read the same: a queue hands each of its events out once."""
    if one.channel.pk == other.channel.pk:
        return True
    if one.channel.kind != other.channel.kind:
        return False
    return one.transport.shares_account(other.transport)


_pollers: Final = Pollers()
look: Final = _pollers.look
wait: Final = _pollers.wait
