"""What a mail holds, read so that nothing in it can raise: headers, addresses, text, files.

Mail is parsed by the old policy of the standard library: the new one raises on some malformed
headers when they are looked at, which is when a mail that was made for it would be read.
"""

import codecs
import contextlib
import dataclasses
import email
import email.policy
import re
from collections.abc import Iterator
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses
from typing import Any, Final

from handoff.contract.files import FILE_BYTES, FILES_PER_MESSAGE
from handoff.contract.text import readable
from handoff.transports.email_html import text_of_html
from handoff.transports.inbound import BODY_MAX, Enclosed

type Mail = Message[Any, Any]

TEXT_MAX: Final = 100_000
"""Characters that are read of a mail's text."""
HTML_MAX: Final = 300_000
_HEADER_MAX: Final = 20_000
_HEADERS_MAX: Final = 50
_PARTS_MAX: Final = 20
_LINES_MAX: Final = 250_000
"""Multipart containers and lines in one mail: 10 MB are 190,000 lines in base64."""
_WORK_MAX: Final = 1_200_000
"""The parser's work grows with the depth of the first times the second."""
_NAME_MAX: Final = 1000
_NOT_CARRIED: Final = frozenset({"pgp-signature", "pkcs7-signature", "x-pkcs7-signature"})
_NO_CHARSETS: Final = frozenset({"unicode_escape", "raw_unicode_escape", "idna", "punycode"})
"""Codecs of Python that no mail is written in."""
_MESSAGE_ID: Final = re.compile(r"<[\x21-\x3b\x3d\x3f-\x7e]{1,240}>")


BROKEN: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MessageError, RuntimeError,
    TypeError, ValueError,
)  # fmt: skip
"""What the standard library raises over a mail that is made for it."""


class UnreadableMail(ValueError):
    """The mail is built to be hard to read."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Content:
    text: str
    """The plain text, or what the HTML says, with LF line ends; quoted lines begin with `>`."""
    files: tuple[Enclosed, ...]
    left_out: int
    """How many further files there are, too many or too large to be carried."""


def parse(content: bytes) -> Mail:
    """Raises UnreadableMail."""
    if is_hard(content):
        raise UnreadableMail("too many parts, or lines")
    return email.message_from_bytes(content, policy=email.policy.compat32)


def is_hard(content: bytes) -> bool:
    """Whether it has so many parts and lines that reading it takes too long."""
    parts, lines = content.lower().count(b"multipart/"), content.count(b"\n")
    return parts > _PARTS_MAX or lines > _LINES_MAX or parts * lines > _WORK_MAX


def header(mail: Mail, name: str) -> str:
    """The first header of that name, decoded, on one line; "" without one."""
    return next(iter(headers(mail, name)), "")


def headers(mail: Mail, name: str) -> list[str]:
    """All headers of that name, decoded, each on one line."""
    return [_decoded(line) for line in _lines(mail, name)]


def addresses(mail: Mail, *names: str) -> list[tuple[str, str]]:
    """Pairs of name and lower-case address of all headers of these names, in their order."""
    return [
        (_decoded(shown), address.strip().lower())
        for name in names
        for shown, address in getaddresses(_lines(mail, name))
        if "@" in address
    ]


def message_ids(mail: Mail, name: str) -> list[str]:
    """The ids in a header such as References, in their order, each with its brackets."""
    return _MESSAGE_ID.findall(" ".join(headers(mail, name)))


def content_of(mail: Mail, *, whole: bool = True) -> Content:
    """What it says and brings; of a mail that is not `whole` the last part is no file."""
    leaves = list(_leaves(mail))
    told = [part for part in leaves if _is_text(part)]
    html = _joined([part for part in told if part.get_content_type() == "text/html"], HTML_MAX)
    text = _joined([part for part in told if part.get_content_type() == "text/plain"], TEXT_MAX)
    found = [part for part in leaves if not _is_text(part) and _is_file(part, html)]
    cut = bool(found) and not whole and found[-1] is leaves[-1]
    files = _files(found[:-1] if cut else found)
    if not text.strip():
        text = text_of_html(html)[:TEXT_MAX]
    return Content(text=text, files=files, left_out=len(found) - len(files))


def _joined(parts: list[Mail], most: int) -> str:
    """The text of these parts, at most so many characters; what is beyond is not even decoded."""
    texts: list[str] = []
    size = 0
    for part in parts:
        if size < most:
            texts.append(text_in(part))
            size += len(texts[-1])
    return "\n".join(texts)[:most]


def _files(parts: list[Mail]) -> tuple[Enclosed, ...]:
    """Those of them that one message takes, in their order."""
    files: list[Enclosed] = []
    room = FILE_BYTES
    for part in parts:
        content = _bytes_in(part) if len(files) < FILES_PER_MESSAGE else b""
        if len(files) < FILES_PER_MESSAGE and len(content) <= room:
            room -= len(content)
            declared = _decoded(part.get_content_type())[:_NAME_MAX]
            files.append(Enclosed(name=_name(part), declared=declared, content=content))
    return tuple(files)


def _name(part: Mail) -> str:
    with contextlib.suppress(*BROKEN):
        return _decoded(str(part.get_filename("")))[:_NAME_MAX]
    return ""


def _is_text(part: Mail) -> bool:
    return part.get_content_type() in ("text/plain", "text/html") and not _is_attached(part)


def _is_file(part: Mail, html: str) -> bool:
    """False for a signature, and for a picture that stands in the text."""
    if part.get_content_subtype() in _NOT_CARRIED:
        return False
    named = str(part.get("Content-ID", "")).strip().strip("<>")
    if not named or part.get_content_disposition() == "attachment":
        return True
    return bool(_name(part)) and f"cid:{named}" not in html


def parts_of(mail: Mail) -> list[Mail]:
    """What stands directly inside, when it is made of parts."""
    inside = mail.get_payload()
    return (
        [part for part in inside if isinstance(part, Message)] if isinstance(inside, list) else []
    )


def text_in(part: Mail) -> str:
    """The text of one part whatever charset it claims, as it can be stored; never raises."""
    text = readable(_in_charset(_bytes_in(part)[:BODY_MAX], part))
    flowed = _parameter(part, "format") == "flowed" and part.get_content_type() == "text/plain"
    return _unflowed(text, delete_space=_parameter(part, "delsp") == "yes") if flowed else text


def _bytes_in(part: Mail) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _leaves(mail: Mail) -> Iterator[Mail]:
    """The parts that hold something; a mail inside the mail is one of them."""
    if mail.get_content_maintype() == "multipart" and mail.is_multipart():
        for part in parts_of(mail):
            yield from _leaves(part)
    else:
        yield mail


def _is_attached(part: Mail) -> bool:
    return part.get_content_disposition() == "attachment" or bool(_parameter(part, "name"))


def _parameter(part: Mail, name: str) -> str:
    value = part.get_param(name, "")
    return (value if isinstance(value, str) else str(value[-1])).lower()


def _in_charset(raw: bytes, part: Mail) -> str:
    """In what it says, else UTF-8, else what it says with gaps."""
    try:
        named = codecs.lookup(part.get_content_charset() or "utf-8").name.replace("-", "_")
    except (LookupError, ValueError):
        named = "utf-8"
    named = "utf-8" if named in _NO_CHARSETS else named
    for charset, errors in ((named, "strict"), ("utf-8", "strict"), (named, "replace")):
        try:
            return raw.decode(charset, errors)
        except (LookupError, ValueError):
            continue
    return raw.decode("utf-8", "replace")


def _unflowed(text: str, *, delete_space: bool) -> str:
    """Paragraphs that were broken for the way, as one line each (RFC 3676)."""
    lines: list[str] = []
    goes_on = ""
    for line in text.split("\n"):
        quote = line[: len(line) - len(line.lstrip(">"))]
        said = line[len(quote) :].removeprefix(" ")
        open_ended = said.endswith(" ") and said != "-- "
        joins = bool(lines) and goes_on == f"{quote}."
        said = said[:-1] if open_ended and delete_space else said
        if joins:
            lines[-1] += said
        else:
            lines.append(f"{quote} {said}" if quote else said)
        goes_on = f"{quote}." if open_ended else ""
    return "\n".join(lines)


def _lines(mail: Mail, name: str) -> list[str]:
    """The headers of that name as they came, each on one line; bytes are UTF-8 or nothing."""
    wanted = name.lower()
    found = [str(value) for key, value in mail.raw_items() if key.lower() == wanted]
    return [
        " ".join(
            value[:_HEADER_MAX]
            .encode("utf-8", "surrogateescape")
            .decode("utf-8", "replace")
            .split()
        )
        for value in found[:_HEADERS_MAX]
    ]


def _decoded(line: str) -> str:
    if "=?" in line:
        # what claims to be encoded and is not stands as it came
        with contextlib.suppress(MessageError, LookupError, ValueError):
            line = str(make_header(decode_header(line)))
    return " ".join(readable(line).split())
