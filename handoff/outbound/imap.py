"""The one place that opens IMAP connections: a whole deadline, checked addresses, verified TLS.

imaplib speaks the protocol. A mailbox is opened read-only and messages are peeked at, so that
nothing in it changes, not even what its people have not read yet.
"""

import dataclasses
import datetime as dt
import imaplib
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings

from handoff.outbound.connect import Watchdog, connect
from handoff.outbound.imap_errors import FAILURES, NoSuchFolder, Stage, Unencrypted, judge
from handoff.outbound.mail_url import MailServer, Security
from handoff.outbound.targets import Allowed

GOODBYE_SECONDS: Final = 1.0
RECEIVED_MAX: Final = 48 * 1024 * 1024
"""What one connection may bring, in bytes."""
_UID: Final = re.compile(rb"[( ]UID (\d{1,10})[ )]")
_DATE: Final = re.compile(rb'INTERNALDATE "([^"]{1,40})"')
_SIZE: Final = re.compile(rb"RFC822\.SIZE (\d{1,12})")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fetched:
    """One message as it lies in the mailbox."""

    uid: int
    content: bytes
    at: dt.datetime | None
    """When the server took it."""
    whole: bool = True
    """False when it is larger than what was asked for: then it is its beginning."""


class Mailbox:
    """An open folder; made by `open_mailbox`. Everything here raises TransportError."""

    def __init__(self, session: "Session", folder: str) -> None:
        self._session = session
        session.stage = Stage.FOLDER
        try:
            answer, said = session.select(_quoted(folder), readonly=True)
            if answer != "OK":
                raise NoSuchFolder(*said)
            session.stage = Stage.READING
            self.validity = session.number("UIDVALIDITY")
            """The numbers of messages mean something only together with this one."""
            self.next_uid = session.number("UIDNEXT")
            """The number that the next message gets, or one below; 0 when the server says none."""
        except FAILURES as error:
            raise session.judged(error) from error

    def newest(self) -> int:
        """The highest number of a message there is, or was; 0 in a folder that never had one."""
        if self.next_uid:
            return self.next_uid - 1
        return max(self._search("UID *"), default=0)

    def after(self, uid: int) -> list[int]:
        """The numbers above `uid`, in order."""
        # a range that ends with * names the last message even when that lies below it (RFC 3501)
        return sorted(found for found in self._search(f"UID {uid + 1}:*") if found > uid)

    def since(self, day: dt.date) -> list[int]:
        """The numbers of what came on `day`, by the server's calendar, or later."""
        return sorted(self._search(f"SINCE {day:%d-%b-%Y}"))

    def fetch(self, uid: int, *, cap: int) -> Fetched | None:
        """At most `cap` bytes of one message; None when it is gone, or the server keeps it back."""
        try:
            answer, parts = self._session.uid(
                "FETCH", str(uid), f"(UID INTERNALDATE RFC822.SIZE BODY.PEEK[]<0.{cap}>)"
            )
            return _fetched(uid, parts, cap) if answer == "OK" else None
        except FAILURES as error:
            raise self._session.judged(error) from error

    def _search(self, criteria: str) -> set[int]:
        try:
            answer, lines = self._session.uid("SEARCH", criteria)
            if answer != "OK":
                raise imaplib.IMAP4.error(*lines)
            return {int(number) for line in lines if line for number in line.split()}
        except FAILURES as error:
            raise self._session.judged(error) from error


@contextmanager
def open_mailbox(server: MailServer, folder: str, *, deadline: float) -> Iterator[Mailbox]:
    """A folder, opened read-only before `deadline` (`time.monotonic()`), which cuts whatever is
    still being read then. Raises TransportError.
    """
    with _session(server, deadline) as session:
        for _ in session.log_in_by_steps():
            pass
        yield Mailbox(session, folder)


def check(server: MailServer, folder: str, *, deadline: float) -> Iterator[str]:
    """Connect, encrypt, log in and open the folder; yields a line for each step that worked.

    Raises TransportError at the step that did not.
    """
    with _session(server, deadline) as session:
        yield "Connected to the mailbox's server."
        yield from session.log_in_by_steps()
        mailbox = Mailbox(session, folder)
        yield f"Opened the folder {folder} for reading (UIDVALIDITY {mailbox.validity})."


@contextmanager
def _session(server: MailServer, deadline: float) -> Iterator["Session"]:
    with Watchdog(deadline) as watchdog:
        try:
            session = Session(server, watchdog)
        except FAILURES as error:
            raise judge(error, server, stage=Stage.CONNECT, late=_is_late(watchdog)) from error
        try:
            yield session
        finally:
            session.leave()


class Session(imaplib.IMAP4):
    """One IMAP dialogue that knows how far it came, and takes only so much."""

    def __init__(self, server: MailServer, watchdog: Watchdog) -> None:
        self.server = server
        self.watchdog = watchdog
        self.stage = Stage.CONNECT
        self._received = 0
        super().__init__(server.host, server.port)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        allowed = None if self.server.trusted else Allowed.read(settings.PRIVATE_TARGETS)
        host, port = self.server.host, self.server.port
        connection = connect(host, port, watchdog=self.watchdog, allowed=allowed)
        if self.server.security is Security.TLS:
            return ssl.create_default_context().wrap_socket(connection, server_hostname=host)
        return connection

    def read(self, size: int) -> bytes:
        self._take(size)
        return super().read(size)

    def readline(self) -> bytes:
        line = super().readline()
        self._take(len(line))
        return line

    def _take(self, size: int) -> None:
        self._received += size
        if self._received > RECEIVED_MAX:
            raise self.abort("the server sent more than a mailbox should")

    def log_in_by_steps(self) -> Iterator[str]:
        """Yields a line for each step that worked; raises TransportError."""
        self.stage = Stage.LOGIN
        try:
            if self.server.security is Security.STARTTLS:
                if "STARTTLS" not in self.capabilities:
                    raise Unencrypted("no STARTTLS")
                self.starttls(ssl_context=ssl.create_default_context())
            if self.server.security is Security.NONE:
                yield "The connection is not encrypted."
            else:
                yield "The connection is encrypted and the certificate is good."
            self.login(_quoted(self.server.username), self.server.password)
        except FAILURES as error:
            raise self.judged(error) from error
        yield "Logged in."

    def number(self, name: str) -> int:
        """A number that the server gave when it opened the folder; 0 when it gave none."""
        _, found = self.response(name)
        return int(found[-1]) if found and found[-1] else 0

    def judged(self, error: Exception) -> Exception:
        return judge(error, self.server, stage=self.stage, late=_is_late(self.watchdog))

    def leave(self) -> None:
        """Say LOGOUT and close. Whatever happens here changes nothing."""
        try:
            self.sock.settimeout(GOODBYE_SECONDS)
            self.logout()
        except FAILURES:
            self._close()

    def _close(self) -> None:
        try:
            self.shutdown()
        except OSError:
            return  # the server left first


def _is_late(watchdog: Watchdog) -> bool:
    """Whether the deadline is why it failed: the socket's own timeout ends at the same moment."""
    return watchdog.fired or watchdog.remaining() < 0.05


def _quoted(text: str) -> str:
    """As a quoted string (RFC 3501, 4.3); the callers pass printable ASCII."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _fetched(uid: int, parts: list[Any], cap: int) -> Fetched | None:
    """From what imaplib makes of a FETCH: a tuple of text and literal, then the rest as text.

    A server may speak of other messages in between; theirs has another UID, or no literal.
    """
    text, content = b"", None
    for part in parts:
        if isinstance(part, tuple):
            text, content = part[0], part[1]
        elif isinstance(part, bytes) and content is not None:
            text += b" " + part
            named = _UID.search(text)
            if named is not None and int(named[1]) == uid:
                size = _SIZE.search(text)
                whole = int(size[1]) <= len(content) if size else len(content) < cap
                return Fetched(uid=uid, content=content[:cap], at=_date(text), whole=whole)
            text, content = b"", None
    return None


def _date(text: bytes) -> dt.datetime | None:
    found = _DATE.search(text)
    if found is None:
        return None
    try:
        return dt.datetime.strptime(found[1].decode("ascii").strip(), "%d-%b-%Y %H:%M:%S %z")
    except ValueError:
        return None
