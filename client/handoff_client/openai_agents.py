"""The desk's tools for the OpenAI Agents SDK (`pip install handoff-client[openai-agents]`).

A refusal, a failure and a desk that hangs come back as words for the model; nothing is thrown at
the run. A call ends within the desk's `timeout`: give a tool's own `timeout_seconds` more.
"""

import functools
import json
from collections.abc import Callable
from typing import Any

from agents import FunctionTool
from agents.tool_context import ToolContext

from handoff_client import answers, keys, offers
from handoff_client.async_desk import AsyncDesk
from handoff_client.desk import Conversation, Desk, Unset

Named = Conversation | Callable[[ToolContext[Any]], Conversation | None] | None
"""The conversation of all calls, or a function from the run's context; None asks detached."""


def tools(
    desk: Desk,
    *,
    conversation: Named = None,
    on_behalf_of: str | Unset | None = Unset.UNSET,
) -> list[FunctionTool]:
    """The tools of this agent. `on_behalf_of` is for an agent that holds handoffs of others: the
    one that it works on, or None.
    """
    place = functools.partial(_invoked, AsyncDesk(desk), conversation, on_behalf_of)
    return [
        FunctionTool(
            name=offer["name"],
            description=offer.get("description", ""),
            params_json_schema=offer["inputSchema"],
            on_invoke_tool=place,
            strict_json_schema=False,  # the desk's schema has optional arguments
        )
        for offer in offers.completed(desk.tools("mcp"))
    ]


async def _invoked(
    desk: AsyncDesk,
    named: Named,
    on_behalf_of: str | Unset | None,
    context: ToolContext[Any],
    arguments: str,
) -> str:
    try:
        args = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return answers.NOT_SENDABLE
    conversation = named(context) if callable(named) else named
    key = None
    if conversation:
        key = keys.of_call(conversation, context.tool_call_id, context.tool_name, args)
    answer = await desk.call(
        context.tool_name,
        args,
        conversation=conversation,
        on_behalf_of=on_behalf_of,
        idempotency_key=key,
    )
    return answer.text
