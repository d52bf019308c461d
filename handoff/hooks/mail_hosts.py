"""Mail that a mail host posts: django-anymail verifies and reads the webhook, here it is kept.

Imported only where django-anymail is installed and switched on (`ANYMAIL`).
"""

import email.policy
import hashlib
import logging
from email.message import EmailMessage
from email.utils import parseaddr
from typing import Any, Final

from anymail.signals import AnymailInboundEvent, EventType, inbound
from django.conf import settings
from django.dispatch import receiver

from handoff.actions.inbound import accept
from handoff.actions.refusals import note_inbound
from handoff.actions.relatives import reader_of
from handoff.contract.kinds import ChannelKind
from handoff.transports.email import BY_WEBHOOK
from handoff.transports.email_mime import BROKEN
from handoff.transports.email_read import MAIL_MAX, Delivered, read_mail

log = logging.getLogger(__name__)
AS_IT_CAME: Final = email.policy.default.clone(refold_source="none")
"""To fold the headers anew would read them, which some do not survive."""


@receiver(inbound, dispatch_uid="handoff.hooks.mail_hosts")
def keep_mail(event: AnymailInboundEvent, **more: Any) -> None:
    """Keep one mail for the channels with `inbound: anymail`. An outage raises: the host is
    answered 500, and posts it again.
    """
    if event.event_type != EventType.INBOUND or event.message is None:
        return
    channel = reader_of(ChannelKind.EMAIL, BY_WEBHOOK)
    if channel is None:
        note_inbound("inbound.unmatched", None, "no_channel")
        return
    own = frozenset({parseaddr(settings.DEFAULT_FROM_EMAIL)[1].lower()})
    accept(channel, [read_mail(_delivered(event), own=own, account=BY_WEBHOOK)])


def _delivered(event: AnymailInboundEvent) -> Delivered:
    recipient, sender = event.message.envelope_recipient, event.message.envelope_sender
    content = _content(event.message)
    return Delivered(
        content=content[:MAIL_MAX],
        whole=len(content) <= MAIL_MAX,
        at=event.timestamp,
        recipients=(str(recipient),) if recipient else (),
        null_path=sender is not None and not sender.strip("<> "),
        keys=(_key(event.event_id),) if event.event_id else (),
    )


def _content(message: EmailMessage) -> bytes:
    """The mail as it came, or nothing where it cannot be written down: it is unmatched then."""
    try:
        return message.as_bytes(policy=AS_IT_CAME)
    except BROKEN as error:
        log.warning("a mail of a mail host could not be read: %s", type(error).__name__)
        return b""


def _key(event_id: Any) -> str:
    return "anymail:" + hashlib.sha256(str(event_id).encode("utf-8", "replace")).hexdigest()
