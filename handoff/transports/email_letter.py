"""One mail as it goes out: headers that thread it, say where to answer and quiet the machines."""

import contextlib
import hashlib
import re
from collections.abc import Iterator
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import MIMEPart
from email.policy import SMTP as SMTP_POLICY
from email.policy import Policy
from typing import Final

from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.utils.encoding import punycode

from handoff.contract.kinds import Urgency
from handoff.outbound.smtp import Letter
from handoff.transports.base import AttachedFile, Closed, Line, Notice, Request
from handoff.transports.email_address import message_proof, reply_address
from handoff.transports.email_body import Body
from handoff.transports.email_settings import EmailSettings, Inbound


class MessageIds(UnstructuredHeader, BaseHeader):
    """Message ids, folded between and never inside: the stock header would encode a long one."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {f'{policy.linesep} '.join(self.split())}{policy.linesep}"


def _header_registry() -> HeaderRegistry:
    registry = HeaderRegistry()
    for name in ("References", "In-Reply-To", "Message-ID"):
        registry.map_to_type(name, MessageIds)
    return registry


POLICY: Final = SMTP_POLICY.clone(cte_type="7bit", header_factory=_header_registry())
"""CRLF line ends, and nothing outside ASCII on the wire: any server can take it."""
ATTACHED_BYTES: Final = 7 * 1024 * 1024
"""What a mail carries of files: in base64, and with the rest, below the 10 MB of many servers."""
MESSAGE_ID: Final = re.compile(r"<[\x21-\x3b\x3d\x3f-\x7e]{1,240}>")


def letter(
    message: Request | Line | Closed | Notice,
    body: Body,
    settings: EmailSettings,
    *,
    sender: Address,
) -> tuple[Letter, str]:
    """The mail and its Message-ID, which is the same for the same message.

    Raises ValueError or `email.errors.MessageError` for a header that the mail classes refuse.
    """
    domain = sender.domain or "localhost"
    if isinstance(message, Notice):
        validate_place(message.place)
        message_id = f"<n.{_fingerprint(message)}.1@{domain}>"
        to: tuple[str, ...] = (message.place,)
        reply_to = _answers_to(message, settings)
        headers = _answering(message, message_id)
    else:
        proof = message_proof(message.session, message.number)
        message_id = f"<h.{message.session}.{message.number}.{proof}@{domain}>"
        to = settings.to
        reply_to = _replies_to(message, settings)
        headers = _headers(message, message_id)
    mail = EmailMultiAlternatives(
        body.subject,
        body.text,
        from_email=str(sender),
        to=[wire(address) for address in to],
        reply_to=reply_to,
        headers=headers,
    )
    mail.attach_alternative(body.html, "text/html")
    if body.transcript:
        mail.attach("transcript.txt", body.transcript, "text/plain")
    for file in _carried(message):
        with contextlib.suppress(OSError):  # its line says where it was
            mail.attach(_part(file))
    content = mail.message(policy=POLICY).as_bytes()
    return Letter(sender=sender.addr_spec, recipients=tuple(mail.to), content=content), message_id


def _carried(message: Request | Line | Closed | Notice) -> Iterator[AttachedFile]:
    """The files of a line that fit into one mail, in their order; the others stay addresses."""
    room = ATTACHED_BYTES
    for file in message.files if isinstance(message, Line) else ():
        if file.size <= room:
            room -= file.size
            yield file


def _part(file: AttachedFile) -> MIMEPart:
    """Byte for byte, text as well; raises OSError when the file is there no more."""
    main, _, sub = file.type.partition("/")
    part = MIMEPart(policy=POLICY)
    part.set_content(
        file.read(), main, sub, cte="base64", disposition="attachment", filename=file.name
    )
    return part


def ours(earlier: tuple[str, ...]) -> list[str]:
    """The ids that can stand in a header; a long thread keeps its root and its newest twenty."""
    usable = [found for found in earlier if MESSAGE_ID.fullmatch(found)]
    return usable if len(usable) <= 21 else [usable[0], *usable[-20:]]


def wire(address: str) -> str:
    """The address with its domain in ASCII, as SMTP without SMTPUTF8 needs it."""
    local, at, domain = address.rpartition("@")
    return f"{local}{at}{domain if domain.isascii() else punycode(domain)}"


def validate_place(place: str) -> None:
    """Raises ValueError for what is no address: an answer to nobody is not sent."""
    try:
        validate_email(place)
    except ValidationError:
        raise ValueError("no address to answer to") from None


def _headers(message: Request | Line | Closed, message_id: str) -> dict[str, str]:
    """Threading, and the two headers that keep auto-responders quiet (RFC 3834, Exchange)."""
    earlier = ours(message.earlier_ids)
    headers = {
        "Message-ID": message_id,
        # some relays rewrite Message-ID and leave this, so our own id stands here too
        "References": " ".join([*earlier, message_id]),
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
    }
    if earlier:
        headers["In-Reply-To"] = earlier[-1]
    if isinstance(message, Request) and message.urgency is Urgency.HIGH:
        headers["Importance"] = "high"
    return headers


def _answering(notice: Notice, message_id: str) -> dict[str, str]:
    """As RFC 3834 asks of what answers by itself; it stands in the thread of what it answers."""
    answered = ours((notice.thread_key, notice.answers))
    headers = {
        "Message-ID": message_id,
        "References": " ".join(dict.fromkeys([*answered, message_id])),
        "Auto-Submitted": "auto-replied",
        "X-Auto-Response-Suppress": "All",
    }
    if MESSAGE_ID.fullmatch(notice.answers):
        headers["In-Reply-To"] = notice.answers
    return headers


def _replies_to(message: Request | Line | Closed, settings: EmailSettings) -> list[str]:
    """The handoff's own address where replies are read, else the visitor's."""
    if settings.inbound is not Inbound.NONE:
        return [_signed(message.session, settings)]
    try:
        validate_email(message.contact_back_email)
    except ValidationError:
        return []
    return [wire(message.contact_back_email)]


def _answers_to(notice: Notice, settings: EmailSettings) -> list[str]:
    """Never by the ids in what they wrote, which anybody can put there: the address lets in."""
    if not notice.session or settings.inbound is Inbound.NONE:
        return []
    return [_signed(notice.session, settings)]


def _signed(session: str, settings: EmailSettings) -> str:
    return reply_address(
        session, local_part=settings.inbound_local_part, domain=punycode(settings.inbound_domain)
    )


def _fingerprint(notice: Notice) -> str:
    said = "\n".join((notice.place, notice.answers, notice.text))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]
