"""`manage.py fake_providers`: the chat providers on this machine, for trying channels out."""

import datetime as dt
import json
import re
import signal
import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from django.core.management import BaseCommand, CommandError, CommandParser

from handoff.management.shell import command

_FAKES: Final = "tests.fakes.providers"
_EXAMPLES: Final = "tests.fakes.examples"
_TOKEN: Final = re.compile(r"/bot[^/]+|(?<=/webhooks/)([^/]+)/[^/]+")
"""The parts of a path that are a secret at the real provider."""


class Command(BaseCommand):
    help = (
        "Play Telegram, Slack, Discord and WhatsApp on this machine: print what to set, then every "
        "message that arrives, until Ctrl-C. Nothing reaches a real provider."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8099, help="0 takes a free one")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            fakes, examples = import_module(_FAKES), import_module(_EXAMPLES)
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("tests"):
                raise
            raise CommandError(
                "The fake providers come with the tests, and this installation has none: run it "
                "from the project's own folder."
            ) from error
        try:
            running = fakes.Providers(options["port"], heard=self._show)
        except OSError as error:
            raise CommandError(
                f"Port {options['port']} cannot be taken ({error.strerror}); name another one "
                "with --port."
            ) from error
        examples.furnish(running)
        for way in (signal.SIGINT, signal.SIGTERM):  # a shell may have told us to ignore the first
            signal.signal(way, signal.default_int_handler)
        with running:
            self._introduce(running, fakes.BASES, examples.CONFIGS)
            try:
                threading.Event().wait()
            except KeyboardInterrupt:
                self.stdout.write("Stopped.")

    def _introduce(
        self, running: Any, bases: Mapping[str, str], configs: Mapping[str, Any]
    ) -> None:
        lines = ["Set these where the desk starts, then start it:", ""]
        lines += [f"  {bases[provider]}={running.base(provider)}" for provider in running.fakes]
        lines += ["", "Channels that they know; put the name of your agent in place of AGENT:", ""]
        for provider in running.fakes:
            words = f"new_channel --agent AGENT --kind {provider} --label {provider.capitalize()}"
            lines.append(f"  {command(words)} --config '{json.dumps(configs[provider])}'")
        lines += ["", "What arrives is printed here. Ctrl-C stops it."]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()

    def _show(self, request: Any, answer: Any) -> None:
        """On the thread of the request: one write, so that no two of them mix."""
        path = _TOKEN.sub(lambda found: f"/{found[1]}/…" if found[1] else "/bot…", request.path)
        said = _readable(request.body)
        told = "" if answer is None else f"-> {answer.status} {_readable(answer.written()[1])}"
        now = dt.datetime.now().astimezone().strftime("%H:%M:%S")
        head = f"{now} {request.provider or 'nobody'} {request.method} {path.replace('//', '/')}"
        self.stdout.write("\n".join(filter(None, ["", head, said, told])))
        self.stdout.flush()


def _readable(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body.decode("utf-8", "replace")
