"""What is refused before a view: in the language of whoever asks, with the headers of the place."""

import contextlib

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path

from config import refusals
from config.handlers import bad_request, failed, forbidden, not_found
from config.urls import urlpatterns as product
from returnforms.headers import CSP
from tests import factories
from tests.config.servers import Server

PRIVATE = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex",
}


def gone(request: HttpRequest) -> HttpResponse:
    raise OperationalError("the server closed the connection")


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a secret of the view")


urlpatterns = [path("api/gone", gone), path("api/broken", broken), *product]
handler400, handler403, handler404, handler500 = bad_request, forbidden, not_found, failed


def read(raw: bytes) -> tuple[bytes, dict[str, str], str]:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    return first.encode(), {name.lower(): value for name, value in pairs}, body.decode()


@pytest.mark.parametrize(
    ("target", "program"),
    [
        ("/r/token/", False),
        ("/r/token/?a=/api/", False),
        ("http://desk.example.org/r/token/", False),
        ("/inbox/", False),
        ("*", False),
        ("/api/v1/tool-calls", True),
        ("/%61pi/v1/me?x", True),
        ("https://desk.example.org/api/v1/me", True),
        ("", True),
    ],
)
def test_a_body_that_is_not_read_is_refused_in_the_readers_language(
    target: str, program: bool
) -> None:
    first, headers, body = read(refusals.unread(refusals.TOO_LARGE, target))
    assert first.startswith(b"HTTP/1.1 413 ")
    assert int(headers["content-length"]) == len(body)
    assert headers["connection"] == "close"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    if program:
        assert body == '{"error":"The call is too large.","code":"too_large"}'
        assert headers["content-type"] == "application/json"
    else:
        assert body == "That is too much to send at once.\n"
        assert PRIVATE.items() <= headers.items()


@pytest.mark.slow
@pytest.mark.parametrize("framing", ["Content-Length: 99999999", "Transfer-Encoding: chunked"])
def test_a_form_that_is_too_large_is_refused_to_a_person(steady: Server, framing: str) -> None:
    with contextlib.closing(steady.socket()) as client:
        client.sendall(f"POST /r/x/ HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n\r\n".encode())
        received = bytearray()
        with contextlib.suppress(OSError):
            if "chunked" in framing:
                for _ in range(80):
                    client.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
        with contextlib.suppress(OSError):
            while chunk := client.recv(65_536):
                received += chunk
    first, headers, body = read(bytes(received))
    assert b" 413 " in first
    assert body == "That is too much to send at once.\n"
    assert PRIVATE.items() <= headers.items()


@pytest.mark.parametrize("address", ["/r/token/", "/r/owner/hs_x/", "/r/", "/r/token/opened"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_under_r_a_host_that_is_not_served_has_the_headers_of_the_form(
    address: str, method: str
) -> None:
    answer = getattr(Client(), method)(address, HTTP_HOST="evil.example")
    assert answer.status_code == 400
    assert answer.headers["Content-Security-Policy"] == CSP
    assert PRIVATE.items() <= {name.lower(): text for name, text in answer.items()}.items()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/api/v1/me", "/api/nothing", "/api/v1/openapi.json"])
def test_the_api_answers_a_host_that_is_not_served_in_json(address: str) -> None:
    answer = Client().get(address, HTTP_HOST="evil.example")
    assert answer.status_code == 400
    assert answer.json() == {"error": "That host is not served here.", "code": "bad_host"}
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.django_db
def test_an_unknown_address_of_the_api_is_answered_in_json() -> None:
    token = factories.token_of(factories.AgentFactory.create()).text
    for address in ("/api/", "/api/v2/me", "/api/v1/me/"):
        assert Client().get(address).json() == {"error": "Not authorised."}
        answer = Client().get(address, headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 404
        assert answer.json() == {"error": "There is no such address here.", "code": "not_found"}


@pytest.mark.django_db
def test_no_answer_of_the_api_is_for_a_cache() -> None:
    token = factories.token_of(factories.AgentFactory.create()).text
    known = {"authorization": f"Bearer {token}"}
    for address in ("/api/v1/me", "/api/v1/events", "/api/v1/openapi.json", "/api/v1/nothing"):
        assert Client().get(address, headers=known)["Cache-Control"] == "no-store"
        assert Client().get(address)["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [("/api/gone", 503, "desk_unavailable"), ("/api/broken", 500, "desk_fault")],
)
@override_settings(ROOT_URLCONF=__name__)
def test_what_a_view_of_the_api_does_not_catch_is_answered_in_json(
    address: str, status: int, code: str
) -> None:
    answer = Client(raise_request_exception=False).get(address)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "secret" not in answer.content.decode()
    assert ("Retry-After" in answer.headers) == (status == 503)


@pytest.mark.django_db
def test_a_person_still_gets_a_page() -> None:
    lost = Client().get("/nothing/")
    assert (lost.status_code, lost["Content-Type"]) == (404, "text/html; charset=utf-8")
    refused = Client().get("/inbox/", HTTP_HOST="evil.example")
    assert (refused.status_code, refused["Content-Type"]) == (400, "text/html; charset=utf-8")
