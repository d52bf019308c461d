"""Small files of every type that a desk takes, and such as only pretend to be one."""

import io
import zipfile
from typing import Final

from handoff.contract import files

PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
) + bytes.fromhex("0000000d49444154789c6360f8cfc00000030101001827e2530000000049454e44ae426082")
JPEG: Final = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9"
GIF: Final = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
WEBP: Final = (
    b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88"
)
PDF: Final = b"%PDF-1.7\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n"
TEXT: Final = "Where is order 1234? It went to <ana@example.com>, 3 < 4.\r\nGrüße\n".encode()
HTML: Final = b"<!doctype html><script>alert(document.domain)</script>"
SVG: Final = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>x</script></svg>'


def office(part: str, *, macros: bool = False) -> bytes:
    """An office document as its programs write one, with its parts in `part`."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(f"{part}/document.xml", "<document/>")
        if macros:
            archive.writestr(f"{part}/vbaProject.bin", "x")
    return made.getvalue()


def archive(*names: str, size: int = 10) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as opened:
        for name in names:
            opened.writestr(name, b"0" * size)
    return made.getvalue()


GOOD: Final[dict[str, bytes]] = {
    "image/png": PNG,
    files.JPEG: JPEG,
    "image/gif": GIF,
    "image/webp": WEBP,
    files.PDF: PDF,
    files.PLAIN: TEXT,
    files.CSV: b"order,status\n1234,shipped\n",
    files.DOCX: office("word"),
    files.XLSX: office("xl"),
    files.PPTX: office("ppt"),
}
BAD: Final[dict[str, tuple[bytes, str]]] = {
    "HTML that says it is a picture": (HTML, "image/png"),
    "HTML that says it is text": (HTML, files.PLAIN),
    "HTML that says what it is": (HTML, "text/html"),
    "HTML behind a mark and spaces": (b"\xef\xbb\xbf \n\t" + HTML, files.PLAIN),
    "HTML behind words": (b"Hello\n" + HTML, files.CSV),
    "SVG": (SVG, "image/svg+xml"),
    "SVG that says it is text": (SVG, files.PLAIN),
    "SVG that says nothing": (SVG, ""),
    "XML": (b'<?xml version="1.0"?><!DOCTYPE x><x/>', files.PLAIN),
    "a picture that says it is a document": (PNG, files.PDF),
    "a document that says it is a picture": (PDF, "image/png"),
    "words before a document": (b"GIF\n" + PDF[1:], files.PDF),
    "a program": (b"MZ\x90\x00" + b"\x00" * 60, "application/octet-stream"),
    "a script in UTF-16": ("<script>".encode("utf-16"), files.PLAIN),
    "text with a NUL": (b"hello\x00world", files.PLAIN),
    "text with an escape": (b"hello \x1b[31mworld", files.PLAIN),
    "text in Latin-1": ("Grüße".encode("latin-1"), files.PLAIN),
    "text that breaks late": (b"a" * 200_000 + b"\xff", files.PLAIN),
    "nothing at all": (b"", files.PLAIN),
    "an archive": (archive("a.txt"), "application/zip"),
    "an archive that says it is a document": (archive("a.txt", "word/x"), files.DOCX),
    "an archive of bad names": (archive("../../etc/passwd", "a" * 200), files.DOCX),
    "a bomb": (archive("bomb.txt", size=5_000_000), files.XLSX),
    "a document with macros": (office("word", macros=True), files.DOCX),
    "a document of two kinds": (office("word")[:-22] + office("xl"), files.DOCX),
    "a sheet that says it is a letter": (office("xl"), files.DOCX),
    "half a signature": (PNG[:8], "image/png"),
}
