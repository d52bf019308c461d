"""What a mail says: subject, text and HTML, in the channel's language and time zone."""

import dataclasses
import datetime as dt
import re
import zoneinfo
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, assert_never

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from handoff.contract.kinds import Urgency
from handoff.transports.base import Closed, Envelope, Line, Outgoing, Request
from handoff.transports.email_clip import TEXT_BYTES, header_words, one_row, parts_of, quoted, shown

SUBJECT_MAX = 150
REPLY_MARKER = "-- reply above this line --"
"""Never translated: it is what cuts the quoted mail off a reply."""

GAPS = re.compile(r"\n{3,}")
"""What absent parts leave behind in a text template; quoted text has no empty line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Body:
    subject: str
    text: str
    html: str
    transcript: str = ""
    """Content of the attachment; empty for none."""


def compose(message: Outgoing, *, replies_are_read: bool, cap: int = TEXT_BYTES) -> Body:
    """The body of one mail.

    `replies_are_read` says whether this desk reads a reply to it; without that nothing is
    promised and the form is named as the way. `cap` bounds all text, in UTF-8 bytes.
    """
    with _place(message):
        values, transcript = _values(message), ""
        if isinstance(message, Request):
            parts = parts_of(message, cap=cap)
            transcript = parts.transcript
            values |= {name: getattr(parts, name) for name in ("expected_action", "summary")}
            values |= {
                "fields": parts.fields.splitlines(),
                "extra_context": parts.extra_context,
                "quoted": {
                    name: quoted(getattr(parts, name))
                    for name in ("expected_action", "summary", "fields", "extra_context")
                },
            }
        values["replies_are_read"] = replies_are_read
        name = _template(message)
        return Body(
            subject=subject_of(message),
            text=GAPS.sub("\n\n", render_to_string(f"mail/{name}.txt", values)).strip() + "\n",
            html=render_to_string(f"mail/{name}.html", values),
            transcript=transcript + "\n" if transcript else "",
        )


def subject_of(message: Envelope) -> str:
    """From our words and the channel's label alone: nothing that an agent wrote stands here."""
    subject = gettext("%(label)s: an AI agent asks for your help") % {
        "label": header_words(message.channel_label)
    }
    if message.earlier_ids:
        subject = f"Re: {subject}"
    return subject if len(subject) <= SUBJECT_MAX else subject[: SUBJECT_MAX - 1] + "…"


def _values(message: Outgoing) -> dict[str, Any]:
    values: dict[str, Any] = {
        "agent_name": one_row(message.agent_name),
        "channel_label": one_row(message.channel_label),
        "return_url": message.return_url,
        "release_line": f"/release {message.release_token}",
        "contact_back_email": one_row(message.contact_back_email),
        "language": translation.get_language(),
        "direction": "rtl" if translation.get_language_bidi() else "ltr",
        "reply_marker": REPLY_MARKER,
    }
    if isinstance(message, Request):
        return values | {
            **_name(message.subscriber_name),
            "urgency": _urgency_words(message.urgency),
            "is_urgent": message.urgency is Urgency.HIGH,
            "idle_minutes": message.idle_minutes,
            "return_until": _when(message.return_until, message.timezone),
            "lives": _how_long(message.return_until - timezone.now()),
            "transcript_count": len(message.transcript),
        }
    if isinstance(message, Line):
        return values | {
            **_name(message.subscriber_name),
            "lines": [
                {
                    "text": shown(line.text),
                    "quoted": quoted(shown(line.text)),
                    "at": _when(line.at, message.timezone),
                }
                for line in message.lines
            ],
        }
    return values | {"reason": one_row(message.reason)}


def _name(given: str) -> dict[str, str]:
    """A name is what somebody typed: it stands behind the bar, as all of their words do."""
    name = one_row(given)
    return {"subscriber_name": name, "quoted_name": quoted(name)}


def _template(message: Outgoing) -> str:
    match message:
        case Request():
            return "request"
        case Line():
            return "line"
        case Closed():
            return "closed"
        case _:
            assert_never(message)


def _urgency_words(urgency: Urgency) -> str:
    return {
        Urgency.LOW: gettext("low"),
        Urgency.NORMAL: gettext("normal"),
        Urgency.HIGH: gettext("high"),
    }[urgency]


def _how_long(span: dt.timedelta) -> str:
    """A span in whole days from two days on, else in whole hours, at least one."""
    hours = max(1, round(span.total_seconds() / 3600))
    if hours < 48:
        return ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours}
    days = round(hours / 24)
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}


def _when(at: dt.datetime, zone_name: str) -> str:
    local = timezone.localtime(at)
    zone = zone_name if str(timezone.get_current_timezone()) == zone_name else "UTC"
    return f"{date_format(local, 'l')}, {date_format(local, 'DATE_FORMAT')}, {local:%H:%M} ({zone})"


@contextmanager
def _place(message: Envelope) -> Iterator[None]:
    """The recipient's language and time zone; what is not known falls back, a mail still goes."""
    known = {code for code, _ in settings.LANGUAGES}
    code = message.language.lower()
    language = next((c for c in (code, code.split("-")[0]) if c in known), settings.LANGUAGE_CODE)
    try:
        zone: dt.tzinfo = zoneinfo.ZoneInfo(message.timezone)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        zone = dt.UTC
    with translation.override(language), timezone.override(zone):
        yield
