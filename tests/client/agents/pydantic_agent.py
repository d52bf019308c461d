"""A Pydantic AI agent with a scripted model: one tool call for each desk, then a deferred one.

`URL…` on the command line; prints what came of each run. Runs in an environment of its own.
"""

import asyncio
import json
import sys
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from handoff_client import Desk
from handoff_client.pydantic_ai import results, tools

ASK = ToolCallPart("ask_a_person", {"question": "May I refund order 1234?"}, "call_1")
REQUEST = ToolCallPart("handoff_request", {"channel_id": 1}, "call_2")


def scripted(call: ToolCallPart, last: str = "That is all.") -> FunctionModel:
    def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        said = returned(messages)
        return ModelResponse([TextPart(last.format(told=said[0].content)) if said else call])

    return FunctionModel(model)


def telling(args: dict[str, Any]) -> FunctionModel:
    """A model that asks people once, and then says what it was told."""
    return scripted(ToolCallPart("handoff_request", args, "call_1"), "I was told: {told}")


def returned(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    parts = [part for message in messages for part in message.parts]
    return [part for part in parts if isinstance(part, ToolReturnPart)]


async def run(url: str) -> dict[str, Any]:
    offered = tools(Desk(url, "hd_token", timeout=1.5), conversation=lambda _: "c_1")
    agent = Agent(scripted(ASK), tools=offered, tool_timeout=5)
    found = await agent.run("hello")
    [told] = returned(found.all_messages())
    return {"text": told.content, "result": told.metadata, "last": found.output}


async def deferred(url: str) -> dict[str, Any]:
    desk = Desk(url, "hd_token", timeout=1.5)
    agent: Agent[None, Any] = Agent(
        scripted(REQUEST), tools=tools(desk, defer=True), output_type=[str, DeferredToolRequests]
    )
    parked = await agent.run("hello")
    requests = parked.output
    early = await results(desk, requests, seconds=0.3)
    late = await results(desk, requests, seconds=20)
    found = await agent.run(message_history=parked.all_messages(), deferred_tool_results=late)
    [told] = returned(found.all_messages())
    return {
        "parked": requests.metadata,
        "early": early,
        "text": told.content,
        "result": told.metadata,
        "last": found.output,
    }


async def main(urls: list[str]) -> list[dict[str, Any]]:
    return [await deferred(urls[0]), *[await run(url) for url in urls[1:]]]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1:]))))  # noqa: T201
