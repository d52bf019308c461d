"""The trail as CSV, safe to open in a spreadsheet."""

import csv
import datetime as dt
import json
from collections.abc import Iterator
from typing import Final

from django.db.models import QuerySet

from audit.models import Event

COLUMNS: Final = (
    "at",
    "action",
    "actor",
    "agent",
    "other_agent",
    "token",
    "tool",
    "conversation",
    "session",
    "attempt",
    "channel",
    "reason",
    "failure",
    "details",
)
CHUNK: Final = 1000
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet run a cell instead of showing it."""


class _Line:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def lines(events: QuerySet[Event]) -> Iterator[str]:
    """A header and one CSV line for each event, the newest first.

    Read a chunk at a time, each by a query of its own: one over all of a large trail would take
    longer than a serving process waits for the database.
    """
    writer = csv.writer(_Line())
    yield writer.writerow(COLUMNS)
    rows = events.order_by("-pk").values_list("pk", *COLUMNS)
    chunk = list(rows[:CHUNK])
    while chunk:
        for _, *values in chunk:
            yield writer.writerow([cell(value) for value in values])
        chunk = list(rows.filter(pk__lt=chunk[-1][0])[:CHUNK])


def cell(value: object) -> str:
    """One value as text: times in RFC 3339 UTC, details as JSON, nothing that is a formula."""
    if value is None:
        return ""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
