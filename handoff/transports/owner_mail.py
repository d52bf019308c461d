"""Mail to an owner: a handoff waits in the inbox, and nobody has looked at it."""

import dataclasses
from email.errors import MessageError

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext, ngettext

from handoff.contract.kinds import TransportErrorKind, Urgency
from handoff.errors import TransportError
from handoff.outbound import smtp
from handoff.outbound.smtp import Letter
from handoff.transports.base import Receipt
from handoff.transports.email import Email
from handoff.transports.email_clip import header_words, one_row
from handoff.transports.email_letter import POLICY, validate_place, wire
from handoff.transports.email_settings import EmailSettings
from handoff.transports.recipient_place import GAPS, place

SUBJECT_MAX = 150


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnerAlert:
    """Plain values, and nothing that an agent or a visitor wrote."""

    address: str
    session: str
    """`hs_…`"""
    number: int
    """Names this mail among all alerts: the same one sent again has the same Message-ID."""
    agent_name: str
    channel_label: str
    urgency: Urgency
    minutes: int
    """How long ago the agent asked."""
    asked_by_owner: bool
    """A colleague asks them to look; else nobody has opened it."""
    page: str
    """Where the handoff stands in the inbox; "" for a desk without a public address."""
    language: str


class OwnerMail(Email):
    """Goes out as the deployment's own mail: an owner has no channel and no settings."""

    def __init__(self) -> None:
        super().__init__(EmailSettings(to=("nobody@localhost.localdomain",)))

    def alert(self, alert: OwnerAlert, *, deadline: float) -> Receipt:
        """Mail one owner before `deadline` (`time.monotonic()`).

        Raises TransportError; `kind` is `unknown_outcome` when the server may have it.
        """
        via = self._server()
        try:
            letter, message_id = self._letter(alert)
        except (ValueError, MessageError) as error:
            raise TransportError(
                TransportErrorKind.BAD_FORMAT,
                f"the mail could not be built: {type(error).__name__}",
                hint="Check the owner's mail address.",
            ) from error
        accepted = smtp.deliver(letter, via=via, deadline=deadline)
        return Receipt(provider_message_id=message_id, raw_excerpt=accepted.reply)

    def _letter(self, alert: OwnerAlert) -> tuple[Letter, str]:
        validate_place(alert.address)
        sender = self._sender()
        message_id = f"<a.{alert.session}.{alert.number}@{sender.domain or 'localhost'}>"
        subject, text, html = _body(alert)
        headers = {
            "Message-ID": message_id,
            "Auto-Submitted": "auto-generated",
            "X-Auto-Response-Suppress": "All",
        }
        if alert.urgency is Urgency.HIGH:
            headers["Importance"] = "high"
        mail = EmailMultiAlternatives(
            subject, text, from_email=str(sender), to=[wire(alert.address)], headers=headers
        )
        mail.attach_alternative(html, "text/html")
        content = mail.message(policy=POLICY).as_bytes()
        return Letter(
            sender=sender.addr_spec, recipients=tuple(mail.to), content=content
        ), message_id


def _body(alert: OwnerAlert) -> tuple[str, str, str]:
    """Subject, text and HTML."""
    with place(alert.language, "UTC"):
        subject = gettext("%(label)s: a handoff is waiting in your inbox") % {
            "label": header_words(alert.channel_label)
        }
        values = {
            "agent_name": one_row(alert.agent_name),
            "channel_label": one_row(alert.channel_label),
            "page": alert.page,
            "asked_by_owner": alert.asked_by_owner,
            "is_urgent": alert.urgency is Urgency.HIGH,
            "age": ngettext("%(n)d minute", "%(n)d minutes", alert.minutes) % {"n": alert.minutes},
            "language": translation.get_language(),
            "direction": "rtl" if translation.get_language_bidi() else "ltr",
        }
        text = GAPS.sub("\n\n", render_to_string("mail/alert.txt", values)).strip() + "\n"
        html = render_to_string("mail/alert.html", values)
    return subject[:SUBJECT_MAX], text, html
