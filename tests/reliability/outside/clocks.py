"""Shortens the clocks that are constants, so that a quick test sees the same order of events."""

import os
from typing import Final

from config import worker
from handoff.actions import outbox, reconcile, webhook_queue

VARIABLE: Final = "TEST_SHORT_CLOCKS"


def install() -> None:
    if os.environ.get(VARIABLE) == "1":
        reconcile.GRACE_SECONDS = 0.5  # type: ignore[misc]
        worker.SWEEP_SECONDS = 1.0
        outbox.LEASE_SECONDS = 1.0  # type: ignore[misc]
        webhook_queue.LEASE_SECONDS = 1.0  # type: ignore[misc]
        webhook_queue.BACKOFF_SECONDS = (0.2, 0.2, 0.5, *[1.0] * 20)  # type: ignore[misc,assignment]
