"""The settings of one mail channel (channels.md 1.7), checked by name and all at once."""

import re
from enum import StrEnum
from typing import Annotated, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import validate_domain_name, validate_email
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from handoff.contract.limits import NAME_MAX
from handoff.outbound.mail_url import MailFolder, parse_imap_url, parse_mail_url
from handoff.transports.base import TransportSettings
from handoff.transports.email_address import BLANK, LOCAL_PART, LOCAL_PART_MAX, NAME_LENGTH
from handoff.transports.email_clip import header_words

RECIPIENTS_MAX = 20


class Inbound(StrEnum):
    NONE = "none"
    IMAP = "imap"
    ANYMAIL = "anymail"


def _address(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError:
        raise ValueError("must be one mail address, such as team@example.org") from None
    return text


def _address_or_blank(text: str) -> str:
    return _address(text) if text else ""


def _addresses(value: object) -> object:
    """One address, several in one text (comma, semicolon or white space), or a list of them."""
    if isinstance(value, str):
        return tuple(dict.fromkeys(part for part in re.split(r"[\s,;]+", value) if part))
    return tuple(dict.fromkeys(value)) if isinstance(value, list | tuple) else value


def _smtp_url(text: str) -> str:
    if text and isinstance(parse_mail_url(text), MailFolder):
        raise ValueError("must name a mail server; only EMAIL_URL may name a folder")
    return text


def _imap_url(text: str, info: ValidationInfo) -> str:
    if text:
        parse_imap_url(text)
    elif info.data.get("inbound") is Inbound.IMAP:
        raise ValueError("is needed to read replies from a mailbox: imaps://user:password@host")
    return text


def _imap_folder(text: str) -> str:
    if not text or not text.isascii() or not text.isprintable():
        raise ValueError("must be the folder's name as its server spells it, such as INBOX")
    return text


def _domain_or_blank(text: str, info: ValidationInfo) -> str:
    if text:
        try:
            validate_domain_name(text)
        except ValidationError:
            raise ValueError("must be a domain name, such as inbound.example.org") from None
    elif info.data.get("inbound", Inbound.NONE) is not Inbound.NONE:
        raise ValueError("is needed to read replies: the domain of the addresses they go to")
    return text


def _local_part(text: str) -> str:
    before, blank, after = text.partition(BLANK)
    if not blank or not re.fullmatch(r"[a-z0-9+_.=-]*", before + after):
        raise ValueError(
            f"must hold {BLANK} once, beside small letters, digits and + - _ . = only, such as "
            f"{LOCAL_PART}"
        )
    if before[-1:].isalnum() or after[:1].isalnum():
        raise ValueError(f"must set {BLANK} off, with + or - beside it")
    if len(before + after) + NAME_LENGTH > LOCAL_PART_MAX:
        raise ValueError(f"may hold {LOCAL_PART_MAX - NAME_LENGTH} characters beside {BLANK}")
    try:
        validate_email(f"{before}x{after}@example.org")
    except ValidationError:
        raise ValueError("does not make an address") from None
    return text


class EmailSettings(TransportSettings):
    secret_keys: ClassVar[frozenset[str]] = frozenset({"smtp_url", "imap_url"})

    to: Annotated[
        tuple[Annotated[str, AfterValidator(_address)], ...],
        BeforeValidator(_addresses),
        Field(min_length=1, max_length=RECIPIENTS_MAX),
    ]
    """Who gets the mail: one address or a few, one a line. They all get the same link."""
    from_email: Annotated[str, AfterValidator(_address_or_blank)] = ""
    """The sender's address. Empty: the deployment's DEFAULT_FROM_EMAIL."""
    from_name: Annotated[str, AfterValidator(header_words), Field(max_length=NAME_MAX)] = ""
    """The sender's name in the recipient's list of mails, such as Shop assistant."""
    smtp_url: Annotated[str, AfterValidator(_smtp_url), Field(repr=False)] = ""
    """smtp+tls://user:password@mail.example.org:587. Empty: the deployment's EMAIL_URL."""
    inbound: Inbound = Inbound.NONE
    """Whether replies by mail are read: imap looks into a mailbox, anymail takes the webhook of a
    mail host."""
    inbound_domain: Annotated[
        str, AfterValidator(_domain_or_blank), Field(validate_default=True)
    ] = ""
    """The domain of the addresses that replies go to. Every reply needs an address of its own
    there."""
    inbound_local_part: Annotated[str, AfterValidator(_local_part)] = LOCAL_PART
    """What such an address has before its @. For the mailbox support@: support+{token}. For a
    mailbox that gets all mail of the domain: reply-{token}."""
    imap_url: Annotated[
        str, AfterValidator(_imap_url), Field(validate_default=True, repr=False)
    ] = ""
    """The mailbox of replies: imaps://user:password@mail.example.org."""
    imap_folder: Annotated[str, AfterValidator(_imap_folder)] = "INBOX"
    """The folder of that mailbox."""
