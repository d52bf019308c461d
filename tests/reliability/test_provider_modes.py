"""Row 9: whatever stands between the desk and a provider does, a send is answered in time, and
its answer is true about whether anything had left.
"""

import dataclasses
import datetime as dt
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Final

import pytest
from pytest_django import Settings

from handoff.contract.kinds import ChannelKind
from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports import transport_class
from tests.fakes.examples import CONFIGS
from tests.fakes.rude import Rude, RudeServer
from tests.fakes.smtp import SmtpServer
from tests.reliability.figures import report
from tests.reliability.sizes import sizes
from tests.transports.mail_samples import request

GRACE: Final = 1.0
HANGING: Final = "hanging.example.org"
"""A name whose lookup never ends."""
DNS_HANG: Final = "a name that is never resolved"
MODES: Final = (*Rude, DNS_HANG)
NETWORK_KINDS: Final = (ChannelKind.EMAIL, *CONFIGS)
SECRETS: Final = (
    *("127.0.0.1", HANGING, "cloud-proxy-7"),
    *(config[key] for config in CONFIGS.values() for key in config if "token" in key),
)
"""What no error may repeat."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """One kind behind one fault: `sent` when it strikes after the whole message had left."""

    kind: str
    mode: str
    sent: bool

    @property
    def right(self) -> Kind:
        return Kind.UNKNOWN_OUTCOME if self.sent else Kind.CONNECT


@dataclasses.dataclass(frozen=True)
class Outcome:
    cell: Cell
    word: str
    """The kind of the error, or what happened in its place."""
    seconds: float
    told: str = ""

    @property
    def is_right(self) -> bool:
        return self.word == self.cell.right and not any(word in self.told for word in SECRETS)


type Send = Callable[[Cell, int, float], None]
"""Sends one message to a port before a deadline."""


def before_or_after(mode: str) -> tuple[bool, ...]:
    """Where in a send a fault can strike: before anything has left, or after all of it."""
    return (False,) if mode in (Rude.REFUSE, DNS_HANG) else (False, True)


def through_the_transport(cell: Cell, port: int, deadline: float) -> None:
    host = HANGING if cell.mode == DNS_HANG else "127.0.0.1"
    config = CONFIGS.get(cell.kind)
    if config is None:
        scheme = "smtp+ssl" if cell.mode == Rude.GARBAGE and not cell.sent else "smtp"
        config = {"to": "jo@support.example", "smtp_url": f"{scheme}://{host}:{port}"}
    found = transport_class(cell.kind)
    transport = found(found.settings_model.model_validate(config))
    transport.send(request(heard_at=dt.datetime.now(dt.UTC)), deadline=deadline)


def carelessly(cell: Cell, port: int, deadline: float) -> None:
    """What the standard library does by itself: a timeout that starts anew with every byte, and
    nobody who knows what had left. The matrix has to find it.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=deadline - time.monotonic())
    try:
        connection.request("POST", "/", body=b"{}")
        connection.getresponse().read()
    except (OSError, http.client.HTTPException) as error:
        raise TransportError(Kind.CONNECT, "timed out") from error
    finally:
        connection.close()


def outcome(send: Send, cell: Cell, port: int, seconds: float) -> Outcome:
    started = time.monotonic()
    word, told = "accepted", ""
    try:
        send(cell, port, started + seconds)
    except TransportError as error:
        word, told = error.kind, f"{error} {error.hint}"
    return Outcome(cell, word, time.monotonic() - started, told)


def struck(
    send: Send, mode: str, *, kinds: tuple[str, ...], sent: bool, seconds: float, settings: Settings
) -> list[Outcome]:
    """What each kind's send comes to, all at once, when a fault strikes before or after it left.

    A send that is not back a second after its deadline counts as `late`.
    """
    rude = Rude.SILENT if mode == DNS_HANG else Rude(mode)
    with (
        ThreadPoolExecutor(len(kinds)) as pool,  # left last: what is late ends with its server
        SmtpServer() as mail,
        RudeServer(rude, at_once=not sent) as web,
        RudeServer(
            rude, at_once=not sent, upstream=mail.port if sent else None, start=b"250-"
        ) as relay,
    ):
        host = HANGING if mode == DNS_HANG else "127.0.0.1"
        for kind in CONFIGS:
            base = f"{'http' if sent else 'https'}://{host}:{web.port}"
            setattr(settings, f"{kind.upper()}_API_BASE", base)
        calls: dict[Future[Outcome], Cell] = {}
        for kind in kinds:
            cell = Cell(kind, mode, sent)
            port = relay.port if kind == ChannelKind.EMAIL else web.port
            calls[pool.submit(outcome, send, cell, port, seconds)] = cell
        done, late = wait(calls, timeout=seconds + GRACE)
        if sent and ChannelKind.EMAIL in kinds:
            assert len(mail.messages) == 1  # or nothing was to be lost
        return [
            *(call.result() for call in done),
            *(Outcome(calls[call], "late", seconds + GRACE) for call in late),
        ]


@pytest.fixture
def hanging_dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    over = threading.Event()
    look_up = socket.getaddrinfo

    def hang(host: Any, *args: Any, **named: Any) -> Any:
        if host == HANGING:
            over.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "at last")
        return look_up(host, *args, **named)

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    yield
    over.set()


@sizes(quick=1, full=3)
@pytest.mark.usefixtures("hanging_dns")
def test_every_send_is_answered_in_time_and_says_truly_whether_anything_left(
    size: int, settings: Settings
) -> None:
    seconds = 1.5 if size == 1 else settings.DISPATCH_SECONDS
    struck(  # not counted: a first send loads modules and templates, which a desk has done
        through_the_transport,
        Rude.REFUSE,
        kinds=NETWORK_KINDS,
        sent=False,
        seconds=30,
        settings=settings,
    )
    found = [
        came
        for _ in range(size)
        for mode in MODES
        for sent in before_or_after(mode)
        for came in struck(
            through_the_transport,
            mode,
            kinds=NETWORK_KINDS,
            sent=sent,
            seconds=seconds,
            settings=settings,
        )
    ]
    wrong = [came for came in found if not came.is_right]
    slowest = max(came.seconds for came in found)
    report(
        9,
        f"{len(MODES)} modes x {len(NETWORK_KINDS)} kinds, {len(found)} sends: "
        f"{len(found) - len(wrong)} answered in time and rightly, the slowest "
        f"{slowest - seconds:+.2f} s from its deadline of {seconds:g} s",
    )
    assert wrong == []
    assert {(came.cell.kind, came.cell.mode) for came in found} == {
        (kind, mode) for kind in NETWORK_KINDS for mode in MODES
    }
    assert len(MODES) == 12
    assert slowest < seconds + GRACE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "word"),
    [(Rude.TRICKLE, "late"), (Rude.SILENT, Kind.CONNECT), (Rude.EMPTY, "accepted")],
)
def test_the_matrix_finds_a_send_that_has_only_the_timeout_of_its_library(
    mode: Rude, word: str, settings: Settings
) -> None:
    [found] = struck(
        carelessly, mode, kinds=(ChannelKind.SLACK,), sent=True, seconds=1.5, settings=settings
    )
    assert (found.word, found.is_right) == (word, False)
