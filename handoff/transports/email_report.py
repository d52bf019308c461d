"""What a mail server reports about a mail of ours (RFC 3464): that it could not be delivered."""

import re
from collections.abc import Iterator
from typing import Final

from handoff.contract.kinds import TransportErrorKind
from handoff.contract.limits import FAILURE_MAX
from handoff.outbound.smtp_errors import plain
from handoff.transports.email_guard import is_ours
from handoff.transports.email_mime import (
    Mail,
    addresses,
    header,
    message_ids,
    parse,
    parts_of,
    text_in,
)
from handoff.transports.inbound import Dropped, Progress, Status

_STATUS: Final = "message/delivery-status"
_CODE: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}")
_HINT: Final = "The mail server could not deliver to this address: check it in `to`."


def is_report(mail: Mail) -> bool:
    return mail.get_content_type() == "multipart/report"


def read_report(mail: Mail, *, keys: tuple[str, ...]) -> Status | Dropped:
    """`failed` for a mail of ours that nobody got; Dropped with the reason for all else.

    "delayed" is a server that still tries. Of several recipients of one mail, one who got it is
    enough: then the report is put on the trail, and the handoff stays as it is.
    """
    parts = parts_of(mail)
    recipients = [block for part in parts for block in _recipients(part)]
    if not recipients:
        return Dropped(keys=keys, reason="report")
    failed = [block for block in recipients if _has_failed(block)]
    if not failed:
        return Dropped(keys=keys, reason="delivery_report")
    original = next(filter(None, map(_original, parts)), None)
    message_id = _our_id(original, mail)
    if not message_id:
        return Dropped(keys=keys, reason="bounce_of_another_mail")
    asked = {address for _, address in addresses(original, "To")} if original is not None else set()
    if len(asked) > 1 and not asked <= set(map(_address, failed)):
        return Dropped(keys=keys, reason="bounced_in_part")
    code = header(failed[0], "Status").partition(" ")[0]
    detail = header(failed[0], "Diagnostic-Code") or header(failed[0], "Action")
    return Status(
        keys=keys,
        message_id=message_id,
        progress=Progress.FAILED,
        failure_kind=TransportErrorKind.RECIPIENT_UNREACHABLE,
        failure=plain(detail)[:FAILURE_MAX],
        provider_code=code if _CODE.fullmatch(code) else "",
        hint=_HINT,
    )


def _recipients(part: Mail) -> Iterator[Mail]:
    """The blocks of a delivery status that name a recipient."""
    if part.get_content_type() != _STATUS:
        return
    for block in parts_of(part):
        if header(block, "Final-Recipient") or header(block, "Original-Recipient"):
            yield block


def _has_failed(block: Mail) -> bool:
    """For good: a server that gave up says `failed` with any status, even 4.4.7."""
    action = header(block, "Action").lower()
    return action == "failed" or (not action and header(block, "Status").startswith("5"))


def _address(block: Mail) -> str:
    """`rfc822; jo@support.example` without its type."""
    original, final = header(block, "Original-Recipient"), header(block, "Final-Recipient")
    return (original or final).rpartition(";")[2].strip().strip("<>").lower()


def _original(part: Mail) -> Mail | None:
    """The mail that the report is about, or its headers, where the report brings it along."""
    if part.get_content_type() == "text/rfc822-headers":
        return parse(text_in(part).encode("utf-8", "replace"))
    if part.get_content_maintype() == "message" and part.get_content_type() != _STATUS:
        return next(iter(parts_of(part)), None)
    return None


def _our_id(original: Mail | None, report: Mail) -> str:
    """Our Message-ID. Some relays put their own in its place and leave References, in which ours
    stands last.
    """
    for mail in (original, report):
        if mail is None:
            continue
        named = [*message_ids(mail, "References"), *message_ids(mail, "In-Reply-To")]
        candidates = [*message_ids(mail, "Message-ID"), *reversed(named)]
        found = next(filter(is_ours, candidates), "")
        if found:
            return found
    return ""
