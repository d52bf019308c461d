"""The settings of one mail channel (channels.md 1.7), checked by name and all at once."""

import re
from enum import StrEnum
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_domain_name, validate_email
from pydantic import AfterValidator, BeforeValidator, Field

from handoff.contract.limits import NAME_MAX
from handoff.outbound.mail_url import MailFolder, parse_mail_url
from handoff.transports.base import TransportSettings
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


def _imap_url(text: str) -> str:
    if text:
        try:
            parts = urlsplit(text)
            usable = parts.scheme in ("imap", "imaps") and bool(parts.hostname)
        except ValueError:
            usable = False
        if not usable:
            raise ValueError("must look like imaps://user:password@mail.example.org")
    return text


def _domain_or_blank(text: str) -> str:
    if text:
        try:
            validate_domain_name(text)
        except ValidationError:
            raise ValueError("must be a domain name, such as inbound.example.org") from None
    return text


def _supported(inbound: Inbound) -> Inbound:
    if inbound is not Inbound.NONE:
        raise ValueError("must be none: this version of the desk does not read replies by mail")
    return inbound


class EmailSettings(TransportSettings):
    secret_keys: ClassVar[frozenset[str]] = frozenset({"smtp_url", "imap_url"})
    dormant_keys: ClassVar[frozenset[str]] = frozenset(
        {"inbound", "inbound_domain", "imap_url", "imap_folder"}
    )

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
    inbound: Annotated[Inbound, AfterValidator(_supported)] = Inbound.NONE
    """Whether replies by mail are read, and how. This version reads none."""
    inbound_domain: Annotated[str, AfterValidator(_domain_or_blank)] = ""
    """The domain of the addresses that replies go to."""
    imap_url: Annotated[str, AfterValidator(_imap_url), Field(repr=False)] = ""
    """The mailbox of replies: imaps://user:password@mail.example.org."""
    imap_folder: str = "INBOX"
    """The folder of that mailbox."""
