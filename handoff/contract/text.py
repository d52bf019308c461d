"""Text hygiene: one function at the border, one for single lines, one for display.

The rules are those of Unicode general categories (UAX #44): Cc control, Cf format, Cs surrogate,
Z* separators. Nothing here knows where a text comes from or where it goes.
"""

import re
import unicodedata
from typing import Final

_REFUSED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BIDI: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_BRACKETS: Final = str.maketrans("[]", "()")
_LINE_BREAKERS: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})


class TextProblem(ValueError):
    """A text that cannot be kept; `reason` continues a sentence: `holds a NUL character`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def clean(text: str) -> str:
    """The text as it is stored: NFC, line ends as LF, trimmed. ZWJ and ZWNJ stay.

    Raises TextProblem on NUL, C0 except tab and line feed, DEL, C1, lone surrogates, U+FFFE and
    U+FFFF: databases, mail and terminals break on them.
    """
    text = text.replace("\r\n", "\n")
    if found := _REFUSED.search(text):
        raise TextProblem(_reason(found.group()))
    return unicodedata.normalize("NFC", text).strip()


def readable(text: str) -> str:
    """The text as typed, but storable: line ends as LF, what clean() refuses as U+FFFD."""
    return _REFUSED.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def scrub(text: str) -> str:
    """As clean(), but never raises: for what a recipient typed, which is kept whatever it is."""
    return clean(readable(text))


def as_name(text: str) -> str:
    """A name that somebody gave, as it is stored: on one line, with single spaces; never raises."""
    return " ".join(scrub(text).split())


def one_line(text: str) -> str:
    """The text on one line that can neither close a bracket nor open one.

    Control, format, surrogate and separator characters become a space each, `[` `]` become
    `(` `)`; trimmed.
    """
    return "".join(
        " " if unicodedata.category(char) in _LINE_BREAKERS else char
        for char in text.translate(_BRACKETS)
    ).strip()


def visible(text: str) -> str:
    r"""The text for display: bidirectional overrides and isolates show as `\u202e`."""
    return _BIDI.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _reason(char: str) -> str:
    code = f"U+{ord(char):04X}"
    if char == "\x00":
        return "holds a NUL character"
    if "\ud800" <= char <= "\udfff":
        return f"holds half of a surrogate pair ({code})"
    if char in "\ufffe\uffff":
        return f"holds {code}, which is not a character"
    return f"holds a control character ({code})"
