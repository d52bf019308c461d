"""The long parts of a mail, made fit for text and kept under the size cap."""

import dataclasses
from collections.abc import Sequence

from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import pgettext as pg

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import Author, FieldType
from handoff.contract.text import scrub, visible
from handoff.transports.base import Request, TranscriptLine

TEXT_BYTES = 100_000
"""Cap of all text in one mail, transcript included, in UTF-8 bytes."""
OUR_WORDS_BYTES = 6_000
"""Kept free of that for our own sentences, the link and the release line, in any language."""
UNCLIPPED = 10_000_000
"""A cap that no request reaches: for whoever cuts by another measure."""
CLIP_ORDER = ("transcript", "extra_context", "fields", "summary", "expected_action")
QUOTE = "| "


@dataclasses.dataclass(frozen=True, kw_only=True)
class Parts:
    """What an agent or a visitor wrote, as plain text with LF line ends."""

    expected_action: str
    summary: str
    fields: str = ""
    extra_context: str = ""
    transcript: str = ""


def shown(text: str) -> str:
    """A text that any mail can carry, with bidirectional overrides made visible.

    Its lines end with LF and nothing else: whatever a reader may take for the end of a line, such
    as U+2028, is one here already, so that what is put before each line stands before each line.
    """
    return "\n".join(visible(scrub(text)).splitlines())


def one_row(text: str) -> str:
    """A text on one row, with every run of white space as one space."""
    return " ".join(shown(text).split())


def header_words(text: str) -> str:
    """One row for a header, in which nothing reads as an encoded word (RFC 2047)."""
    return one_row(text).replace("=?", "= ?")


def quoted(text: str) -> str:
    """Each line behind a bar, so that no line of the agent's can pass for one of ours."""
    return "\n".join((QUOTE + line).rstrip() for line in text.splitlines())


def parts_of(message: Request, *, cap: int = TEXT_BYTES) -> Parts:
    """The parts of one request, clipped in the order of channels.md 1.5 until they fit `cap`."""
    parts = Parts(
        expected_action=shown(message.expected_action),
        summary=shown(message.summary),
        fields="\n".join(
            _field_row(number, field) for number, field in enumerate(message.fields, 1)
        ),
        extra_context="\n".join(
            f"{one_row(key)}: {shown(value)}" for key, value in message.extra_context
        ),
        transcript=_transcript(message.transcript),
    )
    over = sum(_weight(getattr(parts, name)) for name in CLIP_ORDER) - (cap - OUR_WORDS_BYTES)
    for name in CLIP_ORDER:
        if over <= 0:
            break
        whole = getattr(parts, name)
        room = _weight(whole) - over
        clipped = _newest(whole, room) if name == "transcript" else _clip(whole, room)
        parts = dataclasses.replace(parts, **{name: clipped})
        over -= _weight(whole) - _weight(clipped)
    return parts


def _weight(text: str) -> int:
    """Bytes in the text body: UTF-8 and the bar before each line."""
    return len(text.encode()) + len(QUOTE) * len(text.splitlines())


def _clip(text: str, room: int) -> str:
    """The beginning that fits, closed by the mark; the mark alone when nothing does."""
    if not text:
        return text
    mark = cut_mark()
    fits = max(0, room - _weight(mark) - 1)
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _weight(text[:middle]) <= fits else (low, middle - 1)
    return f"{text[:low].rstrip()} {mark}".strip()


def _newest(text: str, room: int) -> str:
    """The newest lines of a transcript that fit; what was said last matters most.

    The first line says that there were more.
    """
    if not text:
        return text
    first = pg("below this line stands only a part", "Earlier messages:") + f" {cut_mark()}"
    room -= _weight(first) + 1
    kept: list[str] = []
    for line in reversed(text.split("\n")):
        room -= _weight(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([first, *reversed(kept)])


def cut_mark() -> str:
    return pg("end of a shortened text", "… (in the form)")


def _field_row(number: int, field: ReturnField) -> str:
    facts = [_type_words(field.type)]
    if field.required:
        facts.append(gettext("required"))
    row = f"{number}. {one_row(field.title)} ({', '.join(facts)})"
    if field.description:
        row += f": {one_row(field.description)}"
    if field.enum_values:
        row += " – " + " / ".join(one_row(value) for value in field.enum_values)
    return row


def _type_words(kind: FieldType) -> str:
    return {
        FieldType.STRING: gettext("text"),
        FieldType.MULTILINE: gettext("longer text"),
        FieldType.NUMBER: gettext("number"),
        FieldType.BOOLEAN: gettext("yes or no"),
        FieldType.ENUM: gettext("one choice"),
        FieldType.DATE: gettext("date"),
        FieldType.URL: gettext("web address"),
    }[kind]


def _transcript(lines: Sequence[TranscriptLine]) -> str:
    return "\n".join(_transcript_row(line) for line in lines)


def _transcript_row(line: TranscriptLine) -> str:
    """One message. Only its first line begins at the margin, and that with our words: a name can
    say what it likes, who speaks stands before it.
    """
    name = one_row(line.name)
    author = _author_words(line.author)
    who = f"{author} ({name})" if name else author
    text = shown(line.text).replace("\n", "\n    ")
    return f"[{localtime(line.at):%Y-%m-%d %H:%M}] {who}: {text}"


def _author_words(author: Author) -> str:
    return {
        Author.SUBSCRIBER: gettext("visitor"),
        Author.AGENT: gettext("AI agent"),
        Author.PERSON: gettext("person"),
        Author.SIBLING: gettext("another AI agent"),
        Author.SYSTEM: gettext("system"),
    }[author]
