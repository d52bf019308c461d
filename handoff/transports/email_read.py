"""One mail as it came, read into what it means: a person's words, a failed delivery, or nothing."""

import dataclasses
import datetime as dt
import hashlib
import logging
from collections.abc import Sequence, Set
from typing import Final

from handoff.contract.limits import NAME_MAX
from handoff.transports.email_address import session_of
from handoff.transports.email_clip import one_row
from handoff.transports.email_guard import automatic, is_ours
from handoff.transports.email_mime import (
    BROKEN,
    Mail,
    addresses,
    content_of,
    header,
    headers,
    is_hard,
    message_ids,
    parse,
)
from handoff.transports.email_quote import without_quotes
from handoff.transports.email_report import is_report, read_report
from handoff.transports.inbound import BODY_MAX, RAW_MAX, Dropped, Said, Status

log = logging.getLogger(__name__)
_ENVELOPE: Final = ("Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To")
"""Where servers write whom a mail was for: the address may stand nowhere else in it."""
_ANSWERED_MAX: Final = 50
MAIL_MAX: Final = 16 * 1024 * 1024
"""What is read of one mail, in bytes: files of 10 MB, as they are encoded, and the words."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Delivered:
    """A mail and what was told with it."""

    content: bytes
    whole: bool = True
    """False for the beginning of a larger mail: its last part may be cut."""
    at: dt.datetime | None = None
    """When a server of ours took it; the mail's own date is anybody's."""
    recipients: Sequence[str] = ()
    """Of the envelope, where it is known."""
    null_path: bool = False
    """Whether the envelope names no sender: then a machine sent it."""
    keys: tuple[str, ...] = ()
    """What else it is counted by, before its Message-ID."""


def read_mail(delivered: Delivered, *, own: Set[str], account: str = "") -> Said | Status | Dropped:
    """What a mail means. `own` are addresses that this desk sends from, `account` what goes into
    the event. Never raises: what breaks the reading is dropped as unreadable, under its digest.
    """
    try:
        delivered = _within_reason(delivered)
        mail = parse(delivered.content)
        keys = (*delivered.keys, _key(mail, delivered.content))
        found = _read(mail, keys, delivered, own)
    except BROKEN as error:  # whatever one mail breaks, the next must be read
        log.warning("a mail could not be read: %s", type(error).__name__)
        digest = hashlib.sha256(delivered.content).hexdigest()
        found = Dropped(keys=(*delivered.keys, digest), reason="unreadable")
    return found.model_copy(update={"at": delivered.at, "account": account})


def _within_reason(delivered: Delivered) -> Delivered:
    """Its beginning, where the whole would take too long to read."""
    if len(delivered.content) <= BODY_MAX or not is_hard(delivered.content):
        return delivered
    return dataclasses.replace(delivered, content=delivered.content[:BODY_MAX], whole=False)


def _key(mail: Mail, content: bytes) -> str:
    """What a mail is counted by: a second copy has the same (channels.md 1.2)."""
    named = header(mail, "Message-ID")
    return hashlib.sha256(named.encode("utf-8", "replace") if named else content).hexdigest()


def _read(
    mail: Mail, keys: tuple[str, ...], delivered: Delivered, own: Set[str]
) -> Said | Status | Dropped:
    if is_report(mail):
        return read_report(mail, keys=keys)
    if reason := "null_path" if delivered.null_path else automatic(mail, own=own):
        return Dropped(keys=keys, reason=reason)
    content = content_of(mail, whole=delivered.whole)
    text = without_quotes(content.text)
    name, sender = next(iter(addresses(mail, "From")), ("", ""))
    answered = _answered(mail)
    return Said(
        keys=keys,
        sender_id=sender,
        sender_name=one_row(name)[:NAME_MAX],
        text=text,
        place=sender,
        message_id=next(iter(message_ids(mail, "Message-ID")), ""),
        replies_to=tuple(answered),
        thread_key=next(filter(is_ours, reversed(answered)), ""),
        session=_signed(mail, delivered.recipients),
        files=content.files,
        left_out=content.left_out,
        raw="" if content.text.strip() == text else content.text[:RAW_MAX],
    )


def _signed(mail: Mail, recipients: Sequence[str]) -> str:
    """The handoff that an address of the mail names (channels.md 2.6): the envelope's first."""
    written = [address for name in _ENVELOPE for address in headers(mail, name)]
    shown = [address for _, address in addresses(mail, "To", "Cc")]
    found = (session_of(address.strip("<> ")) for address in (*recipients, *written, *shown))
    return next(filter(None, found), "")


def _answered(mail: Mail) -> list[str]:
    """The ids of what it answers, the nearest first."""
    direct, earlier = message_ids(mail, "In-Reply-To"), message_ids(mail, "References")
    return list(dict.fromkeys([*direct, *reversed(earlier)]))[:_ANSWERED_MAX]
