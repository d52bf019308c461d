"""Telegram's HTML mode as its server reads it: strict, with its words for what is wrong."""

import dataclasses
import re
from typing import Final

TAGS: Final = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline",
    "ins": "underline", "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough",
    "code": "code", "pre": "pre", "blockquote": "blockquote", "a": "text_link",
    "tg-spoiler": "spoiler", "span": "spoiler",
}  # fmt: skip
"""The tags that it knows, and what they make of a text."""
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
"""The only names of characters that it knows; the semicolon may be missing."""
_REFERENCE: Final = re.compile(r"&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z]+));?")
_ATTRIBUTE: Final = re.compile(r"\s*([^\s=>]+)\s*(=)?\s*(?:\"([^\"]*)\"|'([^']*)'|([\w.-]*))")
_FOUND: Final = {
    "mention": re.compile(r"(?<!\w)@[A-Za-z0-9_]{2,32}"),
    "bot_command": re.compile(r"(?<![\w/])/[A-Za-z0-9_]{1,32}(?:@[A-Za-z0-9_]{3,32})?(?![\w/])"),
    "url": re.compile(r"https?://[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:/[^\s<>]*)?"),
}


class ParseError(Exception):
    """The message is what stands after `can't parse entities: `."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entity:
    type: str
    offset: int
    """In UTF-16 units, as `length` is."""
    length: int
    text: str
    url: str = ""

    def as_json(self) -> dict[str, object]:
        found: dict[str, object] = {
            "type": self.type,
            "offset": self.offset,
            "length": self.length,
        }
        return found | ({"url": self.url} if self.url else {})


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def parse(source: str) -> tuple[str, list[Entity]]:
    """The text without its markup, and what the markup said. Raises ParseError."""
    return _Reader(source).read()


def found_in(text: str, entities: list[Entity]) -> list[Entity]:
    """What it finds in a text by itself: names that ring, commands, addresses; never in code."""
    made: list[Entity] = []
    for kind, pattern in _FOUND.items():
        for match in pattern.finditer(text):
            offset = units(text[: match.start()])
            code = [e for e in entities if e.type in ("code", "pre", "text_link")]
            if not any(e.offset <= offset < e.offset + e.length for e in code):
                made.append(Entity(type=kind, offset=offset, length=units(match[0]), text=match[0]))
    return made


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.text = ""
        self.open: list[tuple[str, str, int]] = []
        """Tag, its address, and where in `text` it began."""
        self.entities: list[Entity] = []

    def read(self) -> tuple[str, list[Entity]]:
        while self.at < len(self.source):
            char = self.source[self.at]
            if char == "&":
                self._reference()
            elif char != "<":
                self.text += char
                self.at += 1
            elif self.source[self.at + 1 : self.at + 2] == "/":
                self._end_tag()
            else:
                self._start_tag()
        if self.open:
            tag = self.open[-1][0]
            raise ParseError(f'Can\'t find end tag corresponding to start tag "{tag}"')
        return self.text, sorted(self.entities, key=lambda e: (e.offset, -e.length))

    def _byte(self, at: int) -> int:
        return len(self.source[:at].encode())

    def _reference(self) -> None:
        match = _REFERENCE.match(self.source, self.at)
        char = _character(match) if match else ""
        if match is None or not char:
            self.text += "&"
            self.at += 1
            return
        self.text += char
        self.at = match.end()

    def _start_tag(self) -> None:
        begin = self.at
        name = re.compile(r"[^\s>]*").match(self.source, begin + 1)
        assert name is not None
        at = name.end()
        if at >= len(self.source):
            raise ParseError(f"Unclosed start tag at byte offset {self._byte(begin)}")
        tag = name[0].lower()
        if tag not in TAGS:
            raise ParseError(f'Unsupported start tag "{tag}" at byte offset {self._byte(begin)}')
        url = ""
        while self.source[at : at + 1] != ">":
            attribute = _ATTRIBUTE.match(self.source, at)
            if attribute is None or attribute.end() >= len(self.source):
                raise ParseError(f"Unclosed start tag at byte offset {self._byte(begin)}")
            if attribute[2] is None:
                raise ParseError(
                    "Expected equal sign in declaration of an attribute of the tag "
                    f'"{tag}" at byte offset {self._byte(begin)}'
                )
            if tag == "a" and attribute[1] == "href":
                value = attribute[3] or attribute[4] or attribute[5] or ""
                url = _REFERENCE.sub(lambda match: _character(match) or match[0], value)
            at = attribute.end()
            while self.source[at : at + 1].isspace():
                at += 1
        if tag == "span":
            raise ParseError(
                f'Tag "span" must have class "tg-spoiler" at byte offset {self._byte(begin)}'
            )
        self.open.append((tag, url, len(self.text)))
        self.at = at + 1

    def _end_tag(self) -> None:
        begin = self.at
        if not self.open:
            raise ParseError(f"Unexpected end tag at byte offset {self._byte(begin)}")
        match = re.compile(r"</([^\s>]*)\s*>").match(self.source, begin)
        if match is None:
            raise ParseError(f"Unclosed end tag at byte offset {self._byte(begin)}")
        tag, url, start = self.open.pop()
        if match[1] and match[1].lower() != tag:
            raise ParseError(
                f"Unmatched end tag at byte offset {self._byte(begin)}, "
                f'expected "</{tag}>", found "</{match[1].lower()}>"'
            )
        self.at = match.end()
        said = self.text[start:]
        if tag == "a" and not leads_somewhere(url):
            return  # the words stay, and lead nowhere
        if said:
            self.entities.append(
                Entity(
                    type=TAGS[tag],
                    offset=units(self.text[:start]),
                    length=units(said),
                    text=said,
                    url=url,
                )
            )


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return _NAMED.get(match[3], "")
    code = int(match[1], 16) if match[1] else int(match[2])
    if code == 0 or code >= 0x10FFFF:
        return ""
    if 0xD800 <= code <= 0xDFFF:
        raise ParseError("Text contains invalid Unicode characters after decoding HTML entities")
    return chr(code)


def leads_somewhere(url: str) -> bool:
    """Whether its server takes an address for one: the host has a dot, or is an IPv6 address."""
    match = re.fullmatch(r"(?:https?|tg)://(\[[0-9a-f:.]+\]|[^/:?#\s]+)(?::\d+)?(?:[/?#]\S*)?", url)
    return match is not None and ("." in match[1] or match[1].startswith("["))
