"""The background worker as one thread of the server process."""

import logging
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import close_old_connections

from handoff import push

SWEEP_SECONDS = 60.0
MAX_PAUSE_SECONDS = 5.0

log = logging.getLogger(__name__)


class Worker(threading.Thread):
    """Calls `sweep` at the start and each minute, and `run_due` whenever there may be work.

    Due rows are the truth: a nudge of the topic `work` only makes it look sooner than every
    `WORKER_SECONDS`, and a killed worker loses nothing. `halt()` ends it after the call it is in.
    """

    def __init__(
        self,
        *,
        run_due: Callable[[], object],
        sweep: Callable[[], object],
        when_swept: Callable[[], None],
    ) -> None:
        super().__init__(name="worker", daemon=True)
        self._run_due = run_due
        self._sweep = sweep
        self._when_swept = when_swept
        self._signal = push.thread_signal("work")
        self._halt = threading.Event()
        self._next_sweep = 0.0

    def halt(self) -> None:
        """Ask it to end. Any thread."""
        self._halt.set()
        self._signal.set()

    def run(self) -> None:
        pause = settings.WORKER_SECONDS
        while not self._halt.is_set():
            self._signal.clear()
            if self._halt.is_set():
                return
            try:
                self._turn()
                pause = settings.WORKER_SECONDS
                self._signal.wait(pause)
            except Exception:  # the worker loop: whatever broke, the next row must be tried
                log.exception("background work failed; the next try is in %g s", pause)
                self._pause(pause)
                pause = min(pause * 2, MAX_PAUSE_SECONDS)

    def _turn(self) -> None:
        close_old_connections()
        try:
            try:
                self._sweep_if_due()
            finally:  # what is due must not wait for a sweep that fails each time
                self._run_due()
        finally:
            close_old_connections()

    def _sweep_if_due(self) -> None:
        if time.monotonic() >= self._next_sweep:
            self._sweep()
            self._next_sweep = time.monotonic() + SWEEP_SECONDS
            self._when_swept()

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._halt.is_set() and (left := end - time.monotonic()) > 0:
            self._signal.wait(left)
            self._signal.clear()
