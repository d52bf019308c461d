"""What a mail holds, read so that nothing in it can raise: headers, addresses, text, attachments.

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

from handoff.contract.text import readable
from handoff.transports.email_html import text_of_html

type Mail = Message[Any, Any]

TEXT_MAX: Final = 100_000
"""Characters that are read of a mail's text."""
HTML_MAX: Final = 300_000
_HEADER_MAX: Final = 20_000
_HEADERS_MAX: Final = 50
_PARTS_MAX: Final = 20
_LINES_MAX: Final = 60_000
"""Multipart containers and lines in one mail; the parser's work grows with the depth of the first
times the second."""
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
    attachments: int


def parse(content: bytes) -> Mail:
    """Raises UnreadableMail."""
    parts, lines = content.lower().count(b"multipart/"), content.count(b"\n")
    if parts > _PARTS_MAX or lines > _LINES_MAX:
        raise UnreadableMail(f"{parts} parts, {lines} lines")
    return email.message_from_bytes(content, policy=email.policy.compat32)


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


def content_of(mail: Mail) -> Content:
    plain: list[str] = []
    html: list[str] = []
    attachments = 0
    for part in _leaves(mail):
        kind = part.get_content_type()
        if kind in ("text/plain", "text/html") and not _is_attached(part):
            (plain if kind == "text/plain" else html).append(text_in(part))
        elif _is_attached(part) or not part.get("Content-ID"):
            attachments += part.get_content_subtype() not in _NOT_CARRIED
    text = "\n".join(plain)[:TEXT_MAX]
    if not text.strip():
        text = text_of_html("\n".join(html)[:HTML_MAX])[:TEXT_MAX]
    return Content(text=text, attachments=attachments)


def parts_of(mail: Mail) -> list[Mail]:
    """What stands directly inside, when it is made of parts."""
    inside = mail.get_payload()
    return (
        [part for part in inside if isinstance(part, Message)] if isinstance(inside, list) else []
    )


def text_in(part: Mail) -> str:
    """The text of one part whatever charset it claims, as it can be stored; never raises."""
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    text = readable(_in_charset(raw, part))
    flowed = _parameter(part, "format") == "flowed" and part.get_content_type() == "text/plain"
    return _unflowed(text, delete_space=_parameter(part, "delsp") == "yes") if flowed else text


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
