"""An agent of the OpenAI Agents SDK with a scripted model: one tool call for each desk.

`URL…` on the command line, the first for arguments that are broken; prints what came of each run.
Runs in an environment of its own.
"""

import asyncio
import dataclasses
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, set_tracing_disabled
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from handoff_client import Desk
from handoff_client.openai_agents import tools

LAST = "That is all."
ARGUMENTS = '{"question": "May I refund order 1234?"}'


class Scripted(Model):
    """Calls the tool once, then says its last word; keeps what it was told."""

    def __init__(self, arguments: str, *, tool: str = "ask_a_person", last: str = LAST) -> None:
        self.arguments = arguments
        self.tool = tool
        self.last = last
        self.told: list[Any] = []

    async def get_response(self, *_: Any, **given: Any) -> ModelResponse:
        said = given["input"]
        self.told = [item for item in said if item.get("type") == "function_call_output"]
        if self.told:
            text = ResponseOutputText(text=self._last(), type="output_text", annotations=[])
            output: Any = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            output = ResponseFunctionToolCall(
                call_id="call_1",
                name=self.tool,
                arguments=self.arguments,
                type="function_call",
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def _last(self) -> str:
        return self.last.format(told=self.told[-1]["output"])

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def telling(args: dict[str, Any]) -> Scripted:
    """A model that asks people once, and then says what it was told."""
    set_tracing_disabled(True)
    return Scripted(json.dumps(args), tool="handoff_request", last="I was told: {told}")


def run(url: str, arguments: str = ARGUMENTS) -> dict[str, Any]:
    model = Scripted(arguments)
    offered = [
        dataclasses.replace(tool, timeout_seconds=5, timeout_behavior="raise_exception")
        for tool in tools(Desk(url, "hd_token", timeout=1.5), conversation="c_1")
    ]
    found = asyncio.run(
        Runner.run(
            Agent(name="shop", model=model, tools=list(offered)),
            "hello",
            run_config=RunConfig(tracing_disabled=True),
        )
    )
    return {"text": model.told[0]["output"], "last": found.final_output}


if __name__ == "__main__":
    set_tracing_disabled(True)
    spare, *urls = sys.argv[1:]
    print(json.dumps([run(spare, '{"question": '), *map(run, urls)]))  # noqa: T201
