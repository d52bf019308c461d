"""The desk's tools for Pydantic AI (`pip install handoff-client[pydantic-ai]`).

A refusal, a failure and a desk that hangs come back as words for the model; nothing is thrown at
the run. A call ends within the desk's `timeout`: give an agent's `tool_timeout` more.
"""

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
from handoff_client.desk import Conversation, Desk
from handoff_client.waiting import ENDED

SESSION: Final = "handoff_session_id"

Named = Conversation | Callable[[RunContext[Any]], Conversation | None] | None
"""The conversation of all calls, or a function from the run's context; None asks detached."""


def tools(desk: Desk, *, conversation: Named = None, defer: bool = False) -> list[Tool[Any]]:
    """The tools of this agent.

    With `defer`, a `handoff_request` that reached somebody ends the run with
    DeferredToolRequests, which have to be among the agent's output types; `results` waits for what
    they stand for.
    """
    return [
        _tool(AsyncDesk(desk), offer, conversation, defer=defer and offer["name"] == DEFERRED)
        for offer in offers.completed(desk.tools("mcp"))
    ]


DEFERRED: Final = "handoff_request"


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


def _tool(desk: AsyncDesk, offer: dict[str, Any], named: Named, *, defer: bool) -> Tool[Any]:
    name: str = offer["name"]

    async def call(context: RunContext[Any], /, **args: Any) -> str | ToolReturn[str]:
        conversation = named(context) if callable(named) else named
        key = None
        if conversation:
            key = keys.of_call(conversation, context.tool_call_id, name, args)
        answer = await desk.call(name, args, conversation=conversation, idempotency_key=key)
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
