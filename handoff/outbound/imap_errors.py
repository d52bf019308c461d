"""What a failed look into a mailbox means: one judgement for every way in which IMAP can fail."""

import imaplib
import re
import socket
import ssl
from enum import IntEnum
from typing import Final

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.mail_url import MailServer
from handoff.outbound.smtp_errors import forbidden_hint, plain
from handoff.outbound.targets import ForbiddenAddressError

FAILURES: Final = (imaplib.IMAP4.error, OSError, ValueError, TypeError, AttributeError)
"""What imaplib raises; the last three where a server's answer has a shape that it does not
expect."""
_PASSING: Final = re.compile(r"\[(UNAVAILABLE|INUSE|LIMIT|SERVERBUG)\b", re.ASCII | re.IGNORECASE)
"""Response codes that say no for now (RFC 5530)."""


class Stage(IntEnum):
    CONNECT = 1
    LOGIN = 2
    FOLDER = 3
    READING = 4


class NoSuchFolder(imaplib.IMAP4.error):
    """The server does not open the folder."""


class Unencrypted(imaplib.IMAP4.error):
    """STARTTLS was asked for and is not offered."""


def judge(error: Exception, server: MailServer, *, stage: Stage, late: bool) -> TransportError:
    """The TransportError for what imaplib, ssl or the socket raised at `stage`.

    `late` says that the deadline cut the connection. Looking changes nothing at the server, so
    that no outcome is unknown.
    """
    detail = "no answer before the deadline" if late else _words(error, server)
    if isinstance(error, ForbiddenAddressError):
        return TransportError(Kind.PERMISSION, detail, hint=forbidden_hint(error))
    if isinstance(error, ssl.SSLError) and not late:
        return TransportError(
            Kind.CONNECT,
            f"IMAP, TLS: {detail}",
            provider_code="tls",
            hint=(
                "Check that imap_url names the host of the server's certificate and the right kind "
                "of TLS: imaps:// for TLS from the first byte, imap+tls:// for STARTTLS."
            ),
        )
    if isinstance(error, Unencrypted):
        return TransportError(
            Kind.AUTH,
            f"IMAP: {detail}",
            hint="The server offers no STARTTLS: write imaps:// in imap_url.",
        )
    kind, hint = _kind(error, detail, stage, late=late)
    return TransportError(kind, f"IMAP: {detail}", hint=hint)


def _kind(error: Exception, detail: str, stage: Stage, *, late: bool) -> tuple[Kind, str]:
    broken = late or isinstance(error, OSError | imaplib.IMAP4.abort)
    if stage is Stage.CONNECT:
        return Kind.CONNECT, _connect_hint(error, late=late)
    if broken or _PASSING.search(detail):
        return Kind.TRANSIENT, "The mailbox did not answer as it should; it is looked into again."
    if stage is Stage.LOGIN:
        return Kind.AUTH, (
            "The mailbox refuses the login: check the user and the password in imap_url. Many mail "
            "hosts want a password made for one program (an app password) here."
        )
    if isinstance(error, NoSuchFolder):
        return Kind.NOT_FOUND, "The mailbox has no such folder: correct imap_folder."
    return Kind.TRANSIENT, "The mailbox gave an answer that the desk does not understand."


def _connect_hint(error: Exception, *, late: bool) -> str:
    if isinstance(error, socket.gaierror):
        return "The host of imap_url is not known; check its spelling."
    if isinstance(error, ConnectionRefusedError):
        return "Nothing listens there; check host and port of imap_url."
    if late or isinstance(error, TimeoutError):
        return (
            "The mailbox's server did not answer in time; check the port (imaps:// speaks TLS from "
            "the first byte) and that no firewall stands between."
        )
    return "The host of imap_url does not answer as an IMAP server does; check host and port."


def _words(error: Exception, server: MailServer) -> str:
    """What the server or the library said, without the login: a server may say it back."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate was not accepted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return error.reason or "the handshake failed"
    first = error.args[0] if isinstance(error, imaplib.IMAP4.error) and error.args else str(error)
    text = first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)
    for secret, shown in ((server.password, "(password)"), (server.username, "(user)")):
        if secret:
            text = text.replace(secret, shown)
    return plain(text) or type(error).__name__
