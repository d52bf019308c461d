"""What may stand in PUBLIC_BASE_URL, and a port that is taken."""

import contextlib
import socket

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.address import public_address
from config.port import problem


@pytest.mark.parametrize(
    "text",
    ["", "https://desk.example.org", "http://127.0.0.1:8000", "http://[::1]:8000", "http://desk"],
)
def test_a_scheme_a_host_and_a_port_are_an_address(text: str) -> None:
    assert public_address(text).geturl() == text


@pytest.mark.parametrize(
    "text",
    [
        "desk.example.org",
        "ftp://desk.example.org",
        "https://",
        "https://user@desk.example.org",
        "https://desk.example.org:abc",
        "https://desk.example.org:70000",
        "https://desk.example.org/desk",
        "https://desk.example.org?x=1",
        "https://desk.example.org#y",
        "https://[desk",
    ],
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"such as https://desk\.example\.org"):
        public_address(text)


def test_a_taken_port_is_told_and_a_free_one_is_not() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        assert f"Cannot listen on 127.0.0.1, port {port}" in problem("127.0.0.1", port)
    assert problem("127.0.0.1", port) == ""
