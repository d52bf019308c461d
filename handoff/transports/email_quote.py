"""What a person typed in a reply, without the mail that it answers (channels.md 2.8).

Mail programs put that mail below a line or a block of headers in their own language, behind `>` or
not at all; ours begins with a marker. Every rule looks at a line or a few, so that the work grows
with the length and nothing else.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from handoff.transports.email_words import ATTRIBUTIONS, FROM, HEADERS, OPENERS, SEPARATORS

_MARKER: Final = re.compile(r"[-–—]{1,3} ?reply above this line ?[-–—]{1,3}", re.IGNORECASE)
_MARKS: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""What mail programs put around text that runs the other way, or to mark a place."""
_LINE_LOOKED_AT: Final = 400
_COLONS: Final = (":", "\uff1a")
_ADDRESS: Final = re.compile(r"[^\s<>@]{1,64}@[^\s<>@]{1,190}")
_MOMENT: Final = re.compile(r"\b\d{4}\b|\b\d{1,2}[:.]\d{2}\b|\d年")
_VERB: Final = re.compile("|".join(ATTRIBUTIONS), re.IGNORECASE)
_OPENER: Final = re.compile(rf"(?:{'|'.join(OPENERS)})\b", re.IGNORECASE)
_DATE_FIRST: Final = re.compile(r"\d{4} ?[年년./-]")
_LABEL: Final = re.compile(
    rf"[*\s]{{0,4}}(?:(?P<sender>{'|'.join(FROM)})|(?P<other>{'|'.join(HEADERS)}))[*\s]{{0,3}}[:\uff1a]",
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile(rf"[-_ ]{{2,}}(?:{'|'.join(SEPARATORS)})[-_ :]{{1,}}", re.IGNORECASE)
_RULE: Final = re.compile(r"[_-]{8,}")
_HEADER_LINES: Final = 8
_SIGNATURE: Final = "-- "


def without_quotes(text: str) -> str:
    """The reply; of a mail in which nothing is new the whole text, unless it quotes a mail of ours:
    then nothing, since what we wrote to the recipient is for no one else.
    """
    lines = [_MARKS.sub("", line) for line in text.replace("\u00a0", " ").split("\n")]
    said = _said(lines)
    if said or any(_MARKER.search(line[:_LINE_LOOKED_AT]) for line in lines):
        return said
    return text.strip()


def _said(lines: Sequence[str]) -> str:
    """What is typed above the quoted mail, and between the lines of one that stands behind `>`."""
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if _is_quoted(line):
            _drop_introduction(kept)
            at += 1
            continue
        if line == _SIGNATURE or _ends_the_reply(lines, at):
            break
        end = _after_attribution(lines, at)
        if end is None:
            kept.append(line.rstrip())
            at += 1
        elif _next_is_quoted(lines, end):
            at = end
        else:
            break  # the quoted mail follows as it is
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _is_quoted(line: str) -> bool:
    return line.lstrip()[:1] in (">", "\uff1e")


def _next_is_quoted(lines: Sequence[str], at: int) -> bool:
    return _is_quoted(next((line for line in lines[at:] if line.strip()), ""))


def _ends_the_reply(lines: Sequence[str], at: int) -> bool:
    """Whether the quoted mail begins here and goes on to the end."""
    line = lines[at][:_LINE_LOOKED_AT].strip()
    if not line:
        return False
    if _MARKER.search(line) or _SEPARATOR.fullmatch(line):
        return True
    if _RULE.fullmatch(line):
        following = next(
            (n for n in range(at + 1, min(at + 4, len(lines))) if lines[n].strip()), at
        )
        return following > at and _is_header_block(lines, following)
    return _is_header_block(lines, at)


def _is_header_block(lines: Sequence[str], at: int) -> bool:
    """At least three different headers of a mail, its sender among them, line under line."""
    if not _LABEL.match(lines[at][:_LINE_LOOKED_AT]):
        return False
    labels: set[str] = set()
    senders = 0
    for line in lines[at : at + _HEADER_LINES]:
        found = _LABEL.match(line[:_LINE_LOOKED_AT])
        if found is None:
            if not line.strip():
                break
            continue  # a header that goes on
        senders += found["sender"] is not None
        labels.add(_plain(found["sender"] or found["other"]))
    return senders > 0 and len(labels) >= 3


def _after_attribution(lines: Sequence[str], at: int) -> int | None:
    """Where a line such as `On 30 Nov 2026, Mia <mia@x.example> wrote:` ends, which may go over
    three; None when none begins here.
    """
    if not lines[at].strip():
        return None
    joined = ""
    for end in range(at, min(at + 3, len(lines))):
        line = lines[end].strip()
        if not line or len(line) > _LINE_LOOKED_AT:
            return None
        joined = f"{joined} {line}".strip()
        if line.endswith(_COLONS) and _is_attribution(joined):
            return end + 1
    return None


def _is_attribution(line: str) -> bool:
    plain = unicodedata.normalize("NFC", line)
    addressed = _ADDRESS.search(plain) is not None
    if _VERB.search(plain):
        return addressed or (_OPENER.match(plain) is not None and _MOMENT.search(plain) is not None)
    return addressed and _DATE_FIRST.match(plain) is not None


def _drop_introduction(kept: list[str]) -> None:
    """Take back the line that leads over to a quote, in whatever language: it ends with a colon and
    holds an address or a moment.
    """
    last = len(kept) - 1
    while last >= 0 and not kept[last].strip():
        last -= 1
    line = kept[last][:_LINE_LOOKED_AT].strip() if last >= 0 else ""
    if line.endswith(_COLONS) and (_ADDRESS.search(line) or _MOMENT.search(line)):
        del kept[last:]


def _plain(label: str) -> str:
    return " ".join(label.lower().split())
