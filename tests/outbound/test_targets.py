"""A channel's own server: nothing inside the network, however it is spelled, unless allowed."""

import ipaddress
import itertools
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.targets import Allowed, is_public
from handoff.transports.base import TestReport
from tests.fakes.smtp import SmtpServer
from tests.transports.mail_samples import channel, request, send

LOOPBACK = (
    "127.0.0.1", "127.0.0.1.", "localhost", "LocalHost", "localhost.", "127.1", "127.0.1",
    "127.255.255.254", "2130706433", "0x7f000001", "0x7F.0.0.1", "0x7f.1", "017700000001",
    "0177.0.0.1", "0177.0.0.01", "00000177.1", "127.0x0.0.1", "127.0.0.01", "0", "0.0.0.0",
    "0x0", "00", "0.1", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021",
    "\u2460\u2461\u2466.\u24ea.\u24ea.\u2460", "[::1]", "[::]",
    "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:1::1]", "[::ffff:0.0.0.0]",
)  # fmt: skip
ELSEWHERE = (
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.254", "192.168.1.1", "192.168.65.2",
    "100.64.0.1", "100.127.255.254", "169.254.0.1", "169.254.169.254", "0xa9fea9fe",
    "2852039166", "169.254.170.2", "100.100.100.200", "192.0.0.8", "192.0.2.7", "192.88.99.1",
    "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "0x0a000001", "012.0.0.1", "10.1", "[::ffff:10.0.0.1]", "[::ffff:a00:1]",
    "[::10.0.0.1]", "[64:ff9b::10.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]",
    "[2002:a00:1::]", "[2002:a9fe:a9fe::1]", "[2002:c0a8:101::1]", "[2002:6440:1::]",
    "[fe80::1]", "[fe80::1%251]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[fd12:3456::1]",
    "[ff02::1]", "[2001::1]", "[2001:10::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]",
    "[::ffff:0:127.0.0.1]", "[4000::1]",
)  # fmt: skip
ADDRESSES = {
    "public": "93.184.215.14", "public6": "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
    "private": "10.1.2.3", "loopback": "127.0.0.1", "unique local": "fd12:3456::7",
}  # fmt: skip


class Tried:
    """Every connection that this process tries, and what a listener on all loopbacks got."""

    def __init__(self) -> None:
        self.connects: list[Any] = []
        self.came = 0
        self.listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self.port: int = self.listener.getsockname()[1]
        threading.Thread(target=self._count, name="listener", daemon=True).start()

    def _count(self) -> None:
        with suppress(OSError):  # closed at the end of the test
            while True:
                self.listener.accept()[0].close()
                self.came += 1


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[Tried]:
    settings.PRIVATE_TARGETS = []
    found = Tried()
    connect = socket.socket.connect

    def counted(self: socket.socket, place: Any) -> None:
        found.connects.append(place)
        connect(self, place)

    monkeypatch.setattr(socket.socket, "connect", counted)
    yield found
    found.listener.shutdown(socket.SHUT_RDWR)
    found.listener.close()


def error_of(url: str, *, seconds: float = 5) -> TransportError:
    with pytest.raises(TransportError) as caught:
        send(channel(url), request(), seconds=seconds)
    return caught.value


def reported(url: str) -> TestReport:
    return channel(url).test(deadline=time.monotonic() + 5)


def resolver(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """A fake DNS that gives these answers in turn; returns the list of what it was asked."""
    asked: list[str] = []
    turns = itertools.chain(answers, itertools.repeat(answers[-1]))

    def getaddrinfo(host: str, port: int, **kwargs: Any) -> list[Any]:
        asked.append(host)
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                0,
                "",
                (address, port),
            )
            for address in next(turns)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def test_the_table_is_long_enough() -> None:
    assert len({*LOOPBACK, *ELSEWHERE}) >= 60


@pytest.mark.parametrize("host", [*LOOPBACK, *ELSEWHERE])
def test_no_spelling_of_an_inner_address_is_connected_to(tried: Tried, host: str) -> None:
    error = error_of(f"smtp://{host}:{tried.port}")
    assert (tried.connects, tried.came) == ([], 0)
    assert error.kind in (Kind.PERMISSION, Kind.CONNECT, Kind.AUTH)
    assert error.hint
    if error.kind is not Kind.PERMISSION:  # then it is no address to this machine's resolver
        with pytest.raises(OSError):  # noqa: PT011  (whichever kind it raises)
            socket.getaddrinfo(host.strip("[]"), tried.port)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1"]
)
def test_the_test_button_says_the_same_of_an_open_and_of_a_closed_port(
    tried: Tried, host: str
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = free.getsockname()[1]
        opened, shut = (reported(f"smtp://{host}:{port}") for port in (tried.port, closed))
    assert opened == shut
    assert not opened.works
    assert "HANDOFF_PRIVATE_TARGETS" in opened.lines[-1]
    assert (tried.connects, tried.came) == ([], 0)


@pytest.mark.parametrize(
    "answer",
    [
        ["private"], ["loopback"], ["unique local"], ["public", "private"], ["private", "public"],
        ["public", "public6", "loopback"], ["public6", "unique local"],
    ],
)  # fmt: skip
def test_a_name_is_refused_when_any_of_its_addresses_is_an_inner_one(
    tried: Tried, monkeypatch: pytest.MonkeyPatch, answer: list[str]
) -> None:
    resolver(monkeypatch, [ADDRESSES[name] for name in answer])
    error = error_of("smtp://mail.example.org:25")
    assert error.kind is Kind.PERMISSION
    assert error.operator_detail == "the name leads to an address that is not public"
    assert tried.connects == []


def test_a_name_that_changes_its_mind_is_asked_once_and_taken_at_its_first_word(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.PRIVATE_TARGETS = []
    places: list[Any] = []

    def refuse(self: socket.socket, place: Any) -> None:
        places.append(place)
        raise ConnectionRefusedError

    asked = resolver(monkeypatch, [ADDRESSES["public"]], [ADDRESSES["loopback"]])
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert error_of("smtp://mail.example.org:2525").kind is Kind.CONNECT
    assert places == [(ADDRESSES["public"], 2525)]
    assert asked == ["mail.example.org"]


@pytest.mark.parametrize(
    "entry", ["127.0.0.0/8", "127.0.0.1", "localhost", "LOCALHOST.", " localhost ", "::1/128"]
)
def test_what_is_allowed_is_connected_to(settings: Settings, entry: str) -> None:
    settings.PRIVATE_TARGETS = ["10.0.0.0/8", entry]
    with SmtpServer() as server:
        host = "127.0.0.1" if entry.startswith("127") else "localhost"
        if entry == "::1/128":
            assert error_of(server.url).kind is Kind.PERMISSION
            return
        send(channel(server.url.replace("127.0.0.1", host)), request())
        assert len(server.messages) == 1


def test_an_allowed_network_holds_the_mapped_form_and_an_allowed_host_no_other_name() -> None:
    allowed = Allowed.read(["10.1.0.0/16", "fd12:3456::/48", "mail.internal"])
    mapped = ipaddress.ip_address("::ffff:10.1.2.3")
    assert allowed.holds("any.example", mapped)
    assert allowed.holds("any.example", ipaddress.ip_address("fd12:3456::7"))
    assert allowed.holds("Mail.Internal.", ipaddress.ip_address("192.168.7.7"))
    assert not allowed.holds("any.example", ipaddress.ip_address("10.2.0.1"))
    assert not allowed.holds("xmail.internal", ipaddress.ip_address("192.168.7.7"))


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "0.0.0.0", "[fe80::1]"]
)
def test_what_is_never_allowed_stays_so_with_everything_on_the_list(
    tried: Tried, settings: Settings, host: str
) -> None:
    settings.PRIVATE_TARGETS = ["0.0.0.0/0", "::/0"]
    assert "never allowed" in error_of(f"smtp://{host}:{tried.port}").hint
    assert tried.connects == []


def test_the_server_that_the_environment_names_may_be_private(settings: Settings) -> None:
    settings.PRIVATE_TARGETS = []
    with SmtpServer() as server:
        settings.EMAIL_URL = server.url
        send(channel(), request())
        assert len(server.messages) == 1
        assert error_of(server.url).kind is Kind.PERMISSION


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8", "2002:808:808::1", "100.63.255.255", "100.128.0.0", "172.32.0.1",
    ],
)  # fmt: skip
def test_a_public_address_is_public_in_every_form(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
