"""A desk for programs on an event loop: the same methods, each on a thread while it waits."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from handoff_client.answers import Answer
from handoff_client.desk import Desk

P = ParamSpec("P")
T = TypeVar("T")


def _threaded(
    method: Callable[Concatenate[Desk, P], T],
) -> "Callable[Concatenate[AsyncDesk, P], Coroutine[Any, Any, T]]":
    async def call(self: "AsyncDesk", /, *args: P.args, **kwargs: P.kwargs) -> T:
        own: Callable[P, T] = getattr(self.desk, method.__name__)  # a subclass may have its own
        return await asyncio.to_thread(own, *args, **kwargs)

    call.__doc__ = method.__doc__
    return call


class AsyncDesk:
    """As Desk, to be awaited. A cancelled call ends at once; its thread, by the call's timeout."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def __repr__(self) -> str:
        return f"Async{self.desk!r}"

    call = _threaded(Desk.call)
    request_handoff = _threaded(Desk.request_handoff)
    ask_a_person = _threaded(Desk.ask_a_person)
    status = _threaded(Desk.status)
    cancel = _threaded(Desk.cancel)
    release = _threaded(Desk.release)
    reply = _threaded(Desk.reply)
    inbox = _threaded(Desk.inbox)
    claim = _threaded(Desk.claim)
    conversation = _threaded(Desk.conversation)
    post_turn = _threaded(Desk.post_turn)
    tools = _threaded(Desk.tools)

    async def wait_resumed(self, session: str, *, seconds: float) -> Answer:
        """As Desk's; between two polls no thread is held."""
        wait = self.desk.waiting(session, seconds=seconds)
        while (answer := await asyncio.to_thread(wait.step)) is None:
            await asyncio.sleep(wait.pause)
        return answer
