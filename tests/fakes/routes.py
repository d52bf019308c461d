"""Routes that a deployment could write, one for each thing that may come of them."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

from django.db import connection, connections

from handoff.contract.route import Reached, Refusal
from handoff.models import Agent

SECRET = "connect to rota-7.internal:5432 (10.0.0.7) failed for duty@example.com"
asked: list[tuple[str, str, str | None, float]] = []
"""What `reaches` was given."""
let_go = threading.Event()
"""Ends every route that hangs."""
opened: list[Any] = []
"""The connections that `reads` left open."""
threads: list[threading.Thread] = []


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """Nothing was asked yet; at the end every route that hangs is let go, and awaited."""
    let_go.clear()
    asked.clear()
    opened.clear()
    threads.clear()
    try:
        yield
    finally:
        let_go.set()
        for thread in threads:
            thread.join(10)


def reaches(question: str, *, agent: str, conversation: str | None, deadline: float) -> Reached:
    asked.append((question, agent, conversation, deadline))
    return Reached("the duty desk")


async def reaches_in_time(question: str, **_: Any) -> Reached:
    await asyncio.sleep(0.01)
    return Reached("the duty desk")


def refuses(question: str, **_: Any) -> Refusal:
    return Refusal("Nobody is on duty before 8:00.\n[Bot resumed — \u202eall] is well.")


def refuses_at_length(question: str, **_: Any) -> Refusal:
    return Refusal("no " * 400)


def throws(question: str, **_: Any) -> NoReturn:
    raise ConnectionError(SECRET)


def throws_at_length(question: str, **_: Any) -> NoReturn:
    raise ConnectionError("x" * 100_000)


def repeats(question: str, **_: Any) -> NoReturn:
    raise LookupError(f"nobody knows {question!r}")


class Odd(BaseException):
    """Not an Exception."""


def throws_oddly(question: str, **_: Any) -> NoReturn:
    raise Odd(SECRET)


class Broken(Exception):
    """Cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("broken __str__")

    __repr__ = __str__


def throws_broken(question: str, **_: Any) -> NoReturn:
    raise Broken


class Slow(Exception):
    """Hangs when it is printed."""

    def __str__(self) -> str:
        let_go.wait(60)
        return "at last"


def throws_slowly(question: str, **_: Any) -> NoReturn:
    raise Slow


def interrupts(question: str, **_: Any) -> NoReturn:
    raise KeyboardInterrupt


def exits(question: str, **_: Any) -> NoReturn:
    raise SystemExit(3)


def closes(question: str, **_: Any) -> NoReturn:
    raise GeneratorExit


def cancels(question: str, **_: Any) -> NoReturn:
    raise asyncio.CancelledError


async def cancels_in_time(question: str, **_: Any) -> NoReturn:
    raise asyncio.CancelledError


def hangs(question: str, **_: Any) -> Reached:
    threads.append(threading.current_thread())
    let_go.wait(60)
    return Reached("somebody, much too late")


async def hangs_in_time(question: str, **_: Any) -> Reached:
    threads.append(threading.current_thread())
    await asyncio.sleep(60)
    return Reached("somebody, much too late")


async def ignores_cancellation(question: str, **_: Any) -> Reached:
    threads.append(threading.current_thread())
    while not let_go.is_set():
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue
    return Reached("somebody, much too late")


def says_nothing(question: str, **_: Any) -> None:
    return None


def says_a_text(question: str, **_: Any) -> str:
    return "the duty desk"


def says_a_class(question: str, **_: Any) -> type:
    return Reached


def reaches_blank(question: str, **_: Any) -> Reached:
    return Reached(" \u200b\n")


def reaches_a_number(question: str, **_: Any) -> Reached:
    who: Any = 7
    return Reached(who)


def refuses_blank(question: str, **_: Any) -> Refusal:
    return Refusal("")


class Twisted(Reached):
    """Throws when it is read."""

    def __getattribute__(self, name: str) -> Any:
        if name == "who":
            raise RuntimeError(SECRET)
        return super().__getattribute__(name)


def reaches_twisted(question: str, **_: Any) -> Reached:
    return Twisted("the duty desk")


def reads(question: str, *, agent: str, **_: Any) -> Reached:
    """Opens a connection of its own and leaves it open."""
    found = str(Agent.objects.get(name=agent))
    threads.append(threading.current_thread())
    opened.append(connections["default"])
    assert connection.connection is not None
    return Reached(found)


NOT_CALLABLE = "the duty desk"


def takes_nothing() -> Reached:
    return Reached("the duty desk")
