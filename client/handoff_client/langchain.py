"""The desk's tools for LangChain and LangGraph agents (`pip install handoff-client[langchain]`).

A refusal, a failure and a desk that hangs are ToolMessages with `status="error"` and words for the
model; nothing is thrown at the agent's run. A call ends within the desk's `timeout`.
"""

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from handoff_client import keys, offers
from handoff_client.answers import Answer
from handoff_client.async_desk import AsyncDesk
from handoff_client.desk import Conversation, Desk, Unset

Named = Conversation | Callable[[RunnableConfig], Conversation | None] | None
"""The conversation of all calls, or a function from the run's config; None asks detached."""

CONVERSATION = "handoff_conversation"

_call_id: contextvars.ContextVar[str | None] = contextvars.ContextVar("call_id", default=None)


class DeskTool(BaseTool):
    """One tool of a desk. The artifact of its ToolMessage is the `result` of the answer."""

    _desk: Desk = PrivateAttr()
    _conversation: Named = PrivateAttr()
    _on_behalf_of: str | Unset | None = PrivateAttr()

    def __init__(
        self,
        desk: Desk,
        offer: dict[str, Any],
        conversation: Named = None,
        on_behalf_of: str | Unset | None = Unset.UNSET,
    ) -> None:
        super().__init__(
            name=offer["name"],
            description=offer.get("description", ""),
            args_schema=offer["inputSchema"],
        )
        self._desk = desk
        self._conversation = conversation
        self._on_behalf_of = on_behalf_of

    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kw: Any) -> Any:
        with _called(tool_call_id):
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **kw)

    async def arun(
        self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kw: Any
    ) -> Any:
        with _called(tool_call_id):
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **kw)

    def _run(self, /, *_: Any, config: RunnableConfig, **args: Any) -> Any:
        return self._message(self._desk.call(self.name, args, **self._place(args, config)))

    async def _arun(self, /, *_: Any, config: RunnableConfig, **args: Any) -> Any:
        desk = AsyncDesk(self._desk)
        return self._message(await desk.call(self.name, args, **self._place(args, config)))

    def _place(self, args: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        """Which conversation, and a key that is the same when a step is run again."""
        configured = config.get("configurable") or {}
        found = self._conversation(config) if callable(self._conversation) else self._conversation
        conversation = found or configured.get(CONVERSATION)
        thread, call = configured.get("thread_id"), _call_id.get()
        key = None
        if call and (thread or conversation):
            key = keys.of_call(thread, conversation, call, self.name, args)
        return {
            "conversation": conversation,
            "on_behalf_of": self._on_behalf_of,
            "idempotency_key": key,
        }

    def _message(self, answer: Answer) -> Any:
        call = _call_id.get()
        if call is None:  # called by hand, with arguments only
            return answer.text
        return ToolMessage(
            answer.text,
            artifact=answer.result,
            tool_call_id=call,
            name=self.name,
            status="error" if answer.is_error else "success",
        )


def tools(
    desk: Desk,
    *,
    conversation: Named = None,
    on_behalf_of: str | Unset | None = Unset.UNSET,
) -> list[BaseTool]:
    """The tools of this agent. Without a `conversation` that of the run's config is taken:
    `{"configurable": {"handoff_conversation": "c_…"}}`. `on_behalf_of` is for an agent that holds
    handoffs of others: the one that it works on, or None.
    """
    listed = offers.completed(desk.tools("mcp"))
    return [DeskTool(desk, offer, conversation, on_behalf_of) for offer in listed]


@contextlib.contextmanager
def _called(call_id: str | None) -> Iterator[None]:
    token = _call_id.set(call_id)
    try:
        yield
    finally:
        _call_id.reset(token)
