"""A real IMAP4rev1 server on loopback, as far as reading one folder needs, with the ways in which
real ones fail.

with ImapServer() as server:
    server.put(b"Subject: hello\r\n\r\nworld\r\n")
    read_mail_from(server.url)
    assert server.seen == set()
"""

import dataclasses
import datetime as dt
import re
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from enum import StrEnum
from types import TracebackType
from typing import Self
from urllib.parse import quote


class Mode(StrEnum):
    SERVE = "serve"
    REFUSE_AT_CONNECT = "say BYE at once"
    NEVER_GREET = "accept the connection and never greet"
    TRICKLE = "greet a byte a second"
    NOT_IMAP = "greet as another protocol does"
    NO_STARTTLS = "offer no STARTTLS"
    BUSY = "refuse the login for now"
    ECHO_LOGIN = "refuse the login and say it back"
    HANG_IN_FETCH = "announce a message and say nothing more"
    TRICKLE_IN_FETCH = "send a message a byte a second"
    DROP_IN_FETCH = "break off inside a message"
    FLOOD_IN_FETCH = "announce a message of a terabyte, and send"
    FLOOD_IN_SEARCH = "answer a search with lines without end"
    HUGE_NUMBER = "announce a message with a size of 5,000 digits"


class Tls(StrEnum):
    NONE = "imap"
    STARTTLS = "imap+tls"
    AT_ONCE = "imaps"


@dataclasses.dataclass(kw_only=True)
class Stored:
    uid: int
    content: bytes
    at: dt.datetime


class ImapServer:
    """Listens on 127.0.0.1 while its `with` block runs.

    `mode` may change at any time and counts from the next command on. A message in `broken` is
    answered with NO. `login` is (user, password).
    """

    def __init__(
        self,
        mode: Mode = Mode.SERVE,
        *,
        tls: Tls = Tls.NONE,
        tls_context: ssl.SSLContext | None = None,
        login: tuple[str, str] = ("desk@mail.example", "s3cr3t word"),
        folder: str = "INBOX",
        says_uidnext: bool = True,
    ) -> None:
        self.mode = mode
        self.tls = tls
        self.tls_context = tls_context
        self.login = login
        self.folder = folder
        self.says_uidnext = says_uidnext
        self.validity = 1700000000
        self.next_uid = 1
        self.messages: list[Stored] = []
        self.broken: set[int] = set()
        self.seen: set[int] = set()
        """Messages that count as read."""
        self.commands: list[str] = []
        """Every command that came, in order, without its tag."""
        self.connections = 0
        self.stopped = threading.Event()
        self._server = _Listening(("127.0.0.1", 0), _Dialogue)
        self._server.fake = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="fake imap", daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The URL that reaches this server, with its login."""
        who = ":".join(quote(part, safe="") for part in self.login)
        return f"{self.tls}://{who}@127.0.0.1:{self.port}"

    def put(self, content: bytes, *, at: dt.datetime | None = None) -> int:
        """Deliver a message; its UID. Line ends become CRLF, as on any server."""
        content = re.sub(rb"\r?\n", b"\r\n", content)
        stored = Stored(uid=self.next_uid, content=content, at=at or dt.datetime.now(dt.UTC))
        self.messages = [*self.messages, stored]
        self.next_uid += 1
        return stored.uid

    def rebuild(self, *, validity: int) -> None:
        """Number all messages anew, as a restored mailbox does."""
        self.validity = validity
        self.messages = [
            dataclasses.replace(message, uid=number)
            for number, message in enumerate(self.messages, 1)
        ]
        self.next_uid = len(self.messages) + 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Listening(socketserver.ThreadingTCPServer):
    fake: ImapServer
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that left in the middle is what many tests are about."""


class _Dialogue(socketserver.BaseRequestHandler):
    request: socket.socket
    server: _Listening

    def setup(self) -> None:
        self.fake = self.server.fake
        self.fake.connections += 1
        self.read_only = False
        self.logged_in = False
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.fake.tls is Tls.AT_ONCE:
            assert self.fake.tls_context
            self.request = self.fake.tls_context.wrap_socket(self.request, server_side=True)
        self.lines = self.request.makefile("rb")

    def finish(self) -> None:
        self.lines.close()
        self.request.close()

    def handle(self) -> None:
        mode = self.fake.mode
        if mode is Mode.REFUSE_AT_CONNECT:
            return self.say("* BYE too many connections")
        if mode is Mode.NEVER_GREET:
            self.fake.stopped.wait(60)
            return None
        if mode is Mode.TRICKLE:
            return self.trickle(b"* OK " + b"x" * 1000)
        if mode is Mode.NOT_IMAP:
            return self.say("220 mail.example.org ESMTP")
        self.say("* OK ready")
        for line in iter(lambda: self.lines.readline(), b""):
            tag, _, command = line.decode("utf-8", "replace").rstrip("\r\n").partition(" ")
            self.fake.commands.append(command)
            if not self.obey(tag, command):
                return None
        return None

    def say(self, line: str) -> None:
        self.request.sendall(line.encode("utf-8") + b"\r\n")

    def trickle(self, content: bytes) -> None:
        for byte in content:
            self.request.sendall(bytes([byte]))
            if self.fake.stopped.wait(1):
                return

    def obey(self, tag: str, command: str) -> bool:
        """Answer one command; False ends the dialogue."""
        name = command.upper().split(" ", 2)
        if name[0] == "CAPABILITY":
            more = " STARTTLS" if self.fake.tls is Tls.STARTTLS else ""
            more = "" if self.fake.mode is Mode.NO_STARTTLS else more
            self.say(f"* CAPABILITY IMAP4rev1{more}")
            self.say(f"{tag} OK done")
        elif name[0] == "STARTTLS":
            self.say(f"{tag} OK begin")
            assert self.fake.tls_context
            self.request = self.fake.tls_context.wrap_socket(self.request, server_side=True)
            self.lines = self.request.makefile("rb")
        elif name[0] == "LOGIN":
            self.log_in(tag, command)
        elif name[0] == "LOGOUT":
            self.say("* BYE see you")
            self.say(f"{tag} OK done")
            return False
        elif not self.logged_in:
            self.say(f"{tag} BAD log in first")
        elif name[0] in ("SELECT", "EXAMINE"):
            self.select(tag, command)
        elif name[:2] == ["UID", "SEARCH"]:
            self.search(tag, name[2])
        elif name[:2] == ["UID", "FETCH"]:
            return self.fetch(tag, name[2])
        else:
            self.say(f"{tag} BAD what?")
        return True

    def log_in(self, tag: str, command: str) -> None:
        given = tuple(re.sub(r"\\(.)", r"\1", part) for part in _strings(command))
        if self.fake.mode is Mode.BUSY:
            return self.say(f"{tag} NO [UNAVAILABLE] the directory is away")
        if self.fake.mode is Mode.ECHO_LOGIN:
            return self.say(f"{tag} NO {given[0]} may not use {given[1]} from 10.1.2.3")
        self.logged_in = given == self.fake.login
        return self.say(f"{tag} OK hello" if self.logged_in else f"{tag} NO [AUTHENTICATIONFAILED]")

    def select(self, tag: str, command: str) -> None:
        self.read_only = command.upper().startswith("EXAMINE")
        folder = re.sub(r"\\(.)", r"\1", next(_strings(command), command.split(" ", 1)[1]))
        if folder != self.fake.folder:
            return self.say(f"{tag} NO [NONEXISTENT] no such folder")
        self.say(f"* {len(self.fake.messages)} EXISTS")
        self.say("* 0 RECENT")
        self.say(r"* FLAGS (\Seen \Deleted)")
        self.say(f"* OK [UIDVALIDITY {self.fake.validity}] valid")
        if self.fake.says_uidnext:
            self.say(f"* OK [UIDNEXT {self.fake.next_uid}] predicted")
        return self.say(f"{tag} OK [{'READ-ONLY' if self.read_only else 'READ-WRITE'}] open")

    def search(self, tag: str, criteria: str) -> None:
        if self.fake.mode is Mode.FLOOD_IN_SEARCH:
            line = b"* SEARCH " + b"1 " * 100_000 + b"\r\n"
            while not self.fake.stopped.is_set():
                self.request.sendall(line)
        uids = [message.uid for message in self.fake.messages]
        kind, _, given = criteria.partition(" ")
        if kind == "UID":
            first, _, last = (given if ":" in given else f"{given}:{given}").partition(":")
            newest = max(uids, default=0)
            ends = sorted(newest if end == "*" else int(end) for end in (first, last))
            found = [uid for uid in uids if ends[0] <= uid <= ends[1]]
        else:
            day = dt.datetime.strptime(given, "%d-%b-%Y").replace(tzinfo=dt.UTC).date()
            found = [one.uid for one in self.fake.messages if one.at.date() >= day]
        self.say(" ".join(["* SEARCH", *map(str, found)]))
        self.say(f"{tag} OK done")

    def fetch(self, tag: str, given: str) -> bool:
        number, items = given.split(" ", 1)
        uid = int(number)
        if uid in self.fake.broken:
            self.say(f"{tag} NO [SERVERBUG] that one cannot be read")
            return True
        found = [pair for pair in enumerate(self.fake.messages, 1) if pair[1].uid == uid]
        for sequence, message in found:
            asked = re.search(r"BODY(\.PEEK)?\[\](?:<0\.(\d+)>)?", items)
            assert asked, items
            if not asked[1] and not self.read_only:
                self.fake.seen.add(uid)
            content = message.content[: int(asked[2])] if asked[2] else message.content
            if not self.send_message(sequence, message, content):
                return False
        self.say(f"{tag} OK done")
        return True

    def send_message(self, sequence: int, message: Stored, content: bytes) -> bool:
        mode = self.fake.mode
        size = {Mode.FLOOD_IN_FETCH: str(10**12), Mode.HUGE_NUMBER: "9" * 5000}.get(
            mode, str(len(content))
        )
        at = message.at.strftime("%d-%b-%Y %H:%M:%S %z")
        # unasked news of another message may stand anywhere, and items come in any order
        self.say(rf"* {sequence + 1} FETCH (FLAGS (\Recent))")
        self.say(f"* {sequence} FETCH (UID {message.uid} BODY[]<0> {{{size}}}")
        if mode is Mode.HANG_IN_FETCH:
            self.fake.stopped.wait(60)
            return False
        if mode is Mode.TRICKLE_IN_FETCH:
            self.trickle(content)
            return False
        if mode is Mode.DROP_IN_FETCH:
            self.request.sendall(content[: len(content) // 2])
            return False
        while mode is Mode.FLOOD_IN_FETCH and not self.fake.stopped.is_set():
            self.request.sendall(b"x" * 65536)
        self.request.sendall(content)
        self.say(f' INTERNALDATE "{at}" RFC822.SIZE {len(message.content)})')
        return True


def _strings(command: str) -> Iterator[str]:
    """The quoted strings of a command, as they were written."""
    for found in re.finditer(r'"((?:[^"\\]|\\.)*)"', command):
        yield found[1]
