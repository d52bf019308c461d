"""The frame of the provider fakes: it records, misbehaves on demand and forgives no wrong path."""

import http.client
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from pytest_django import Settings

from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, call
from tests.fakes import providers as frame
from tests.fakes.providers import Delivery, FakeAnswer, FakeRequest, Providers, Taken, UnknownPath
from tests.fakes.rude import Rude


class FakeEcho:
    """Counts what it was asked to keep."""

    prefix = "/echo/v1"

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def handle(self, request: FakeRequest) -> FakeAnswer:
        if request.path != "/keep":
            raise UnknownPath
        self.kept.append(request.json()["text"])
        return FakeAnswer(json={"number": len(self.kept)})


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Iterator[Providers]:
    monkeypatch.setattr(frame, "FAKES", {"echo": f"{__name__}.FakeEcho"})
    with Providers() as running:
        yield running


def keep(fakes: Providers, text: str, *, path: str = "/keep") -> HttpAnswer:
    return call(
        "POST",
        fakes.base("echo") + path + "?a=1",
        deadline=time.monotonic() + 2,
        json={"text": text},
    )


def test_a_fake_answers_by_its_own_rules_and_every_request_is_kept(echo: Providers) -> None:
    assert keep(echo, "one").json() == {"number": 1}
    assert keep(echo, "two").json() == {"number": 2}
    first, second = echo.requests("echo", path="keep")
    assert (first.path, first.query, second.json()) == ("/keep", {"a": "1"}, {"text": "two"})
    assert first.headers["content-type"] == "application/json"
    assert echo.problems == []


def test_a_script_comes_first_in_order_and_only_for_its_path(echo: Providers) -> None:
    echo.script("echo", [FakeAnswer(404)], path="other")
    echo.script(
        "echo",
        [FakeAnswer(429, headers={"Retry-After": "3"}), FakeAnswer(500, body=b"<html>")],
    )
    slow = keep(echo, "x")
    assert (slow.status, slow.headers["retry-after"], slow.body) == (429, "3", b"")
    assert keep(echo, "x").body == b"<html>"
    assert keep(echo, "x").json() == {"number": 1}
    assert keep(echo, "x", path="/other").status == 404


@pytest.mark.parametrize("how", [Rude.HALF_CLOSE, Rude.RESET_BEFORE, Rude.RESET_AMID, Rude.HUGE])
def test_a_lost_answer_is_one_to_a_message_that_was_taken(echo: Providers, how: Rude) -> None:
    echo.script("echo", [how, Taken(how)])
    for taken in ([], ["x"]):
        with pytest.raises(TransportError) as caught:
            keep(echo, "x")
        assert caught.value.kind == "unknown_outcome"
        assert echo.fakes["echo"].kept == taken


def test_a_path_that_the_provider_does_not_have_is_a_500_and_a_problem(echo: Providers) -> None:
    assert keep(echo, "x", path="/forget").status == 500
    connection = http.client.HTTPConnection("127.0.0.1", int(echo.url.rpartition(":")[2]))
    connection.request("GET", "/nobody/here")
    assert connection.getresponse().status == 500
    connection.close()
    assert echo.problems == ["nobody has POST echo/forget", "nobody has GET /nobody/here"]


@csrf_exempt
def hook(request: HttpRequest) -> HttpResponse:
    seen = (request.method, request.GET.dict(), request.headers["X-Signature"], request.body)
    return HttpResponse(repr(seen), status=202, headers={"X-Seen": "yes"})


urlpatterns = [path("hook/", hook)]


def test_a_delivery_arrives_byte_for_byte(
    echo: Providers, settings: Settings, live_server: Any
) -> None:
    settings.ROOT_URLCONF = __name__
    delivery = Delivery(body=b'{"a": "\\u00e9"}', headers={"X-Signature": "s"}, query="a=b%20c")
    answers = [
        echo.deliver(delivery, to="/hook/", client=Client()),
        echo.deliver(delivery, to=f"{live_server.url}/hook/"),
    ]
    for answer in answers:
        assert answer.status == 202
        assert answer.headers["x-seen"] == "yes"
        assert answer.body.decode() == repr(("POST", {"a": "b c"}, "s", delivery.body))
