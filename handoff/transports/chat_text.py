"""What a message to a chat says: the same parts for every provider, in the provider's own markup.

The link and the release line stand before everything long and are never cut; what is over the
provider's limit is taken from the long parts in the order of channels.md 1.5.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext

from handoff.contract.kinds import Urgency
from handoff.transports.base import Closed, Line, Notice, Outgoing, Request
from handoff.transports.email_clip import (
    CLIP_ORDER,
    UNCLIPPED,
    Parts,
    cut_mark,
    one_row,
    parts_of,
    shown,
)
from handoff.transports.recipient_place import GAPS, how_long, place, when

LABEL_MAX: Final = 100
NAME_MAX: Final = 80
"""Characters of a name that stand before the long parts, which are what is cut."""


class Dialect(ABC):
    """The markup of one provider. What a person or an agent wrote goes through `escape` first."""

    limit: ClassVar[int]
    """The longest message, as `measure` counts it."""
    release: ClassVar[str] = "/release"
    """How the command is typed there."""

    @abstractmethod
    def escape(self, text: str) -> str:
        """Text of somebody else's, so that it is shown as it is and notifies nobody."""

    @abstractmethod
    def bold(self, escaped: str) -> str: ...

    @abstractmethod
    def code(self, escaped: str) -> str:
        """Letters to copy."""

    @abstractmethod
    def link(self, url: str, escaped_label: str) -> str: ...

    def quote(self, escaped: str) -> str:
        """Words of somebody else's as a block, so that no line of them can pass for one of ours."""
        return "\n".join(f"| {line}".rstrip() for line in escaped.split("\n"))

    def measure(self, text: str) -> int:
        """How long the provider finds a text: the most pessimistic of the ways to count."""
        return max(len(text), len(text.encode("utf-16-le")) // 2)


class Plain(Dialect):
    """No markup at all: what is left to try when a provider refuses the formatted message."""

    def __init__(self, limit: int, release: str = "/release") -> None:
        self.limit = limit  # type: ignore[misc]  # that of the provider that refused
        self.release = release  # type: ignore[misc]

    def escape(self, text: str) -> str:
        return text

    def bold(self, escaped: str) -> str:
        return escaped

    def code(self, escaped: str) -> str:
        return escaped

    def link(self, url: str, escaped_label: str) -> str:
        return f"{escaped_label}: {url}"


def compose(
    message: Outgoing, dialect: Dialect, *, answering: str = "", is_heard: bool = True
) -> str:
    """The text of one message, at most `dialect.limit` long, in the recipient's language.

    `answering` is our own sentence that says how to reply in this chat, plain text; "" promises
    nothing. Without `is_heard` nobody reads what is written there, the release line included. The
    link and the release line are never cut.
    """
    if isinstance(message, Notice):
        with place(message.language, "UTC"):
            return _cut(dialect.escape(shown(message.text)), dialect)
    with place(message.language, message.timezone):
        if isinstance(message, Request):
            return _request(message, dialect, answering=answering, is_heard=is_heard)
        if isinstance(message, Line):
            return _line(message, dialect)
        return _closed(message, dialect)


def _request(message: Request, dialect: Dialect, *, answering: str, is_heard: bool) -> str:
    values = {
        "is_urgent": message.urgency is Urgency.HIGH,
        "urgent": dialect.bold(dialect.escape(gettext("Urgent."))),
        "title": _title(message.agent_name, message.channel_label, dialect),
        "form_link": dialect.link(message.return_url, dialect.escape(gettext("Fill return form"))),
        "answering": dialect.escape(answering),
        "is_heard": is_heard,
        "release_line": dialect.code(dialect.escape(f"{dialect.release} {message.release_token}")),
        "return_until": dialect.escape(when(message.return_until, message.timezone)),
        "lives": dialect.escape(how_long(message.return_until - timezone.now())),
        "idle_minutes": message.idle_minutes,
        "subscriber_name": _short(message.subscriber_name, dialect),
        "contact_back_email": _short(message.contact_back_email, dialect),
        "headings": {
            name: dialect.bold(dialect.escape(words))
            for name, words in {
                "expected_action": gettext("What is needed from you (written by an AI agent):"),
                "summary": gettext("What is happening (written by an AI agent):"),
                "subscriber_name": gettext("The visitor’s name, as it was given:"),
                "contact_back_email": gettext("Contact address of the visitor:"),
                "fields": gettext("What the form asks for (written by an AI agent):"),
                "extra_context": gettext("More context (written by an AI agent):"),
                "transcript": gettext("The recent conversation:"),
            }.items()
        },
    }
    whole = parts_of(message, cap=UNCLIPPED)
    sizes = {name: len(getattr(whole, name)) for name in CLIP_ORDER}
    for name in CLIP_ORDER:
        text = _render(values, whole, sizes, dialect)
        if dialect.measure(text) <= dialect.limit:
            return text
        sizes[name] = _fitting(values, whole, sizes, name, dialect)
    return _render(values, whole, sizes, dialect)


def _fitting(
    values: dict[str, Any], whole: Parts, sizes: dict[str, int], name: str, dialect: Dialect
) -> int:
    """How many characters of one part may stay; 0 when it has to go whole."""
    low, high = 0, sizes[name]
    while low < high:
        middle = (low + high + 1) // 2
        text = _render(values, whole, {**sizes, name: middle}, dialect)
        low, high = (middle, high) if dialect.measure(text) <= dialect.limit else (low, middle - 1)
    return low


def _render(values: dict[str, Any], whole: Parts, sizes: dict[str, int], dialect: Dialect) -> str:
    parts = {
        name: _part(getattr(whole, name), size, dialect, newest=name == "transcript")
        for name, size in sizes.items()
    }
    return _tidy(render_to_string("channel/request.txt", {**values, **parts}))


def _part(text: str, size: int, dialect: Dialect, *, newest: bool) -> str:
    """The beginning of one part, or of the transcript the newest lines, with the mark of a cut."""
    if size < len(text):
        mark = cut_mark()
        if newest:
            kept = text[len(text) - size :].partition("\n")[2]
            text = f"{mark}\n{kept}".rstrip()
        else:
            text = f"{text[:size].rstrip()} {mark}".lstrip()
    return dialect.quote(dialect.escape(text)) if text else ""


def _line(message: Line, dialect: Dialect) -> str:
    name = _short(message.subscriber_name, dialect)
    who = dialect.bold(dialect.escape(gettext("The visitor:")))
    if name:
        who = f"{who} {name}"
    texts = [shown(line.text) for line in message.lines]

    def rendered(room: int) -> str:
        lines = [
            {"who": who, "text": _part(text, min(room, len(text)), dialect, newest=False)}
            for text in texts
        ]
        return _tidy(render_to_string("channel/line.txt", {"lines": lines}))

    low, high = 0, max(map(len, texts))
    while low < high:
        middle = (low + high + 1) // 2
        fits = dialect.measure(rendered(middle)) <= dialect.limit
        low, high = (middle, high) if fits else (low, middle - 1)
    return rendered(low)


def _closed(message: Closed, dialect: Dialect) -> str:
    values = {
        "title": dialect.bold(dialect.escape(gettext("This handoff has ended."))),
        "reason": dialect.escape(one_row(message.reason)),
        "form_link": dialect.link(message.return_url, dialect.escape(gettext("Return form"))),
    }
    return _tidy(render_to_string("channel/closed.txt", values))


def _title(agent_name: str, channel_label: str, dialect: Dialect) -> str:
    words = gettext("%(agent)s, an AI agent, asks %(channel)s to take over.") % {
        "agent": one_row(agent_name)[:NAME_MAX],
        "channel": one_row(channel_label)[:LABEL_MAX],
    }
    return dialect.bold(dialect.escape(words))


def _short(given: str, dialect: Dialect) -> str:
    return dialect.escape(one_row(given)[:NAME_MAX])


def _cut(text: str, dialect: Dialect) -> str:
    while dialect.measure(text) > dialect.limit:
        text = text[: dialect.limit - 1].rstrip() + "…"
    return text


def _tidy(text: str) -> str:
    return GAPS.sub("\n\n", text).strip()
