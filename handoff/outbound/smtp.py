"""The one place that opens SMTP connections: a whole deadline, and one true word about each mail.

smtplib speaks the protocol; what it lacks is here. Its own `sendmail` cannot tell whether the
final dot had left when a connection broke, and its timeout restarts with every byte.
"""

import base64
import dataclasses
import os
import secrets
import smtplib
import socket
import ssl
import time
from collections.abc import Iterator
from typing import BinaryIO

from django.conf import settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.connect import Watchdog, connect
from handoff.outbound.mail_url import MailFolder, MailServer, Security
from handoff.outbound.smtp_errors import Stage, judge, words
from handoff.outbound.targets import Allowed

CHALLENGE = 334
GOODBYE_SECONDS = 1.0
PASSWORD_MIN = 6
"""What is shorter may be a part of anything that a server says."""
REPLY_MAX = 64 * 1024
"""Bytes of one reply, which smtplib would read to its end, however far that is."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Letter:
    """One message as it goes over the wire: envelope addresses in ASCII, content with CRLF."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes


@dataclasses.dataclass(frozen=True, kw_only=True)
class Accepted:
    """The server's word that it took the message."""

    reply: str
    """Code and text, without addresses."""
    refused: int = 0
    """How many of several recipients were refused while others were taken."""


def deliver(letter: Letter, *, via: MailServer | MailFolder, deadline: float) -> Accepted:
    """Hand one message over before `deadline` (`time.monotonic()`); returns only when it was taken.

    Raises TransportError; its kind is `unknown_outcome` when the final dot had been sent and no
    answer came.
    """
    if isinstance(via, MailFolder):
        return _drop(letter, via)
    with Watchdog(deadline) as watchdog:
        session: Session | None = None
        try:
            session = Session(via, watchdog)
            session.log_in()
            accepted = session.hand_over(letter)
        except (smtplib.SMTPException, OSError) as error:
            raise judge(
                error,
                stage=session.stage if session else Stage.CONNECT,
                late=watchdog.fired,
                recipients=len(letter.recipients),
            ) from error
        finally:
            if session is not None:
                session.leave()
    return accepted


def check(server: MailServer, *, deadline: float) -> Iterator[str]:
    """Connect, encrypt, log in and ask for a NOOP; yields a line for each step that worked.

    Raises TransportError at the step that did not. Sends nothing to anybody.
    """
    with Watchdog(deadline) as watchdog:
        session: Session | None = None
        try:
            session = Session(server, watchdog)
            yield "Connected to the mail server."
            yield from session.log_in_by_steps()
            code, reply = session.noop()
            if code != 250:
                raise smtplib.SMTPResponseException(code, reply)
            yield "The mail server is ready to take mail."
        except (smtplib.SMTPException, OSError) as error:
            stage = session.stage if session else Stage.CONNECT
            raise judge(error, stage=stage, late=watchdog.fired) from error
        finally:
            if session is not None:
                session.leave()


class Session(smtplib.SMTP):
    """One SMTP dialogue that knows how far it came. Greeted when made; raises as smtplib does."""

    def __init__(self, server: MailServer, watchdog: Watchdog) -> None:
        self.server = server
        self.watchdog = watchdog
        self.stage = Stage.CONNECT
        # a name given here keeps smtplib from asking the DNS for ours, which knows no deadline
        super().__init__(server.host, server.port, local_hostname="localhost")
        self.local_hostname = self._own_name()
        code, reply = self.ehlo()
        if not 200 <= code <= 299:
            code, reply = self.helo()
        if not 200 <= code <= 299:
            self.leave()
            raise smtplib.SMTPHeloError(code, reply)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        allowed = None if self.server.trusted else Allowed.read(settings.PRIVATE_TARGETS)
        connection = connect(host, port, watchdog=self.watchdog, allowed=allowed)
        if self.server.security is Security.TLS:
            return ssl.create_default_context().wrap_socket(connection, server_hostname=host)
        return connection

    def _own_name(self) -> str:
        """RFC 5321, 4.1.4: our host name, or our address as a literal."""
        name = socket.gethostname()
        if "." in name and name.isascii():
            return name
        address = str(self.sock.getsockname()[0]) if self.sock else "127.0.0.1"
        return f"[IPv6:{address}]" if ":" in address else f"[{address}]"

    def log_in(self) -> None:
        for _ in self.log_in_by_steps():
            pass

    def log_in_by_steps(self) -> Iterator[str]:
        self.stage = Stage.LOGIN
        if self.server.security is Security.STARTTLS:
            self.starttls(context=ssl.create_default_context())
            self.ehlo()
        if self.server.security is Security.NONE:
            yield "The connection is not encrypted."
        else:
            yield "The connection is encrypted and the certificate is good."
        if self.server.username:
            self.login(self.server.username, self.server.password)
            yield "Logged in."
        self.stage = Stage.ENVELOPE

    def hand_over(self, letter: Letter) -> Accepted:
        size = [f"SIZE={len(letter.content)}"] if self.has_extn("size") else []
        code, reply = self.mail(letter.sender, size)
        if code != 250:
            raise smtplib.SMTPSenderRefused(code, reply, letter.sender)
        refused: dict[str, tuple[int, bytes]] = {}
        for address in letter.recipients:
            code, reply = self.rcpt(address)
            if not 200 <= code <= 299:
                refused[address] = (code, reply)
            if code == 421:
                break
        if code == 421 or len(refused) == len(letter.recipients):
            raise smtplib.SMTPRecipientsRefused(refused)
        reply_to_dot = self._content(letter.content)
        return Accepted(reply=words(*reply_to_dot), refused=len(refused))

    def _content(self, content: bytes) -> tuple[int, bytes]:
        """The content and then the final dot, so that a failure knows which of them had left."""
        self.stage = Stage.CONTENT
        code, reply = self.docmd("DATA")
        if code != 354:
            raise smtplib.SMTPDataError(code, reply)
        stuffed = (b"\r\n" + content).replace(b"\r\n.", b"\r\n..").removeprefix(b"\r\n")
        self.send(stuffed if stuffed.endswith(b"\r\n") else stuffed + b"\r\n")
        self.stage = Stage.FINAL_DOT
        self.send(b".\r\n")
        code, reply = self.getreply()
        if not 200 <= code <= 299:
            raise smtplib.SMTPDataError(code, reply)
        return code, reply

    def getreply(self) -> tuple[int, bytes]:
        """As smtplib's, and unreadable (-1) when it is longer than REPLY_MAX, or one of its lines
        than smtplib takes: that says nothing about the mail. Without the login in it.
        """
        if self.file is None and self.sock is not None:
            self.file = _Replies(self.sock.makefile("rb"))
        replies = self.file
        try:
            code, reply = super().getreply()
        except smtplib.SMTPServerDisconnected:
            if isinstance(replies, _Replies) and replies.too_long:
                raise smtplib.SMTPResponseException(-1, "the reply was too long") from None
            raise
        finally:
            if isinstance(replies, _Replies):
                replies.read = 0
        return code, reply if code == CHALLENGE else self._without_login(reply)

    def _without_login(self, reply: bytes) -> bytes:
        """A reply that says the password back, as it is or as it was sent, does so to nobody."""
        user, password = self.server.username.encode(), self.server.password.encode()
        if len(password) >= PASSWORD_MIN:
            sent = (base64.b64encode(text) for text in (b"\0%s\0%s" % (user, password), password))
            for form in (password, *sent):
                reply = reply.replace(form, b"***")
        return reply

    def leave(self) -> None:
        """Say QUIT and close. Whatever happens here changes nothing about the mail."""
        try:
            if self.sock is not None:
                self.sock.settimeout(GOODBYE_SECONDS)
                self.putcmd("quit")
                self.sock.recv(512)
        except (smtplib.SMTPException, OSError):
            pass  # the server left first
        finally:
            self.close()


class _Replies:
    """The file that smtplib reads replies from, with an end to each."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.read = 0
        """Bytes of the present reply."""
        self.too_long = False

    def readline(self, most: int) -> bytes:
        line = self._file.readline(most)
        self.read += len(line)
        if self.read > REPLY_MAX or len(line) >= most:
            self.too_long = True
            return b""  # for smtplib, the server has left
        return line

    def close(self) -> None:
        self._file.close()


def _drop(letter: Letter, folder: MailFolder) -> Accepted:
    """Write one complete, private `*.eml` file; names sort by time. Never half a file."""
    name = f"{time.time_ns()}-{secrets.token_hex(4)}"
    part, whole = folder.path / f".{name}.part", folder.path / f"{name}.eml"
    try:
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(letter.content)
        part.rename(whole)
    except OSError as error:
        raise TransportError(
            Kind.PERMISSION,
            f"the mail folder is not writable ({error.strerror})",
            hint="Make the mail folder writable for the account that runs the desk.",
        ) from error
    return Accepted(reply="written to the mail folder")
