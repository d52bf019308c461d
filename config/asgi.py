"""The whole product as one ASGI application: a router. Importing it starts nothing.

http: health and the waiting routes on the loop, all else through the guard to the threads.
"""

import os

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from config import guard, health, wsgi  # noqa: E402  (they need the settings)
from handoff.realtime import background, routes  # noqa: E402
from handoff.realtime.wire import App, Receive, Scope, Send  # noqa: E402

pages = guard.Guard(wsgi.application, threads=settings.HTTP_THREADS, cap=settings.MAX_BODY)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI 3; any other protocol than http and websocket is refused by name, as Channels does."""
    background.begin()
    if scope["type"] == "http":
        await _for_path(scope["path"])(scope, receive, send)
    elif scope["type"] == "websocket":
        await routes.socket(scope["path"])(scope, receive, send)
    else:
        raise ValueError(f"No application for {scope['type']}")


def _for_path(path: str) -> App:
    if path in health.PATHS:
        return health.application
    return routes.waiting(path) or pages
