"""One serving process from its start to its end: server, worker, and what holds up the exit."""

import logging
import os
import threading
import time

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections
from django.utils.module_loading import import_string

from config import guard, health
from config.demo import Bot
from config.server import DeskServer
from config.worker import Worker
from handoff import tasks
from handoff.actions import couriers, pollers, webhook_calls
from handoff.actions.refusals import write_folds

WORKER_SECONDS = 10.0
OUTCOME_SECONDS = 2.0
"""For a courier to write down what became of what it sent."""
EXIT_SECONDS = 5.0

log = logging.getLogger(__name__)


def run(host: str, port: int) -> str:
    """Serve until SIGTERM or SIGINT, then drain. Returns why it could not serve, or ""."""
    health.expect_sweep()
    worker = Worker(run_due=tasks.run_due, sweep=tasks.sweep, when_swept=health.swept)
    bot = Bot(host, port)

    def begin() -> None:
        worker.start()
        bot.start()

    def halt() -> None:
        bot.halt()
        worker.halt()

    server = DeskServer(
        import_string(settings.ASGI_APPLICATION),
        host=host,
        port=port,
        cap=settings.MAX_BODY,
        patience=settings.RECEIVE_SECONDS,
        when_ready=begin,
        when_draining=halt,
    )
    server.run()
    if server.failed:
        return f"Cannot listen on {host}, port {port}: {server.failed}"
    _leave(worker)
    return ""


def _leave(worker: Worker) -> None:
    """Join the worker and let couriers finish, then let Python exit; by force when one is stuck.

    The interpreter waits for pool threads without a limit, and one that has an answer for a
    loop which no longer runs never ends.
    """
    end = time.monotonic() + max(WORKER_SECONDS, settings.DISPATCH_SECONDS + OUTCOME_SECONDS)
    if worker.ident is not None:
        worker.join(WORKER_SECONDS)
    sent = couriers.wait(end - time.monotonic())
    webhook_calls.wait(end - time.monotonic())  # what is left is called again, under the same id
    pollers.wait(end - time.monotonic())
    _write_counted()
    if worker.is_alive() or not sent or guard.under_way():
        log.error("left behind at exit: %s", ", ".join(sorted(_others())))
        logging.shutdown()
        os._exit(1)
    connections.close_all()
    last_resort = threading.Timer(EXIT_SECONDS, os._exit, (1,))
    last_resort.daemon = True
    last_resort.start()


def _write_counted() -> None:
    """The last minute's refusals, which were only counted so far."""
    try:
        write_folds(unfinished=True)
    except DatabaseError:
        log.exception("some refusals of the last minute are not on the trail")


def _others() -> set[str]:
    main_thread = threading.main_thread()
    return {thread.name for thread in threading.enumerate() if thread is not main_thread}
