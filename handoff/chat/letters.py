"""Reads the demo's mailbox: the folder that takes the mail while there is no mail server."""

import dataclasses
import datetime as dt
import re
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path
from typing import Final

NAME: Final = re.compile(r"([0-9]{10,25})-[0-9a-f]{8}\.eml")
"""What `handoff.outbound.smtp` calls a letter: nanoseconds since 1970, then chance."""
SHOWN: Final = 100
PREVIEW: Final = 160


@dataclasses.dataclass(frozen=True, kw_only=True)
class Envelope:
    """What a list shows of a letter."""

    name: str
    at: dt.datetime
    sender: str
    to: str
    subject: str
    preview: str
    """How its text begins, on one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Attachment:
    name: str
    kind: str
    size: int
    """In bytes."""
    text: str
    """Its content when it is plain text, else empty."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Letter:
    envelope: Envelope
    text: str
    html: str
    attachments: tuple[Attachment, ...]


@dataclasses.dataclass(frozen=True)
class Piece:
    """A run of text; `href` is the address it leads to, or empty."""

    text: str
    href: str = ""


def newest(folder: Path) -> list[Envelope]:
    """The newest letters first; none when nothing was ever sent."""
    if not folder.is_dir():
        return []
    names = sorted(path.name for path in folder.iterdir() if NAME.fullmatch(path.name))
    return [_envelope(name, _parsed(folder / name)) for name in reversed(names[-SHOWN:])]


def read(folder: Path, name: str) -> Letter | None:
    """One letter; None when no such letter is there."""
    path = folder / name
    if not NAME.fullmatch(name) or not path.is_file():
        return None
    message = _parsed(path)
    return Letter(
        envelope=_envelope(name, message),
        text=_body(message, "plain"),
        html=_body(message, "html"),
        attachments=tuple(map(_attachment, message.iter_attachments())),
    )


def pieces(text: str, *, base: str) -> list[Piece]:
    """The text, cut so that our own return links, and nothing else, can be made clickable.

    `base` is the desk's public address; without one there are no links of ours.
    """
    if not base:
        return [Piece(text)]
    ours = re.compile(rf"{re.escape(base)}/r/[A-Za-z0-9_:.=-]+/?")
    found, end = [], 0
    for match in ours.finditer(text):
        address = match[0].rstrip(".")
        found += [Piece(text[end : match.start()]), Piece(address, href=address)]
        end = match.start() + len(address)
    found.append(Piece(text[end:]))
    return [piece for piece in found if piece.text]


def _parsed(path: Path) -> EmailMessage:
    return BytesParser(policy=policy.default).parsebytes(path.read_bytes())


def _envelope(name: str, message: EmailMessage) -> Envelope:
    nanoseconds = int(name.partition("-")[0])
    return Envelope(
        name=name,
        at=dt.datetime.fromtimestamp(nanoseconds / 1e9, tz=dt.UTC),
        sender=str(message["From"] or ""),
        to=str(message["To"] or ""),
        subject=str(message["Subject"] or ""),
        preview=" ".join(_body(message, "plain").split())[:PREVIEW],
    )


def _body(message: EmailMessage, kind: str) -> str:
    part = message.get_body(preferencelist=(kind,))
    return str(part.get_content()).replace("\r\n", "\n") if part is not None else ""


def _attachment(part: EmailMessage) -> Attachment:
    content = part.get_content()
    plain = part.get_content_type() == "text/plain" and isinstance(content, str)
    raw = content.encode() if isinstance(content, str) else bytes(content)
    return Attachment(
        name=part.get_filename() or "",
        kind=part.get_content_type(),
        size=len(raw),
        text=content.replace("\r\n", "\n") if plain else "",
    )
