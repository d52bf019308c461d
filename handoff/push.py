"""Wakes whoever waits for news; the only place that knows event loops.

A nudge carries no data and is allowed to get lost or to come twice: a listener clears its mark,
then reads the rows after its cursor. So nudges coalesce, and none is lost that matters: it
follows the commit, and an unread mark means that a reading is still to come.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable

stopping = False
"""True from the moment the server drains: whoever waits answers what it has and ends."""

_loop: asyncio.AbstractEventLoop | None = None
_listeners: "dict[str, set[Listener]]" = {}
_signals: dict[str, threading.Event] = {}
_carrier: Callable[[str], None] | None = None


class Listener:
    """One reader of some topics. It belongs to the loop it was made on."""

    def __init__(self) -> None:
        self._marked = asyncio.Event()

    @property
    def stopping(self) -> bool:
        return stopping

    def mark(self) -> None:
        self._marked.set()

    async def wait(self, timeout: float) -> bool:
        """Until somebody nudges, at most `timeout` seconds; False when nobody did.

        The mark is cleared before this returns, so read the rows after it, never before.
        """
        if stopping:
            return True
        if not self._marked.is_set():
            try:
                async with asyncio.timeout(timeout):
                    await self._marked.wait()
            except TimeoutError:
                return False
        self._marked.clear()
        return True


def capture() -> None:
    """Remember the running loop as the one that nudges go to."""
    global _loop
    running = asyncio.get_running_loop()
    if _loop is not running and (_loop is None or _loop.is_closed() or not _loop.is_running()):
        _loop = running


@contextlib.asynccontextmanager
async def listen(*topics: str) -> AsyncIterator[Listener]:
    """A listener of these topics. Enter before the first read, or news in between is missed."""
    capture()
    listener = Listener()
    for topic in topics:
        _listeners.setdefault(topic, set()).add(listener)
    try:
        yield listener
    finally:
        for topic in topics:
            _listeners[topic].discard(listener)
            if not _listeners[topic]:
                del _listeners[topic]


def nudge(*topics: str) -> None:
    """Say that there are new rows for these topics. Any thread, after the commit; never raises.

    Without a loop in this process (a command, a test) only `thread_signal` hears it.
    """
    for topic in topics:
        _raise_signal(topic)
    if _loop is not None:
        # the loop may close between a check and the call; then nobody listens any more
        with contextlib.suppress(RuntimeError):
            _loop.call_soon_threadsafe(_nudged, topics)


def wake(topic: str) -> None:
    """Mark the listeners of one topic in this process. Loop only."""
    _raise_signal(topic)
    for listener in _listeners.get(topic, ()):
        listener.mark()


def wake_all() -> None:
    """Mark every listener: nudges may have been lost, or the server stops. Loop only."""
    for topic in [*_listeners, *_signals]:
        wake(topic)


def carry(carrier: Callable[[str], None] | None) -> None:
    """Have each nudge of this process also given to `carrier`, on the loop (see `across`)."""
    global _carrier
    _carrier = carrier


def topics() -> frozenset[str]:
    """The topics that somebody in this process listens to. Loop only."""
    return frozenset(_listeners)


def thread_signal(topic: str) -> threading.Event:
    """An event that every nudge of `topic` sets, for a thread that has no loop."""
    return _signals.setdefault(topic, threading.Event())


def rouse(topic: str, *, on: str) -> None:
    """From now on have every nudge of `on` raise the thread signal of `topic`. Any thread."""
    _signals.setdefault(on, thread_signal(topic))


def stop() -> None:
    """Ask everybody who waits to end now. Loop only; there is no way back."""
    global stopping
    stopping = True
    wake_all()


def _nudged(topics: tuple[str, ...]) -> None:
    for topic in topics:
        wake(topic)
        if _carrier is not None:
            _carrier(topic)


def _raise_signal(topic: str) -> None:
    if topic in _signals:
        _signals[topic].set()
