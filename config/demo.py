"""The demo's bot as one thread of the server process, a client of that process like any other."""

import logging
import threading

from django.conf import settings

from handoff.management import demo_bot, demo_token
from handoff.management.demo_desk import Refused

_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  (we connect, we do not bind)

log = logging.getLogger("handoff.demo")


class Bot(threading.Thread):
    """Answers from `start()` to `halt()`. Without a token, or the demo, it ends at once."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(name="demo bot", daemon=True)
        name = "127.0.0.1" if host in _EVERYWHERE else host
        self._address = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
        self._stop_asked = threading.Event()

    def halt(self) -> None:
        """Ask it to end. Any thread; nothing waits for it, since it repeats what it left half."""
        self._stop_asked.set()

    def run(self) -> None:
        token = demo_token.read() if settings.DEMO else ""
        if not token:
            return
        host = settings.ALLOWED_HOSTS[0].removeprefix(".")
        try:
            demo_bot.run(self._address, token, self._stop_asked, host=host)
        except Refused as problem:
            log.error("the demo's bot ended: %s", problem)
