"""What a failed mail means: one judgement for every way in which SMTP can fail."""

import re
import smtplib
import socket
import ssl
from enum import IntEnum

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.targets import ForbiddenAddressError, PrivateAddressError

ADDRESS = re.compile(r"[^\s<>@,;:()\[\]]+@[^\s<>@,;()]+")
MAILBOX_FULL = 552
"""552 says "too much": of a message when it answers MAIL or DATA, of a mailbox when RCPT."""


class Stage(IntEnum):
    """How far one mail came. From FINAL_DOT on, the server may have it."""

    CONNECT = 1
    LOGIN = 2
    ENVELOPE = 3
    CONTENT = 4
    FINAL_DOT = 5


def words(code: int, reply: bytes | str) -> str:
    """A server's reply for the trail: code and text, as `plain` leaves it."""
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return f"{code} {plain(text)}".strip()


def plain(text: str) -> str:
    """One line for the trail, which holds no addresses and no control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return ADDRESS.sub("(address)", line)


def judge(error: Exception, *, stage: Stage, late: bool, recipients: int = 1) -> TransportError:
    """The TransportError for what smtplib, ssl or the socket raised at `stage`.

    `late` says that the deadline cut the connection. Kinds follow RFC 5321: a reply is a
    definite word, 4yz for now and 5yz for good; silence after the final dot decides nothing.
    """
    if isinstance(error, ForbiddenAddressError):
        return TransportError(Kind.PERMISSION, str(error), hint=forbidden_hint(error))
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return _recipients(error.recipients, recipients)
    if isinstance(error, smtplib.SMTPResponseException) and 400 <= error.smtp_code <= 599:
        return _reply(error, stage)
    silence = "no answer before the deadline" if late else _what(error)
    if stage is Stage.FINAL_DOT:
        return TransportError(
            Kind.UNKNOWN_OUTCOME,
            f"after the whole message was sent: {silence}",
            hint="Look into the recipient's mailbox before sending anything again.",
        )
    if isinstance(error, ssl.SSLError) and not late:
        return TransportError(
            Kind.CONNECT,
            f"TLS: {silence}",
            provider_code="tls",
            hint=(
                "Check that the URL names the host of the server's certificate and the right "
                "kind of TLS: smtp+tls:// for STARTTLS, smtp+ssl:// for TLS from the first byte."
            ),
        )
    if isinstance(error, smtplib.SMTPNotSupportedError) or (
        stage is Stage.LOGIN and type(error) is smtplib.SMTPException
    ):
        return TransportError(Kind.AUTH, silence, hint=_unsupported_hint(str(error)))
    if stage in (Stage.CONNECT, Stage.LOGIN):
        return TransportError(Kind.CONNECT, silence, hint=_connect_hint(error, late=late))
    return TransportError(
        Kind.TRANSIENT,
        f"before the message was complete: {silence}",
        hint="The mail server broke off; nothing was sent. Try again later.",
    )


def _reply(error: smtplib.SMTPResponseException, stage: Stage) -> TransportError:
    code, detail = error.smtp_code, words(error.smtp_code, error.smtp_error)
    kind, hint = _kind_of_reply(error, stage)
    return TransportError(kind, detail, provider_code=str(code), hint=hint)


def _kind_of_reply(error: smtplib.SMTPResponseException, stage: Stage) -> tuple[Kind, str]:
    code = error.smtp_code
    if stage is Stage.CONNECT:
        return Kind.CONNECT, "The mail server refuses this desk at the door; ask its postmaster."
    if code < 500:
        return Kind.TRANSIENT, "The mail server asks to try again later."
    if stage is Stage.LOGIN:
        return Kind.AUTH, "Check the user and the password in the mail server URL."
    if code == MAILBOX_FULL:
        return Kind.TOO_LONG, "The mail server takes only smaller messages."
    if isinstance(error, smtplib.SMTPSenderRefused):
        return Kind.PERMISSION, "The mail server does not let this desk send as from_email."
    return Kind.PERMISSION, "The mail server refused the message; ask its postmaster why."


def _recipients(refused: dict[str, tuple[int, bytes]], recipients: int) -> TransportError:
    """Every address was refused; 4yz for one of them leaves hope for a later try."""
    code, reply = min(refused.values(), key=lambda answer: answer[0])
    detail = f"{len(refused)} of {recipients} refused: {words(code, reply)}"
    if code < 500:
        return TransportError(
            Kind.TRANSIENT,
            detail,
            provider_code=str(code),
            hint="The mail server asks to try again later (greylisting does that once).",
        )
    return TransportError(
        Kind.RECIPIENT_UNREACHABLE,
        detail,
        provider_code=str(code),
        hint="The mail server does not take mail for this recipient; check the address in `to`.",
    )


def _what(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate was not accepted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return error.reason or "the handshake failed"
    if isinstance(error, smtplib.SMTPResponseException):
        return words(error.smtp_code, error.smtp_error)
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return "the server closed the connection"
    return plain(str(error) or type(error).__name__)


def _unsupported_hint(text: str) -> str:
    if "STARTTLS" in text:
        return (
            "The server offers no STARTTLS: use smtp+ssl:// or, inside a trusted network, smtp://."
        )
    return (
        "The server offers no login on this connection: it may want TLS first (smtp+tls://), "
        "or take mail without a user and a password."
    )


def forbidden_hint(error: ForbiddenAddressError) -> str:
    """The same words whatever listens there: nothing was tried."""
    if isinstance(error, PrivateAddressError):
        return (
            "The host of the mail server URL leads to an address that is not public, so nothing "
            "was tried. If it is meant, whoever runs the desk adds the host or its network to "
            "HANDOFF_PRIVATE_TARGETS and restarts the desk."
        )
    return "The host of the mail server URL leads to an address that is never allowed."


def _connect_hint(error: Exception, *, late: bool) -> str:
    if isinstance(error, socket.gaierror):
        return "The host of the mail server URL is not known; check its spelling."
    if isinstance(error, ConnectionRefusedError):
        return "Nothing listens there; check the port and that the mail server runs."
    if late or isinstance(error, TimeoutError):
        return (
            "The mail server did not answer in time; check the port (smtp+ssl:// speaks TLS from "
            "the first byte) and that no firewall stands between."
        )
    return "The mail server broke the connection off before taking anything; check host and port."
