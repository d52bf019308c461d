"""A route that hangs, or that is told to stop: the call goes on without it, the place does not."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from handoff.actions import routes
from handoff.contract.answers import NOBODY_ASKED
from tests.api.asking import Asking, nobody_asked, rows
from tests.api.conftest import Desk
from tests.fakes import routes as fakes

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_route_outlives_its_test() -> Iterator[None]:
    with fakes.fresh():
        yield


@pytest.fixture
def ask(desk: Desk, settings: Settings) -> Asking:
    return Asking(desk, settings)


@pytest.mark.parametrize(
    "route", ["hangs", "hangs_in_time", "ignores_cancellation", "throws_slowly"]
)
def test_a_route_that_hangs_is_left_at_its_deadline(
    ask: Asking, settings: Settings, route: str
) -> None:
    settings.ROUTE_SECONDS = 0.3
    before = time.monotonic()
    answer = ask(route)

    assert time.monotonic() - before < 1.3
    assert nobody_asked(answer) == "timed out after 0.3 s"
    assert rows()[0].details["places_held"] == 1


@pytest.mark.slow
def test_a_route_has_ten_seconds(ask: Asking) -> None:
    before = time.monotonic()
    answer = ask("hangs")

    assert 9.9 < time.monotonic() - before < 11
    assert nobody_asked(answer) == "timed out after 10 s"


def test_the_deadline_of_the_call_ends_a_route_as_well(ask: Asking, settings: Settings) -> None:
    settings.CALL_SECONDS = 1.3
    assert nobody_asked(ask("hangs")) == "timed out after 0.3 s"


def test_a_hung_async_route_is_cancelled_and_gives_its_place_back(
    ask: Asking, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ROUTE_SECONDS = 0.1
    ask("hangs_in_time")
    assert "a route hangs: 1 of 4 places are held" in caplog.text

    [thread] = fakes.threads
    thread.join(5)
    assert not thread.is_alive()
    assert routes.held() == 0
    assert "its place is free" in caplog.text


def test_with_no_place_left_nobody_can_be_asked_and_the_answer_comes_at_once(
    ask: Asking, settings: Settings
) -> None:
    settings.ROUTE_SECONDS, settings.ROUTE_PLACES = 0.1, 2
    ask("hangs")
    ask("hangs")
    before = time.monotonic()
    answer = ask("reaches")

    assert time.monotonic() - before < 0.1
    assert answer["text"] == NOBODY_ASKED
    assert rows()[-1].failure == "all 2 places for routes are taken"
    assert rows()[-1].details["places_held"] == 2
    assert fakes.asked == []

    fakes.let_go.set()
    for thread in fakes.threads:
        thread.join(5)
    assert ask("reaches")["isError"] is False


def test_the_thread_of_a_hung_route_does_not_keep_the_process_alive(
    ask: Asking, settings: Settings
) -> None:
    settings.ROUTE_SECONDS = 0.1
    ask("hangs")
    assert fakes.threads[0].daemon is True
    assert fakes.threads[0] is not threading.current_thread()


@pytest.mark.parametrize(
    ("route", "stop"),
    [
        ("interrupts", KeyboardInterrupt),
        ("exits", SystemExit),
        ("closes", GeneratorExit),
        ("cancels", asyncio.CancelledError),
        ("cancels_in_time", asyncio.CancelledError),
    ],
)
def test_what_means_stop_goes_on_in_the_thread_that_waits(
    ask: Asking, route: str, stop: type[BaseException]
) -> None:
    with pytest.raises(stop):
        ask(route)
    assert rows() == []
    assert routes.held() == 0
