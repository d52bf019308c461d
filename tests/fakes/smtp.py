"""A real SMTP server on loopback, with the ways in which real ones fail.

with SmtpServer() as server:
    send_something_to(server.url)
    mail = server.wait_for_message()
    assert "order 1234" in mail.text
"""

import asyncio
import dataclasses
import email
import email.policy
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from enum import StrEnum
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import quote

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


class Mode(StrEnum):
    ACCEPT = "accept"
    REFUSE_AT_CONNECT = "refuse at connect"
    NEVER_GREET = "accept the connection and never greet"
    TRICKLE = "greet a byte a second"
    DROP_BEFORE_DATA = "drop the connection when DATA is announced"
    DROP_IN_DATA = "drop the connection while the content comes"
    DROP_AFTER_DOT = "take the message, then drop the connection without a word"
    HANG_AFTER_DOT = "take the message, then say nothing"
    TRICKLE_AFTER_DOT = "take the message, then answer a byte a second"


class Tls(StrEnum):
    NONE = "smtp"
    STARTTLS = "smtp+tls"
    AT_ONCE = "smtp+ssl"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Received:
    """One message as the server got it."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes

    @property
    def message(self) -> EmailMessage:
        return email.message_from_bytes(self.content, policy=email.policy.default)

    @property
    def subject(self) -> str:
        return str(self.message["Subject"])

    @property
    def text(self) -> str:
        return self._body("plain")

    @property
    def html(self) -> str:
        return self._body("html")

    @property
    def attachments(self) -> dict[str, str]:
        """Text attachments by file name."""
        return {
            part.get_filename() or "": part.get_content().replace("\r\n", "\n")
            for part in self.message.iter_attachments()
        }

    def _body(self, kind: str) -> str:
        part = self.message.get_body((kind,))
        assert part is not None, f"the mail has no {kind} part"
        return str(part.get_content()).replace("\r\n", "\n")


class SmtpServer:
    """Listens on 127.0.0.1 while its `with` block runs; safe to read from any thread.

    `recipients` maps an address to the reply that RCPT gets, `mail_reply` and `data_reply` are
    the replies to MAIL FROM and to the final dot, `login` is (user, password). While `may_answer`
    is cleared, its word about a message that it took has to wait.
    """

    def __init__(
        self,
        mode: Mode = Mode.ACCEPT,
        *,
        tls: Tls = Tls.NONE,
        tls_context: ssl.SSLContext | None = None,
        login: tuple[str, str] | None = None,
        recipients: Mapping[str, str] | None = None,
        mail_reply: str = "",
        data_reply: str = "",
        size_limit: int | None = None,
    ) -> None:
        self.mode = mode
        self.tls = tls
        self.tls_context = tls_context
        self.login = login
        self.recipients = dict(recipients or {})
        self.mail_reply = mail_reply
        self.data_reply = data_reply
        self.size_limit = size_limit
        self.filter: Callable[[Received], str] = lambda received: ""
        self.port = 0
        self.connections = 0
        self.commands: list[str] = []
        """Every command line that came, in order."""
        self._messages: list[Received] = []
        self._opened: list[asyncio.Transport] = []
        self._arrived = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="fake smtp", daemon=True)
        self._started = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()

    @property
    def url(self) -> str:
        """The mail server URL that reaches this server, with its login."""
        who = ":".join(quote(part, safe="") for part in self.login) + "@" if self.login else ""
        return f"{self.tls}://{who}127.0.0.1:{self.port}"

    @property
    def messages(self) -> list[Received]:
        with self._arrived:
            return list(self._messages)

    def wait_for_message(self, *, number: int = 1, seconds: float = 10) -> Received:
        """The `number`th message, waiting for it at most `seconds`."""
        with self._arrived:
            came = self._arrived.wait_for(lambda: len(self._messages) >= number, timeout=seconds)
            assert came, f"{len(self._messages)} of {number} messages came within {seconds} s"
            return self._messages[number - 1]

    def connected(self, *, seconds: float = 5) -> int:
        """How many connected; waits for the first, which a client may have given up by then."""
        until = time.monotonic() + seconds
        while not self.connections and time.monotonic() < until:
            time.sleep(0.01)
        return self.connections

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(5), "the fake SMTP server did not start"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def take(self, envelope: Envelope) -> str:
        """The reply of a filter that did not let it through, else ""."""
        content = envelope.original_content
        assert isinstance(content, bytes)
        received = Received(
            sender=envelope.mail_from or "",
            recipients=tuple(envelope.rcpt_tos),
            content=content,
        )
        if refusal := self.filter(received):
            return refusal
        with self._arrived:
            self._messages.append(received)
            self._arrived.notify_all()
        return ""

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = self._loop.run_until_complete(
            self._loop.create_server(
                self._protocol,
                "127.0.0.1",
                0,
                ssl=self.tls_context if self.tls is Tls.AT_ONCE else None,
            )
        )
        self.port = listening.sockets[0].getsockname()[1]
        self._started.set()
        self._loop.run_forever()
        listening.close()
        for transport in self._opened:
            transport.abort()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _protocol(self) -> asyncio.BaseProtocol:
        self.connections += 1
        if self.mode in (Mode.NEVER_GREET, Mode.TRICKLE, Mode.REFUSE_AT_CONNECT):
            return _Rude(self.mode, self._opened)
        return _Polite(self)


class _Rude(asyncio.Protocol):
    """Says no, nothing, or far too little."""

    def __init__(self, mode: Mode, opened: list[asyncio.Transport]) -> None:
        self.mode = mode
        self.opened = opened

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.opened.append(self.transport)
        if self.mode is Mode.REFUSE_AT_CONNECT:
            self.transport.write(b"554 5.7.1 no mail from here\r\n")
            self.transport.close()
        elif self.mode is Mode.TRICKLE:
            self.task = asyncio.get_running_loop().create_task(trickle(self.transport))


async def trickle(transport: asyncio.Transport, start: bytes = b"220-") -> None:
    """An answer that never ends, a byte a second."""
    for byte in start + b"x" * 1000:
        if transport.is_closing():
            return
        transport.write(bytes([byte]))
        await asyncio.sleep(1)


class _Polite(SMTP):
    """aiosmtpd, with our replies at the points where real servers refuse or break off."""

    def __init__(self, server: SmtpServer) -> None:
        login = server.login
        super().__init__(
            _Handler(server),
            hostname="mail.example.org",
            ident="fake",
            data_size_limit=server.size_limit,
            tls_context=server.tls_context if server.tls is Tls.STARTTLS else None,
            require_starttls=server.tls is Tls.STARTTLS,
            auth_require_tls=False,
            authenticator=_authenticator(login) if login else None,
        )
        self.fake = server

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802
        if self.fake.mode is Mode.DROP_BEFORE_DATA:
            self._break_off()
        elif self.fake.mode is Mode.DROP_IN_DATA:
            await self.push("354 go on")
            await self._reader.readline()
            self._break_off()
        else:
            await super().smtp_DATA(arg)

    def _break_off(self) -> None:
        cast("asyncio.Transport", self.transport).abort()

    async def _handle_client(self) -> None:
        try:
            await super()._handle_client()
        except (ConnectionError, asyncio.CancelledError):
            return  # the client left, or the fake is being stopped


class _Handler:
    """The hooks that aiosmtpd calls; names are its own."""

    def __init__(self, server: SmtpServer) -> None:
        self.fake = server

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.fake.commands.append(f"MAIL FROM:<{address}> {' '.join(options)}".strip())
        if self.fake.login and not session.authenticated:
            return "530 5.7.0 Authentication required"
        if self.fake.mail_reply:
            return self.fake.mail_reply
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.fake.commands.append(f"RCPT TO:<{address}>")
        reply = self.fake.recipients.get(address, "250 OK")
        if reply.startswith("25"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.fake.data_reply:
            return self.fake.data_reply
        if refusal := self.fake.take(envelope):
            return refusal
        await asyncio.to_thread(self.fake.may_answer.wait, 60)
        transport = cast("asyncio.Transport", server.transport)
        if self.fake.mode is Mode.DROP_AFTER_DOT:
            transport.abort()
        elif self.fake.mode is Mode.HANG_AFTER_DOT:
            await asyncio.sleep(3600)
        elif self.fake.mode is Mode.TRICKLE_AFTER_DOT:
            await trickle(transport, b"250-")
        return "250 2.0.0 OK queued as 4711"


def _authenticator(login: tuple[str, str]) -> Any:
    def authenticate(
        server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: object
    ) -> AuthResult:
        expected = LoginPassword(login[0].encode(), login[1].encode())
        return AuthResult(success=data == expected, handled=False)

    return authenticate
