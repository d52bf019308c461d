"""An address that somebody else named: where it may lead, at registration and at each call."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.http import call, check_target
from tests.outbound.asking import answering
from tests.outbound.test_targets import ADDRESSES, ELSEWHERE, LOOPBACK, Tried, resolver, tried

__all__ = ["tried"]


def register(url: str) -> None:
    check_target(url, deadline=time.monotonic() + 5)


def send(url: str) -> None:
    call("POST", url, content=b"{}", trusted=False, deadline=time.monotonic() + 5)


both = pytest.mark.parametrize("way", [register, send])


@both
@pytest.mark.parametrize("host", [*LOOPBACK, *ELSEWHERE])
def test_no_spelling_of_an_inner_address_is_connected_to(
    tried: Tried, host: str, way: Callable[[str], None]
) -> None:
    for scheme in ("http", "https"):
        with pytest.raises(TransportError) as caught:
            way(f"{scheme}://{host}:{tried.port}/")
        assert caught.value.kind in (Kind.PERMISSION, Kind.CONNECT, Kind.BAD_FORMAT)
    assert (tried.connects, tried.came) == ([], 0)


@both
@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example/",
        "http://shop.example:443/",
        "https://shop.example:22/",
        "https://shop.example:25/",
    ],
)
def test_in_public_only_https_on_a_usual_port_is_called(
    tried: Tried, monkeypatch: pytest.MonkeyPatch, url: str, way: Callable[[str], None]
) -> None:
    resolver(monkeypatch, [ADDRESSES["public"]])
    with pytest.raises(TransportError) as caught:
        way(url)
    assert caught.value.kind is Kind.PERMISSION
    assert "HANDOFF_PRIVATE_TARGETS" in caught.value.hint
    assert tried.connects == []


@pytest.mark.parametrize("url", ["https://shop.example/", "https://shop.example:8443/x"])
def test_https_on_a_usual_port_may_be_registered(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    settings.PRIVATE_TARGETS = []
    resolver(monkeypatch, [ADDRESSES["public"]])
    register(url)


@pytest.mark.parametrize("entry", ["hook.internal", "93.184.215.0/24"])
def test_what_is_listed_may_be_plain_and_on_any_port(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    settings.PRIVATE_TARGETS = [entry]
    resolver(monkeypatch, [ADDRESSES["public"]])
    register("http://hook.internal:8000/")


def test_a_name_that_led_to_a_public_address_when_it_was_registered_is_checked_at_each_call(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = resolver(monkeypatch, [ADDRESSES["public"]], [ADDRESSES["loopback"]])
    register("https://shop.example/")
    with pytest.raises(TransportError) as caught:
        send("https://shop.example/")
    assert caught.value.kind is Kind.PERMISSION
    assert (tried.connects, tried.came, len(asked)) == ([], 0, 2)


def test_a_name_that_is_not_known_is_told(tried: Tried) -> None:
    with pytest.raises(TransportError) as caught:
        register("https://nobody.invalid/")
    assert caught.value.kind is Kind.CONNECT
    assert tried.connects == []


def test_the_body_leaves_as_it_is() -> None:
    body = b'{"a":  "\xc3\xa9"}'
    with answering(b"HTTP/1.1 204 OK\r\n\r\n") as (port, asked):
        more: dict[str, Any] = {"content": body, "trusted": False}
        url = f"http://127.0.0.1:{port}/"
        headers = {"Content-Type": "application/json"}
        call("POST", url, headers=headers, deadline=time.monotonic() + 5, **more)
    assert asked[0].endswith(b"\r\n\r\n" + body)
