"""The OpenAI Agents SDK over MCP, with a scripted model that makes one call in each run.

Prints what was listed, and what the model was told. Runs in an environment of its own.
"""

import asyncio
import json
import os
from typing import Any

from agents import Agent, RunConfig, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai_agent import Scripted

CALLS: list[tuple[str, dict[str, Any]]] = json.loads(os.environ["DESK_CALLS"])


async def main() -> dict[str, Any]:
    told = []
    async with MCPServerStreamableHttp(
        {
            "url": os.environ["DESK_URL"] + "/mcp",
            "headers": {"Authorization": f"Bearer {os.environ['DESK_TOKEN']}"},
        },
        client_session_timeout_seconds=60,
    ) as desk:
        listed = await desk.list_tools()
        for name, args in CALLS:
            model = Scripted(json.dumps(args), tool=name)
            agent = Agent(name="shop", model=model, mcp_servers=[desk])
            found = await Runner.run(agent, "hello", run_config=RunConfig(tracing_disabled=True))
            told.append({"output": model.told[0]["output"], "last": found.final_output})
    return {"tools": [tool.name for tool in listed], "told": told}


if __name__ == "__main__":
    set_tracing_disabled(True)
    print(json.dumps(asyncio.run(main())))  # noqa: T201
