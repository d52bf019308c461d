"""Slack's markup: our messages written in it, and what people write there read back.

https://docs.slack.dev/messaging/formatting-message-text
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from handoff.transports.chat_text import Dialect

TEXT_MAX: Final = 4000
"""Of `text`, which is what notifications show; more is cut in two by Slack."""
BLOCKS_MAX: Final = 10_000
"""Of all sections together. Slack names no limit and refuses from about 11 000 on
(slackapi/bolt-js#2509, #2867)."""
SECTION_MAX: Final = 3000
SECTIONS_MAX: Final = 50
_BAR: Final = "| "
_ESCAPED: Final = re.compile(r"&[a-z]{0,3}$")
_MARK: Final = re.compile(r"<([^<>\n]*)>")
_SCHEME: Final = re.compile(r"^(?:https?://|mailto:|tel:)", re.IGNORECASE)
_LETTERS: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_LETTER: Final = re.compile("|".join(_LETTERS))


class Mrkdwn(Dialect):
    """The markup of sections and of `text`. Three letters are escaped, and nothing else can be:
    a star or a tilde of somebody's changes how their words look, not what they say."""

    release: ClassVar[str] = "!release"  # Slack takes no slash command in a thread

    def __init__(self, limit: int) -> None:
        self.limit = limit  # type: ignore[misc]  # a message has two forms, of two lengths

    def escape(self, text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def bold(self, escaped: str) -> str:
        return f"*{escaped}*"

    def code(self, escaped: str) -> str:
        return f"`{escaped}`"

    def link(self, url: str, escaped_label: str) -> str:
        """Not a button: that would post to us at each click, and may show an error mark."""
        return f"<{self.escape(url).replace('|', '%7C')}|{escaped_label.replace('|', '/')}>"


def sections(text: str) -> list[dict[str, Any]]:
    """The text as blocks that Slack takes, cut between paragraphs where that is possible.

    `verbatim` keeps Slack from finding names, channels and addresses in it by itself.
    """
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": part, "verbatim": True}}
        for part in _parts(text)
    ][:SECTIONS_MAX]


def _parts(text: str) -> Iterator[str]:
    part = ""
    for piece in _pieces(text):
        if part and _size(part) + _size(piece) > SECTION_MAX:
            if kept := part.strip("\n"):
                yield kept
            part = ""
        part += piece
    if kept := part.strip("\n"):
        yield kept


def _pieces(text: str) -> Iterator[str]:
    """Paragraphs with their line ends; of a long one its lines, of a long line its parts."""
    for paragraph in re.split(r"(?<=\n\n)", text):
        if _size(paragraph) <= SECTION_MAX:
            yield paragraph
            continue
        for line in paragraph.splitlines(keepends=True):
            yield from _short_lines(line)


def _short_lines(line: str) -> Iterator[str]:
    """Behind a bar each part stays behind it, so that none of them can pass for a line of ours."""
    bar = _BAR if line.startswith(_BAR) else ""
    while _size(line) > SECTION_MAX:
        end = SECTION_MAX - 1
        while _size(line[:end]) >= SECTION_MAX:
            end -= 1
        end -= len(found.group()) if (found := _ESCAPED.search(line[:end])) else 0
        yield line[:end] + "\n"
        line = bar + line[end:]
    yield line


def _size(text: str) -> int:
    return max(len(text), len(text.encode("utf-16-le")) // 2)


def plain(text: str, *, ourselves: frozenset[str] = frozenset()) -> str:
    """What a person wrote, for display: marks as words, then the three letters, once.

    A mention of the bot itself (`ourselves`, user ids) at the beginning is how some people
    answer one; it is left out.
    """
    if found := re.match(r"\s*<@([A-Z0-9]+)(?:\|[^<>]*)?>[\s:,]*", text):
        text = text[found.end() :] if found[1] in ourselves else text
    text = _MARK.sub(lambda mark: _words(mark[1]), text)
    return _LETTER.sub(lambda letter: _LETTERS[letter.group()], text)


def _words(mark: str) -> str:
    target, _, label = mark.partition("|")
    if target.startswith(("@", "#", "!")):
        if target.startswith("!date^"):
            return label
        shown = label or target[1:].partition("^")[0]
        sign = "#" if target.startswith("#") else "@"
        return shown if shown.startswith(sign) else sign + shown
    address = target.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (target, address):
        return address
    if _SCHEME.sub("", target).rstrip("/") == _SCHEME.sub("", label).rstrip("/"):
        return label  # typed without a scheme, which Slack has added
    return f"{label} ({address})"
