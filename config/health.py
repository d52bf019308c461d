"""`/healthz` and `/readyz`, answered on the loop: a full pool of threads does not hide them."""

import asyncio

from django.db import DatabaseError, connection

from handoff import push
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
            await reading.run(_ask_database)
    except (DatabaseError, TimeoutError):
        return "no database"
    return ""


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
