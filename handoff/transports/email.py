"""Mail: one message to the configured addresses, over the channel's server or the deployment's."""

import dataclasses
import re
from email.errors import MessageError
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.policy import SMTP as SMTP_POLICY
from email.policy import Policy
from email.utils import parseaddr
from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.utils.encoding import punycode

from handoff.contract.kinds import ChannelKind, Urgency
from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.mail_url import MailFolder, MailServer, parse_mail_url
from handoff.outbound.smtp import Letter, check, deliver
from handoff.transports.base import (
    Closed,
    Envelope,
    Line,
    Notice,
    Outgoing,
    Receipt,
    Request,
    TestReport,
    Transport,
)
from handoff.transports.email_body import compose
from handoff.transports.email_clip import header_words
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


POLICY = SMTP_POLICY.clone(cte_type="7bit", header_factory=_header_registry())
"""CRLF line ends, and nothing outside ASCII on the wire: any server can take it."""
MESSAGE_ID = re.compile(r"<[\x21-\x3b\x3d\x3f-\x7e]{1,240}>")


class Email(Transport[EmailSettings]):
    kind = ChannelKind.EMAIL
    settings_model = EmailSettings
    collects_lines: ClassVar[bool] = True

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        """One mail to all configured addresses; see Transport.send.

        `provider_message_id` is our own Message-ID. One try: whether to try again is for the
        caller, who knows the deadline of the whole call.
        """
        if isinstance(message, Notice):
            raise TransportError(Kind.BAD_FORMAT, "this desk answers no mail")
        via = self._server()
        sender = self._sender()
        message_id = f"<h.{message.session}.{message.number}@{_ascii_domain(sender)}>"
        try:
            letter = self._letter(message, sender, message_id)
        except (ValueError, MessageError) as error:  # a header that the mail classes refuse
            raise TransportError(
                Kind.BAD_FORMAT,
                f"the mail could not be built: {type(error).__name__}",
                hint="Check the channel's label, from_name and addresses.",
            ) from error
        accepted = deliver(letter, via=via, deadline=deadline)
        excerpt = accepted.reply
        if accepted.refused:
            excerpt += f" ({accepted.refused} of {len(self.settings.to)} addresses were refused)"
        return Receipt(
            provider_message_id=message_id,
            thread_key=(_ours(message.earlier_ids) or [message_id])[0],
            raw_excerpt=excerpt,
        )

    def test(self, *, deadline: float) -> TestReport:
        """Open, EHLO, STARTTLS, log in and NOOP; nobody gets a mail."""
        lines: list[str] = []
        try:
            via = self._server()
            lines.append(f"Mail goes out as {self._sender().addr_spec}.")
            if isinstance(via, MailFolder):
                lines.append("Mail stays on this machine, in the demo mailbox: nobody gets it.")
            else:
                lines.extend(check(via, deadline=deadline))
        except TransportError as error:
            lines.append(f"Stopped there: {error.operator_detail}.")
            lines.append(error.hint)
            return TestReport(works=False, lines=tuple(filter(None, lines)))
        if isinstance(via, MailServer) and not self.settings.from_email:
            lines.append("from_email is empty, so DEFAULT_FROM_EMAIL of the deployment is used.")
        return TestReport(works=True, lines=tuple(lines))

    def _server(self) -> MailServer | MailFolder:
        own = self.settings.smtp_url
        url = own or settings.EMAIL_URL
        if not url:
            if settings.DEMO:
                return MailFolder(path=settings.MAIL_DIR)
            raise TransportError(
                Kind.AUTH,
                "no mail server is configured",
                hint="No mail server is configured: set EMAIL_URL or the channel's smtp_url.",
            )
        try:
            via = parse_mail_url(url)
        except ValueError as error:
            raise TransportError(
                Kind.AUTH, "the mail server URL is not usable", hint=str(error)
            ) from error
        if isinstance(via, MailServer) and not own:
            return dataclasses.replace(via, trusted=True)
        return via

    def _sender(self) -> Address:
        name, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
        address = self.settings.from_email or address
        try:
            return Address(self.settings.from_name or header_words(name), addr_spec=_wire(address))
        except (ValueError, IndexError, MessageError) as error:
            raise TransportError(
                Kind.BAD_FORMAT,
                "the sender is not a mail address",
                hint="Set the channel's from_email, or DEFAULT_FROM_EMAIL, to one mail address.",
            ) from error

    def _letter(self, message: Request | Line | Closed, sender: Address, message_id: str) -> Letter:
        body = compose(message, replies_are_read=self.settings.inbound is not Inbound.NONE)
        mail = EmailMultiAlternatives(
            body.subject,
            body.text,
            from_email=str(sender),
            to=[_wire(address) for address in self.settings.to],
            reply_to=_reply_to(message),
            headers=_headers(message, message_id),
        )
        mail.attach_alternative(body.html, "text/html")
        if body.transcript:
            mail.attach("transcript.txt", body.transcript, "text/plain")
        return Letter(
            sender=sender.addr_spec,
            recipients=tuple(mail.to),
            content=mail.message(policy=POLICY).as_bytes(),
        )


def _headers(message: Request | Line | Closed, message_id: str) -> dict[str, str]:
    """Threading, and the two headers that keep auto-responders quiet (RFC 3834, Exchange)."""
    earlier = _ours(message.earlier_ids)
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


def _ours(ids: tuple[str, ...]) -> list[str]:
    """The ids that can stand in a header; a long thread keeps its root and its newest twenty."""
    usable = [found for found in ids if MESSAGE_ID.fullmatch(found)]
    return usable if len(usable) <= 21 else [usable[0], *usable[-20:]]


def _reply_to(message: Envelope) -> list[str]:
    try:
        validate_email(message.contact_back_email)
    except ValidationError:
        return []
    return [_wire(message.contact_back_email)]


def _wire(address: str) -> str:
    """The address with its domain in ASCII, as SMTP without SMTPUTF8 needs it."""
    local, at, domain = address.rpartition("@")
    return f"{local}{at}{domain if domain.isascii() else punycode(domain)}"


def _ascii_domain(sender: Address) -> str:
    return sender.domain or "localhost"
