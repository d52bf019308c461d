"""What may be attached to a line: names, types that their content proves, and how much.

The types are recognised here and not by a library: libmagic knows hundreds of formats and guesses,
while a desk takes a dozen and has to refuse whatever is not plainly one of them.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from typing import BinaryIO, Final

from handoff.contract import text

FILE_BYTES: Final = 10 * 1024 * 1024
BODY_BYTES: Final = FILE_BYTES + 64 * 1024
"""A file with what a form puts around it."""
FILES_PER_MESSAGE: Final = 5
NAME_MAX: Final = 120
BLOCK: Final = 64 * 1024
LEAST_BYTES: Final = 4096
"""What a file counts at least: its row, and its place in a folder."""

JPEG: Final = "image/jpeg"
PDF: Final = "application/pdf"
PLAIN: Final = "text/plain"
CSV: Final = "text/csv"
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
DOCX: Final = f"{_OFFICE}.wordprocessingml.document"
XLSX: Final = f"{_OFFICE}.spreadsheetml.sheet"
PPTX: Final = f"{_OFFICE}.presentationml.presentation"

SUFFIXES: Final[dict[str, tuple[str, ...]]] = {
    "image/png": (".png",),
    JPEG: (".jpg", ".jpeg"),
    "image/gif": (".gif",),
    "image/webp": (".webp",),
    PDF: (".pdf",),
    PLAIN: (".txt", ".log", ".md"),
    CSV: (".csv",),
    DOCX: (".docx",),
    XLSX: (".xlsx",),
    PPTX: (".pptx",),
}
"""Every type that can be allowed, with the endings that its names may have."""
UNDECLARED: Final = frozenset({"", "application/octet-stream"})
_SAME: Final = {"image/jpg": JPEG, "image/pjpeg": JPEG, "application/vnd.ms-excel": CSV}
_PARTS: Final = {b"word/": DOCX, b"xl/": XLSX, b"ppt/": PPTX}
_FIRST_PARTS: Final = (b"[Content_Types].xml", b"_rels/", b"docProps/", *_PARTS)
_MACROS: Final = b"vbaProject"
_TEXTS: Final = frozenset({PLAIN, CSV})
_MARKUP: Final = re.compile(
    rb"<\s*(?:!doctype|!--|[?!]|/?(?:html|head|body|title|meta|script|style|svg|math|iframe|object|"
    rb"embed|link|img|form|base|a|div|span|p|table|template|xsl:\w+)[\s/>])",
    re.IGNORECASE,
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
_SEPARATORS: Final = re.compile(r"[/\\:*?\"<>|%]+")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Why(StrEnum):
    """Why a file is not taken; the trail says so."""

    TYPE = "type"
    NUMBER = "number"
    """Its conversation holds as many as it may."""
    SIZE = "size"
    """Those of its conversation take as much as they may."""
    AGENT = "agent"
    DESK = "desk"
    STORAGE = "storage"


def charged(size: int) -> int:
    """What a file of so many bytes counts against the room that there is."""
    return max(size, LEAST_BYTES)


def named(given: str, kind: str) -> str:
    """A name to show and to save under: no path, no character that hides or turns others round.

    At most NAME_MAX characters, with an ending that `kind` has.
    """
    kept = _plain(given)
    endings = SUFFIXES[kind]
    ending = next((end for end in endings if kept.lower().endswith(end)), "")
    stem = kept[: -len(ending)] if ending else kept
    ending = kept[len(stem) :] or endings[0]
    return (stem[: NAME_MAX - len(ending)].strip(". ") or "file") + ending


def shown(given: str) -> str:
    """The name of a file that is not taken, cleaned like the others."""
    return _plain(given)[:NAME_MAX] or "file"


def _plain(given: str) -> str:
    last = re.split(r"[/\\]", text.scrub(given))[-1]
    seen = "".join(" " if unicodedata.category(char) in _HIDDEN else char for char in last)
    return " ".join(_SEPARATORS.sub("_", seen).split()).strip(". ")


def declared(content_type: str) -> str:
    """The type that a header names, without parameters and in one spelling."""
    kind = content_type.partition(";")[0].strip().lower()
    return _SAME.get(kind, kind)


def proved(file: BinaryIO, content_type: str, allowed: Iterable[str]) -> str | None:
    """The type that the content of a seekable file proves, when it is allowed and the one declared.

    A header that says nothing declares nothing; text is comma-separated only when it is declared.
    None for everything else: what is not plainly one of the allowed types is refused.
    """
    said = declared(content_type)
    found = _recognised(file)
    if found == PLAIN and said in _TEXTS:
        found = said
    if found is None or (said not in UNDECLARED and said != found):
        return None
    return found if found in set(allowed) else None


def _recognised(file: BinaryIO) -> str | None:
    size = file.seek(0, 2)
    file.seek(0)
    head = file.read(BLOCK)
    file.seek(max(0, size - BLOCK))
    tail = file.read(BLOCK)
    if head.startswith(b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff") and size > 4:
        return JPEG
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:16] in (b"WEBPVP8 ", b"WEBPVP8L", b"WEBPVP8X"):
        return "image/webp"
    if re.match(rb"%PDF-[12]\.\d", head) and b"%%EOF" in tail:
        return PDF
    if head.startswith(b"PK\x03\x04"):
        return _office(head, tail)
    return PLAIN if _is_text(file, head) else None


def _office(head: bytes, tail: bytes) -> str | None:
    """An office document, by the parts that its directory lists; nothing is unpacked."""
    length = int.from_bytes(head[26:28], "little")
    if not head[30 : 30 + length].startswith(_FIRST_PARTS) or b"PK\x05\x06" not in tail:
        return None
    if _MACROS in tail:
        return None
    kinds = {kind for part, kind in _PARTS.items() if b"PK\x01\x02" in tail and part in tail}
    return kinds.pop() if len(kinds) == 1 else None


def _is_text(file: BinaryIO, head: bytes) -> bool:
    """UTF-8 throughout, without control characters, and not markup that somebody may run."""
    if not head or _MARKUP.search(head[:4096]):
        return False
    reader = codecs.getincrementaldecoder("utf-8")()
    file.seek(0)
    try:
        while block := file.read(BLOCK):
            if _CONTROL.search(reader.decode(block)):
                return False
        reader.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
