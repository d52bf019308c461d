"""Which pages may call, by the origin that their browser sends."""

import pytest
from pytest_django import Settings

from handoff.realtime.origins import may_call

LISTED = ("https://shop.example", "http://localhost:3000", "https://xn--bcher-kva.example:8443")


@pytest.fixture(autouse=True)
def _own_hosts(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["desk.example.org", "[::1]"]


@pytest.mark.parametrize(
    "origin",
    [
        *LISTED,
        "https://shop.example:443",
        "https://desk.example.org",
        "http://[::1]:8000",
        "",
    ],
)
def test_our_own_pages_and_the_listed_origins_may_call(origin: str) -> None:
    assert may_call(origin, LISTED)


@pytest.mark.parametrize(
    "origin",
    [
        "http://shop.example",
        "https://shop.example:8443",
        "https://www.shop.example",
        "https://shop.example.evil.example",
        "https://evilshop.example",
        "https://evil.example/https://shop.example",
        "http://localhost",
        "http://localhost:3001",
        "https://xn--bcher-kva.example",
        "https://desk.example.org.evil.example",
        "null",
        "shop.example",
        "https://",
        "https://[::1",
        "https://shop.example:port",
    ],
)
def test_no_other_page_may_call(origin: str) -> None:
    assert not may_call(origin, LISTED)


def test_without_a_list_only_our_own_pages_may_call() -> None:
    assert may_call("https://desk.example.org", ())
    assert not may_call("https://shop.example", ())
