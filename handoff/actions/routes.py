"""Runs the deployment's route, which is somebody else's code: it may throw anything, or hang.

Python cannot kill a thread, so each route runs on a daemon thread of its own and takes one of a few
places. The caller waits until the deadline and no longer; a route that hangs keeps its place.
"""

import asyncio
import contextlib
import dataclasses
import inspect
import logging
import queue
import threading
import time
from collections.abc import Awaitable, Iterator

from django.conf import settings
from django.db import connections
from django.utils.module_loading import import_string

from handoff.contract import limits
from handoff.contract.route import Reached, Refusal, Route
from handoff.contract.text import one_line

log = logging.getLogger(__name__)
STOP = (KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError)
"""What means "stop" and is nobody's to keep: it goes on in the thread that waits."""
DESCRIBED_MAX = 4000
"""Of a thrown text so much is looked at; the trail keeps the first 400 characters."""
GRACE_SECONDS = 0.5
"""How long after the deadline an `async` route is cancelled."""


@dataclasses.dataclass(frozen=True)
class Failed:
    """The route gave no readable word. `failure` is for the trail, which redacts it."""

    failure: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """What a route is given: plain values."""

    text: str
    agent: str
    conversation: str | None


def load(path: str) -> Route:
    """The callable of a dotted path. Raises ValueError with a sentence that continues the path."""
    try:
        route = import_string(path)
    except Exception as problem:
        raise ValueError(f"cannot be imported ({_described(problem)})") from problem
    if not callable(route):
        raise ValueError("is not callable")
    try:
        inspect.signature(route).bind("", agent="", conversation=None, deadline=0.0)
    except TypeError as problem:
        raise ValueError(f"cannot be called as a route ({problem})") from problem
    except ValueError:
        pass  # a callable of C has no signature to read
    loaded: Route = route
    return loaded


class Place:
    """The right to have one route running."""

    def __init__(self) -> None:
        self.deadline = float("inf")
        self.handed_on = False

    def ask(self, question: Question, *, seconds: float) -> Reached | Refusal | Failed:
        """What the route says within so many seconds; raises only what means "stop"."""
        self.deadline = time.monotonic() + seconds
        answer: queue.SimpleQueue[Reached | Refusal | Failed | BaseException] = queue.SimpleQueue()

        def run() -> None:
            outcome: Reached | Refusal | Failed | BaseException = Failed("the route's thread died")
            try:
                outcome = _outcome(question, self.deadline)
            finally:
                try:
                    connections.close_all()
                finally:
                    self._come_back()
                    answer.put(outcome)

        self.handed_on = True
        try:
            threading.Thread(target=run, name="route", daemon=True).start()
        except RuntimeError:
            self.give_back()
            return Failed("no thread could be started")
        try:
            outcome = answer.get(timeout=max(0.0, self.deadline - time.monotonic()))
        except queue.Empty:
            log.warning("a route hangs: %d of %d places are held", held(), settings.ROUTE_PLACES)
            return Failed(f"timed out after {round(seconds, 1):g} s")
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _come_back(self) -> None:
        self.give_back()
        late = time.monotonic() - self.deadline
        if late > 0:
            log.warning("a route came back %.1f s after its deadline; its place is free", late)

    def give_back(self) -> None:
        with _counting:
            _taken.discard(self)


_taken: set[Place] = set()
_counting = threading.Lock()


@contextlib.contextmanager
def place() -> Iterator[Place | None]:
    """A place for one route, or None at once when all are taken."""
    mine = Place()
    with _counting:
        free = len(_taken) < settings.ROUTE_PLACES
        if free:
            _taken.add(mine)
    try:
        yield mine if free else None
    finally:
        if not mine.handed_on:
            mine.give_back()


def held() -> int:
    """How many places of this process are held by routes past their deadline."""
    with _counting:
        return sum(taken.deadline <= time.monotonic() for taken in _taken)


def _outcome(question: Question, deadline: float) -> Reached | Refusal | Failed | BaseException:
    """What came of the route, on its thread: all of its code runs here, `__str__` included."""
    try:
        try:
            return _read(_said(question, deadline))
        except STOP:
            raise
        except BaseException as thrown:  # noqa: BLE001  (the route seam)
            return Failed(_described(thrown).replace(question.text, "…"))
    except STOP as stop:
        return stop


def _said(question: Question, deadline: float) -> object:
    said = load(settings.ROUTE)(
        question.text,
        agent=question.agent,
        conversation=question.conversation,
        deadline=deadline,
    )
    return asyncio.run(_awaited(said, deadline)) if inspect.isawaitable(said) else said


async def _awaited(said: Awaitable[object], deadline: float) -> object:
    async with asyncio.timeout(deadline + GRACE_SECONDS - time.monotonic()):
        return await said


def _read(said: object) -> Reached | Refusal | Failed:
    kind = type(said).__name__
    if isinstance(said, Reached):
        if line := _line(said.who, limits.NAME_MAX):
            return Reached(line)
    elif isinstance(said, Refusal):
        if line := _line(said.sentence, limits.ROUTE_SENTENCE_MAX):
            return Refusal(line)
    else:
        return Failed(f"the route returned {kind}, not Reached or Refusal")
    return Failed(f"the route returned {kind} with blank text")


def _line(words: object, most: int) -> str:
    """The words on one bounded line; empty when there are none."""
    line = " ".join(one_line(words).split()) if isinstance(words, str) else ""
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _described(thrown: BaseException) -> str:
    name = type(thrown).__name__
    try:
        return f"{name}: {thrown}"[:DESCRIBED_MAX]
    except STOP:
        raise
    except BaseException:  # noqa: BLE001  (the route seam: its `__str__` may be broken, too)
        return f"{name}, which cannot be printed"
