"""HTML as text: what its author typed, and behind `>` what their mail program quoted."""

import re
from typing import Any, Final

from lxml import etree

QUOTES: Final = frozenset(
    {
        "gmail_quote", "gmail_attr", "yahoo_quoted", "moz-cite-prefix", "protonmail_quote",
        "zmail_extra",
    }
)  # fmt: skip
"""Classes of what mail programs put around a quoted mail, beside `blockquote`."""
QUOTE_BEGINS: Final = frozenset({"divRplyFwdMsg", "appendonsend"})
"""Ids of what stands before a quoted mail, which then goes on to the end (Outlook)."""
_SILENT: Final = frozenset({"script", "style", "template", "title"})
_BLOCKS: Final = frozenset(
    {
        "address", "article", "blockquote", "body", "center", "dd", "div", "dl", "dt", "footer",
        "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "ol", "p", "pre",
        "section", "table", "tr", "ul",
    }
)  # fmt: skip
_SPACE: Final = re.compile(r"[ \t\r\n\f\u00a0]+")
_GAPS: Final = re.compile(r"\n{3,}")


def text_of_html(html: str) -> str:
    """Never raises; the work grows with the length and nothing else, whatever the HTML is."""
    writer = _Writer()
    parser = etree.HTMLParser(target=writer, encoding="utf-8", recover=True)
    try:
        parser.feed(html.encode("utf-8", "replace"))
        parser.close()
    except etree.LxmlError:
        pass  # not even an end could be found: what was read before counts
    return _GAPS.sub("\n\n", writer.text()).strip("\n")


class _Writer:
    """What the parser tells of, written down; the names are the parser's."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._open: list[tuple[str, bool]] = []
        """Elements, and whether each is a quote."""
        self._quotes = 0
        self._silent = 0
        self._exact = 0

    def start(self, tag: str, attributes: Any) -> None:
        tag = str(tag).lower()
        classes = frozenset(str(attributes.get("class", "")).split())
        quotes = tag == "blockquote" or not classes.isdisjoint(QUOTES)
        begins = attributes.get("id") in QUOTE_BEGINS
        if tag in _BLOCKS or quotes or begins:
            self._break()
        self._open.append((tag, quotes))
        self._quotes += quotes + begins  # and no end takes back what begins
        self._silent += tag in _SILENT
        self._exact += tag == "pre"
        if tag == "br":
            self._end_line()
        elif tag == "p" and "MsoNormal" not in classes and self._lines:
            self._lines.append(self._prefix().rstrip())
        elif tag == "li":
            self._line.append("- ")
        elif tag in ("td", "th") and self._line:
            self._line.append(" ")

    def end(self, tag: str) -> None:
        tag, quotes = self._open.pop() if self._open else (str(tag), False)
        if tag in _BLOCKS or quotes:
            self._break()
        self._quotes -= quotes
        self._silent -= tag in _SILENT
        self._exact -= tag == "pre"

    def data(self, text: str) -> None:
        if self._silent:
            return
        if self._exact:
            first, *further = text.split("\n")
            self._line.append(first)
            for line in further:
                self._end_line()
                self._line.append(line)
            return
        plain = _SPACE.sub(" ", text)
        goes_on = bool(self._line) and not self._line[-1].endswith(" ")
        self._line.append(plain if goes_on else plain.lstrip(" "))

    def close(self) -> None:
        self._break()

    def text(self) -> str:
        self._break()
        return "\n".join(self._lines)

    def _break(self) -> None:
        """Ends the line that has something in it."""
        if "".join(self._line).strip():
            self._end_line()
        self._line = []

    def _end_line(self) -> None:
        self._lines.append((self._prefix() + "".join(self._line)).rstrip())
        self._line = []

    def _prefix(self) -> str:
        return "> " if self._quotes else ""
