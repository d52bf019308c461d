"""The desk's tools for Pydantic AI (`pip install handoff-client[pydantic-ai]`).

A refusal, a failure and a desk that hangs come back as words for the model; nothing is thrown at
the run. A call ends within the desk's `timeout`: give an agent's `tool_timeout` more.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from pydantic_ai import (
    CallDeferred,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    Tool,
    ToolReturn,
)

from handoff_client import keys, offers
from handoff_client.answers import Answer
from handoff_client.async_desk import AsyncDesk
from handoff_client.desk import Conversation, Desk, Unset
from handoff_client.waiting import ENDED

SESSION: Final = "handoff_session_id"
DEFERRED: Final = "handoff_request"

Named = Conversation | Callable[[RunContext[Any]], Conversation | None] | None
"""The conversation of all calls, or a function from the run's context; None asks detached."""


def tools(
    desk: Desk,
    *,
    conversation: Named = None,
    on_behalf_of: str | Unset | None = Unset.UNSET,
    defer: bool = False,
) -> list[Tool[Any]]:
    """The tools of this agent.

    With `defer`, a `handoff_request` that reached somebody ends the run with
    DeferredToolRequests, which have to be among the agent's output types; `results` waits for what
    they stand for. `on_behalf_of` is for an agent that holds handoffs of others: the one that it
    works on, or None.
    """
    place = _Place(AsyncDesk(desk), conversation, on_behalf_of)
    return [
        _tool(place, offer, defer=defer and offer["name"] == DEFERRED)
        for offer in offers.completed(desk.tools("mcp"))
    ]


async def results(
    desk: Desk, requests: DeferredToolRequests, *, seconds: float
) -> DeferredToolResults | None:
    """What the people answered, for the next run of the agent; None while one has not."""
    found = DeferredToolResults()
    for call, metadata in requests.metadata.items():
        if SESSION not in metadata:
            continue
        answer = await AsyncDesk(desk).wait_resumed(metadata[SESSION], seconds=seconds)
        if (answer.handoff or {}).get("status") not in ENDED:
            return None
        found.calls[call] = _returned(answer)
    return found


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where the calls of one agent go."""

    desk: AsyncDesk
    named: Named
    on_behalf_of: str | Unset | None

    async def call(self, context: RunContext[Any], name: str, args: dict[str, Any]) -> Answer:
        conversation = self.named(context) if callable(self.named) else self.named
        key = None
        if conversation:
            key = keys.of_call(conversation, context.tool_call_id, name, args)
        return await self.desk.call(
            name,
            args,
            conversation=conversation,
            on_behalf_of=self.on_behalf_of,
            idempotency_key=key,
        )


def _tool(place: _Place, offer: dict[str, Any], *, defer: bool) -> Tool[Any]:
    name: str = offer["name"]

    async def call(context: RunContext[Any], /, **args: Any) -> str | ToolReturn[str]:
        answer = await place.call(context, name, args)
        if defer and isinstance(answer.result.get(SESSION), str) and not answer.is_error:
            raise CallDeferred(metadata={SESSION: answer.result[SESSION]})
        return _returned(answer)

    return Tool.from_schema(
        call,
        name=name,
        description=offer.get("description", ""),
        json_schema=offer["inputSchema"],
        takes_ctx=True,
    )


def _returned(answer: Answer) -> str | ToolReturn[str]:
    """The words for the model, and beside them the data for the program."""
    if answer.is_error:
        return answer.text
    return ToolReturn(return_value=answer.text, metadata=answer.result)
