"""Mail: one message to the configured addresses, and replies read from a mailbox."""

import dataclasses
import hashlib
from collections.abc import Iterator
from email.errors import MessageError
from email.headerregistry import Address
from email.utils import parseaddr
from typing import ClassVar, Final

from django.conf import settings
from django.utils.crypto import constant_time_compare
from django.utils.encoding import punycode

from handoff.contract.commands import read_release
from handoff.contract.kinds import ChannelKind
from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound import imap, smtp
from handoff.outbound.mail_url import MailFolder, MailServer, parse_imap_url, parse_mail_url
from handoff.transports.base import Notice, Outgoing, Receipt, TestReport, Transport
from handoff.transports.email_body import compose
from handoff.transports.email_clip import header_words
from handoff.transports.email_guard import is_ours
from handoff.transports.email_inbox import Place, look
from handoff.transports.email_letter import letter, ours, wire
from handoff.transports.email_settings import EmailSettings, Inbound
from handoff.transports.inbound import Polled, Said

BY_WEBHOOK: Final = "anymail"
"""The account of what comes by the webhook of the deployment's mail host."""
_PERMANENT: Final = frozenset({Kind.AUTH, Kind.PERMISSION, Kind.NOT_FOUND})


class Email(Transport[EmailSettings]):
    kind = ChannelKind.EMAIL
    settings_model = EmailSettings
    collects_lines: ClassVar[bool] = True

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        """One mail to all configured addresses, or a notice to who wrote; see Transport.send.

        `provider_message_id` is our own Message-ID. One try: whether to try again is for the
        caller, who knows the deadline of the whole call.
        """
        via = self._server()
        sender = self._sender()
        earlier = () if isinstance(message, Notice) else message.earlier_ids
        try:
            body = compose(message, replies_are_read=self._reads)
            mail, message_id = letter(message, body, self.settings, sender=sender)
        except (ValueError, MessageError) as error:  # a header that the mail classes refuse
            raise TransportError(
                Kind.BAD_FORMAT,
                f"the mail could not be built: {type(error).__name__}",
                hint="Check the channel's label, from_name and addresses.",
            ) from error
        accepted = smtp.deliver(mail, via=via, deadline=deadline)
        excerpt = accepted.reply
        if accepted.refused:
            excerpt += f" ({accepted.refused} of {len(mail.recipients)} addresses were refused)"
        return Receipt(
            provider_message_id=message_id,
            thread_key=(ours(earlier) or [message_id])[0],
            raw_excerpt=excerpt,
        )

    def test(self, *, deadline: float) -> TestReport:
        """Log in where mail goes out, and where replies are read; nobody gets a mail."""
        lines: list[str] = []
        try:
            lines.extend(self._check_sending(deadline))
            lines.extend(self._check_reading(deadline))
        except TransportError as error:
            lines.append(f"Stopped there: {error.operator_detail}.")
            lines.append(error.hint)
            return TestReport(works=False, lines=tuple(filter(None, lines)))
        return TestReport(works=True, lines=tuple(lines))

    def accepts(self, said: Said, *, recipients: frozenset[str]) -> bool:
        """An address that we signed is enough, whoever wrote to it, and so is a release token.

        Without either it must answer a mail of ours, from a recipient's address or their domain;
        whether there is a mail with that id, which only its recipients know, the database says.
        """
        if said.session:
            return True
        command = read_release(said.text)
        if command is not None and command.token:
            return True
        answers_us = any(map(is_ours, said.replies_to))
        return answers_us and self._is_recipient(said.sender_id)

    def account(self) -> str:
        """The mailbox, for channels that share one; what only the two know of each other is not
        in it.
        """
        if self.settings.inbound is Inbound.ANYMAIL:
            return BY_WEBHOOK
        if self.settings.inbound is Inbound.NONE:
            return ""
        server = self._mailbox()
        named = (server.host.lower(), str(server.port), server.username, self.settings.imap_folder)
        return hashlib.sha256("\n".join(named).encode()).hexdigest()[:32]

    def shares_account(self, other: Transport[EmailSettings]) -> bool:
        """Whether the other reads the same mailbox, with the same login."""
        theirs = other.settings
        if self.account() != other.account() or not self.account():
            return False
        return constant_time_compare(self.settings.imap_url, theirs.imap_url)

    @property
    def polls(self) -> bool:
        return self.settings.inbound is Inbound.IMAP

    def poll(self, cursor: str, *, threads: tuple[str, ...], deadline: float) -> Polled:
        """See `email_inbox.look`. A mailbox that refuses us is a failure for now, whatever the
        reason: mail still goes out, and the form takes the answers.
        """
        place = Place(
            server=self._mailbox(),
            folder=self.settings.imap_folder,
            own=frozenset({self._sender().addr_spec.lower()}),
            account=self.account(),
        )
        try:
            return look(place, cursor, answers_expected=bool(threads), deadline=deadline)
        except TransportError as error:
            if error.kind not in _PERMANENT:
                raise
            raise TransportError(Kind.TRANSIENT, error.operator_detail, hint=error.hint) from error

    @property
    def _reads(self) -> bool:
        return self.settings.inbound is not Inbound.NONE

    def _is_recipient(self, address: str) -> bool:
        domains = {one.rpartition("@")[2].lower() for one in self.settings.to}
        return address.rpartition("@")[2].lower() in domains

    def _check_sending(self, deadline: float) -> Iterator[str]:
        via = self._server()
        yield f"Mail goes out as {self._sender().addr_spec}."
        if isinstance(via, MailFolder):
            yield "Mail stays on this machine, in the demo mailbox: nobody gets it."
            return
        yield from smtp.check(via, deadline=deadline)
        if not self.settings.from_email:
            yield "from_email is empty, so DEFAULT_FROM_EMAIL of the deployment is used."

    def _check_reading(self, deadline: float) -> Iterator[str]:
        if not self._reads:
            yield "Replies by mail are not read (inbound is none); the form takes the answers."
            return
        local_part, domain = self.settings.inbound_local_part, self.settings.inbound_domain
        yield f"Replies go to {local_part}@{domain}."
        if self.settings.inbound is Inbound.ANYMAIL:
            if not settings.ANYMAIL:
                raise TransportError(
                    Kind.AUTH,
                    "this desk takes no webhooks of mail hosts",
                    hint="Whoever runs the desk sets ANYMAIL (docs/channels/email.md).",
                )
            yield "The mail host posts them to this desk; send one to see it arrive."
            return
        yield from imap.check(self._mailbox(), self.settings.imap_folder, deadline=deadline)
        if self._sender().domain != punycode(domain):
            yield (
                f"Failed deliveries are reported to {self._sender().addr_spec}: they end a handoff "
                "only where this mailbox gets that mail, too."
            )

    def _mailbox(self) -> MailServer:
        return parse_imap_url(self.settings.imap_url)

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
            return Address(self.settings.from_name or header_words(name), addr_spec=wire(address))
        except (ValueError, IndexError, MessageError) as error:
            raise TransportError(
                Kind.BAD_FORMAT,
                "the sender is not a mail address",
                hint="Set the channel's from_email, or DEFAULT_FROM_EMAIL, to one mail address.",
            ) from error
