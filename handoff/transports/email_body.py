"""What a mail says: subject, text and HTML, in the channel's language and time zone."""

import dataclasses
from typing import Any, assert_never

from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext

from handoff.contract.kinds import Urgency
from handoff.transports.base import Closed, Envelope, Line, Notice, Request
from handoff.transports.email_clip import TEXT_BYTES, header_words, one_row, parts_of, quoted, shown
from handoff.transports.recipient_place import GAPS, how_long, place, when

SUBJECT_MAX = 150
REPLY_MARKER = "-- reply above this line --"
"""Never translated: it is what cuts the quoted mail off a reply."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Body:
    subject: str
    text: str
    html: str
    transcript: str = ""
    """Content of the attachment; empty for none."""


def compose(
    message: Request | Line | Closed | Notice, *, replies_are_read: bool, cap: int = TEXT_BYTES
) -> Body:
    """The body of one mail.

    `replies_are_read` says whether this desk reads a reply to it; without that nothing is
    promised and the form is named as the way. `cap` bounds all text, in UTF-8 bytes.
    """
    if isinstance(message, Notice):
        return _notice(message, replies_are_read=replies_are_read)
    with place(message.language, message.timezone):
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


def _notice(notice: Notice, *, replies_are_read: bool) -> Body:
    """A sentence of ours to somebody who wrote to us."""
    with place(notice.language, "UTC"):
        values = {
            "paragraphs": [
                one_row(line) for line in shown(notice.text).split("\n") if line.strip()
            ],
            "language": translation.get_language(),
            "direction": "rtl" if translation.get_language_bidi() else "ltr",
            "reply_marker": REPLY_MARKER,
            "replies_are_read": replies_are_read,
        }
        subject = gettext("About your reply to the handoff desk")
        return Body(
            subject=subject,
            text=GAPS.sub("\n\n", render_to_string("mail/notice.txt", values)).strip() + "\n",
            html=render_to_string("mail/notice.html", values),
        )


def _values(message: Request | Line | Closed) -> dict[str, Any]:
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
            "return_until": when(message.return_until, message.timezone),
            "lives": how_long(message.return_until - timezone.now()),
            "transcript_count": len(message.transcript),
        }
    if isinstance(message, Line):
        return values | {
            **_name(message.subscriber_name),
            "lines": [
                {
                    "text": shown(line.text),
                    "quoted": quoted(shown(line.text)),
                    "at": when(line.at, message.timezone),
                }
                for line in message.lines
            ],
        }
    return values | {"reason": one_row(message.reason)}


def _name(given: str) -> dict[str, str]:
    """A name is what somebody typed: it stands behind the bar, as all of their words do."""
    name = one_row(given)
    return {"subscriber_name": name, "quoted_name": quoted(name)}


def _template(message: Request | Line | Closed) -> str:
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
