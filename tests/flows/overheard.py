"""Everything that the desk writes or shows while something runs, to look through for secrets."""

import json
import logging
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.core import serializers

from config.logs import mask


class Overheard(logging.Handler):
    """What was written, by where it was written. Logs are kept as they were before any mask."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("{levelname} {name}: {message}", style="{"))
        self.said: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name != "mail.log":  # of the mail server that the tests play
            self.keep(f"log {record.name}", self.format(record))

    def keep(self, where: str, *texts: object) -> None:
        self.said += [(where, str(text)) for text in texts]

    def error(self, where: str, error: BaseException) -> None:
        """An exception as a log, a crash report or a debugger of strings would show it."""
        self.keep(where, *traceback.format_exception(error), repr(error), error.args, vars(error))

    def page(self, where: str, response: Any) -> Any:
        """An HTTP answer of ours, headers included; returns it."""
        body = response.content if hasattr(response, "content") else response.body
        self.keep(f"{where}: {response.headers}", body.decode())
        return response

    def rows(self) -> None:
        """All that stands in the database: the trail, the admin's history, and the rest."""
        for model in apps.get_models():
            for row in serializers.serialize("python", model._default_manager.all()):
                self.keep(f"table {model._meta.label}", json.dumps(row, default=str))
        for entry in LogEntry.objects.all():
            self.keep("admin history", entry.get_change_message(), entry.object_repr)

    def where(self, secrets: Iterable[str], *, masked: bool = False) -> list[tuple[str, str]]:
        """Where any of the secrets stands, with what is around it.

        `masked` looks at the logs as the desk's own handler writes them.
        """
        found = []
        for where, text in self.said:
            shown = mask(text) if masked and where.startswith("log ") else text
            for secret in secrets:
                place = shown.find(secret)
                if place >= 0:
                    found.append((where, shown[max(0, place - 80) : place + 80]))
        return found


@contextmanager
def overhearing() -> Iterator[Overheard]:
    """All loggers at DEBUG."""
    ears = Overheard()
    root = logging.getLogger()
    loggers = [root, *map(logging.getLogger, list(root.manager.loggerDict))]
    levels = [logger.level for logger in loggers]
    root.handlers.insert(0, ears)  # before those that mask the record itself
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    try:
        yield ears
    finally:
        root.removeHandler(ears)
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
