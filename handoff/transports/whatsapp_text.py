"""What a WhatsApp message says: in its markup, beside a button, or as values of a template."""

import dataclasses
import re
from typing import Any, ClassVar, Final

from django.conf import settings
from django.utils.translation import gettext

from handoff.contract.kinds import Urgency
from handoff.transports.base import Closed, Line, Notice, Outgoing, Request
from handoff.transports.chat_text import LABEL_MAX, NAME_MAX, Dialect, Plain, compose
from handoff.transports.email_clip import cut_mark, one_row
from handoff.transports.recipient_place import place
from handoff.transports.whatsapp_settings import WhatsAppSettings

TEXT_MAX: Final = 4096
BODY_MAX: Final = 1024
"""The text beside a button, and a template's with its values."""
BUTTON_MAX: Final = 20
VALUES_MAX: Final = 600
"""What is left of BODY_MAX for a template's values: its own words are the rest."""
JOINER: Final = "\u200d"
"""Takes no room and is no space, so that the mark after it begins nothing."""
_MARK: Final = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s`]+|(?<![^\W_])[*_~]|`"
)
"""An address, which is left alone, or a mark where it may begin a format."""


class WhatsAppText(Dialect):
    """WhatsApp's markup. It has no escape character, and what is copied shall stay the same, so
    only a mark that could begin a format is kept from it.
    """

    limit: ClassVar[int] = TEXT_MAX

    def escape(self, text: str) -> str:
        return _MARK.sub(lambda mark: mark[0] if len(mark[0]) > 1 else JOINER + mark[0], text)

    def bold(self, escaped: str) -> str:
        return f"*{escaped}*" if escaped.strip() == escaped else escaped

    def code(self, escaped: str) -> str:
        return f"`{escaped}`"

    def link(self, url: str, escaped_label: str) -> str:
        return f"{escaped_label}: {url}"


class BesideButton(WhatsAppText):
    """The same where a button opens the form."""

    def link(self, url: str, escaped_label: str) -> str:
        return gettext("%(label)s (the button below)") % {"label": escaped_label}


@dataclasses.dataclass(frozen=True)
class Content:
    """The part of a request to Meta that says what is sent: `type` and its object."""

    type: str
    value: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"type": self.type, self.type: self.value}


def in_window(message: Outgoing, *, replies_are_read: bool) -> Content:
    """A message with a button where it has a link and is short enough, else a text."""
    if isinstance(message, Notice):
        return _text(compose(message, WhatsAppText()))
    request = message if isinstance(message, Request) else None
    with place(message.language, message.timezone):
        # without a conversation there is no visitor to reach
        reached = replies_are_read and request is not None and request.idle_minutes is not None
        answering = gettext("Your replies here reach the visitor.") if reached else ""
        label = gettext("Fill return form") if request else gettext("Return form")
    if not isinstance(message, Line):
        body = compose(message, BesideButton(), answering=answering, is_heard=replies_are_read)
        if WhatsAppText().measure(body) <= BODY_MAX:
            return Content("interactive", _button(body, label, message.return_url))
    text = compose(message, WhatsAppText(), answering=answering, is_heard=replies_are_read)
    return _text(text)


def plain(message: Outgoing, *, replies_are_read: bool) -> Content:
    """What is left to try when Meta refused the message for its form."""
    return _text(compose(message, Plain(BODY_MAX), is_heard=replies_are_read))


def in_template(message: Request | Line | Closed, chosen: WhatsAppSettings) -> Content:
    """The configured template (docs/channels/whatsapp.md): who speaks, what they say, the release
    token, and the form's address unless the button has it.
    """
    link = message.return_url
    with place(message.language, message.timezone):
        heading, words = _heading(message), _words(message)
        values = [heading, "", message.release_token]
        if not chosen.template_has_button:
            values.append(link)
        values[1] = _fit(words, room=VALUES_MAX - sum(map(_length, values)))
    components = [_component("body", values)]
    if chosen.template_has_button:
        suffix = link.removeprefix(f"{settings.PUBLIC_BASE_URL}/r/")
        components.append({**_component("button", [suffix]), "sub_type": "url", "index": "0"})
    return Content(
        "template",
        {
            "name": chosen.template_name,
            "language": {"code": chosen.template_language},
            "components": components,
        },
    )


def body_values(*, with_link: bool) -> int:
    """How many variables the text of the template has."""
    return 4 if with_link else 3


def _text(body: str) -> Content:
    return Content("text", {"body": body, "preview_url": False})


def _button(body: str, label: str, url: str) -> dict[str, Any]:
    label = label if len(label) <= BUTTON_MAX else label[: BUTTON_MAX - 1] + "…"
    return {
        "type": "cta_url",
        "body": {"text": body},
        "action": {"name": "cta_url", "parameters": {"display_text": label, "url": url}},
    }


def _component(kind: str, values: list[str]) -> dict[str, Any]:
    """Meta takes no line break, no tab and no run of spaces in a value, and no empty one."""
    return {"type": kind, "parameters": [{"type": "text", "text": one_row(v)} for v in values]}


def _heading(message: Request | Line | Closed) -> str:
    if isinstance(message, Request):
        return gettext("%(agent)s, an AI agent, asks %(channel)s to take over.") % {
            "agent": _short(message.agent_name, NAME_MAX),
            "channel": _short(message.channel_label, LABEL_MAX),
        }
    if isinstance(message, Closed):
        return gettext("This handoff has ended.")
    return f"{gettext('The visitor:')} {_short(message.subscriber_name, NAME_MAX)}".rstrip()


def _short(text: str, most: int) -> str:
    return WhatsAppText().escape(one_row(text)[:most])


def _words(message: Request | Line | Closed) -> str:
    if isinstance(message, Request):
        urgent = gettext("Urgent.") if message.urgency is Urgency.HIGH else ""
        return f"{urgent} {message.expected_action} – {message.summary}"
    if isinstance(message, Closed):
        return message.reason
    return " – ".join(line.text for line in message.lines)


def _fit(text: str, *, room: int) -> str:
    """One row of somebody's words without a format, cut where there is no more room."""
    row = WhatsAppText().escape(one_row(text))
    if _length(row) <= room:
        return row or "–"
    mark = cut_mark()
    while row and _length(row) > room - _length(mark) - 1:
        row = row[:-1]
    return f"{row.rstrip()} {mark}".lstrip()


def _length(text: str) -> int:
    return WhatsAppText().measure(text)
