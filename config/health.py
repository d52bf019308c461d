"""`/healthz` and `/readyz`, answered on the loop: a full pool of threads does not hide them."""

import asyncio

from django.db import Error as DatabaseError
from django.db import connection, transaction

import audit.trail
from handoff import push
from handoff.actions.writing import writing
from handoff.realtime import reading
from handoff.realtime.wire import Receive, Scope, Send, answer, as_json

PATHS = frozenset({"/healthz", "/readyz"})
DATABASE_SECONDS = 2.0

_sweeping = False


def expect_sweep() -> None:
    """Not ready until `swept`: the process that runs the worker says so before it listens."""
    global _sweeping
    _sweeping = True


def swept() -> None:
    """What a killed process left behind has been taken up."""
    global _sweeping
    _sweeping = False


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] not in ("GET", "HEAD"):
        body = as_json({"error": "Only GET is answered here."})
        await answer(send, 405, body, extra=[(b"allow", b"GET, HEAD")])
        return
    why = await _not_ready() if scope["path"] == "/readyz" else ""
    if why:
        await answer(send, 503, as_json({"status": why}), extra=[(b"retry-after", b"5")])
    else:
        await answer(send, 200, as_json({"status": "ok"}))


async def _not_ready() -> str:
    if push.stopping:
        return "stopping"
    if _sweeping:
        return "starting"
    try:
        async with asyncio.timeout(DATABASE_SECONDS):
            return await reading.shared(_what_is_broken)
    except TimeoutError:
        return "no database"


def _what_is_broken() -> str:
    """ "" when the database answers and the trail takes a row, which is then taken back."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "no database"
    try:
        with writing():
            audit.trail.record("audit.probed")
            transaction.set_rollback(True)
    except DatabaseError:
        return "no audit trail"
    return ""
