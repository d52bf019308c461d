"""`manage.py demo_agent`: the demo's bot as a program of its own, against any desk.

The bot in `handoff/management/demo_bot.py` is an ordinary client of the REST API: it reads no
table and no setting of the desk, and is the example to copy from.
"""

import signal
import threading
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from handoff.management import demo_bot
from handoff.management.demo_desk import Refused


class Command(BaseCommand):
    help = "Run the demo's bot against a desk until it is interrupted."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", required=True, help="address of the desk")
        parser.add_argument("--token", required=True, help="the agent's token, hd_…")

    def handle(self, *args: Any, url: str, token: str, **options: Any) -> None:
        stop = threading.Event()
        for ending in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ending, lambda *_: stop.set())
        self.stdout.write(f"The bot answers at {url}. Ctrl-C ends it.")
        bot = threading.Thread(target=self._run, args=(url, token, stop), daemon=True)
        self._problem = ""
        bot.start()
        stop.wait()
        if self._problem:
            raise CommandError(self._problem)

    def _run(self, url: str, token: str, stop: threading.Event) -> None:
        try:
            demo_bot.run(url, token, stop)
        except (Refused, ValueError) as problem:
            self._problem = f"The bot ended. {problem}"
        finally:
            stop.set()
