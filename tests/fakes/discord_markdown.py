"""What Discord's apps make of a message's content: the words, and everything that isn't words.

A reader of its own, written from the help pages and what people found out, so that what the desk
escapes is judged by something else than the desk. It errs on the strict side: a star counts as
markup whether or not a second one closes it.
"""

import dataclasses
import re
from typing import Final

_LINE: Final = re.compile(
    r"(?P<quote>>>?>? )|(?P<heading>#{1,3} |-# )|(?P<list> *(?:[-*+]|\d+\.) )"
)
_INLINE: Final = re.compile(
    r"\\(?P<escaped>[^0-9A-Za-z\s])"
    r"|<(?P<bare>https?://[^\s>]+)>"
    r"|(?P<link>(?<!\w)https?://[^\s<]+[^\s<.,:;\"'\]])"
    r"|(?P<code>`[^`]+`)"
    r"|(?P<mention><(?:@[!&]?|#|t:|id:|/[\w -]+:|a?:\w+:)[^>\s]*>|@everyone|@here)"
    r"|(?P<emoji>:[\w~+-]+:)"
    r"|(?P<masked>\[[^\]]*\]\([^)]*\))"
    r"|(?P<style>[*_~`|]+)"
)


@dataclasses.dataclass(frozen=True)
class Line:
    words: str
    effects: tuple[str, ...]
    """Names of what is not words, such as `quote`, `style`, `mention`, `masked`."""

    @property
    def is_quoted(self) -> bool:
        return "quote" in self.effects


def read(content: str) -> list[Line]:
    return [_line(line) for line in content.split("\n")]


def quoted(content: str) -> list[Line]:
    """The lines of somebody else's words."""
    return [line for line in read(content) if line.is_quoted]


def _line(line: str) -> Line:
    effects: list[str] = []
    while found := _LINE.match(line):
        effects.append(str(found.lastgroup))
        line = line[found.end() :]

    def words(found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        if kind == "escaped":
            return found["escaped"]
        effects.append(kind)
        if kind in ("bare", "link"):
            return found[kind]
        return found.group().strip("`") if kind == "code" else found.group()

    shown = _INLINE.sub(words, line)
    return Line(shown, tuple(effects))
