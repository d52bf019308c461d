"""The recipient's language, time zone and way to write a moment, whatever the channel."""

import datetime as dt
import re
import zoneinfo
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import ngettext

GAPS: Final = re.compile(r"\n{3,}")
"""What absent parts leave behind in a text template; quoted text has no empty line."""


def how_long(span: dt.timedelta) -> str:
    """A span in whole days from two days on, else in whole hours, at least one."""
    hours = max(1, round(span.total_seconds() / 3600))
    if hours < 48:
        return ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours}
    days = round(hours / 24)
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}


def when(at: dt.datetime, zone_name: str) -> str:
    local = timezone.localtime(at)
    zone = zone_name if str(timezone.get_current_timezone()) == zone_name else "UTC"
    return f"{date_format(local, 'l')}, {date_format(local, 'DATE_FORMAT')}, {local:%H:%M} ({zone})"


@contextmanager
def place(language: str, zone_name: str) -> Iterator[None]:
    """Speak to the recipient; what is not known falls back, the message still goes."""
    known = {code for code, _ in settings.LANGUAGES}
    code = language.lower()
    spoken = next((c for c in (code, code.split("-")[0]) if c in known), settings.LANGUAGE_CODE)
    try:
        zone: dt.tzinfo = zoneinfo.ZoneInfo(zone_name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        zone = dt.UTC
    with translation.override(spoken), timezone.override(zone):
        yield
