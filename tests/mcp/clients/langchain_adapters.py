"""`langchain-mcp-adapters`: the tools of a desk in the node of a graph, called by their names.

Prints what was listed, and the messages that a model would read. Runs in an environment of its own.
"""

import asyncio
import json
import os
from typing import Any

from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

CALLS: list[tuple[str, dict[str, Any]]] = json.loads(os.environ["DESK_CALLS"])
HANDOFF: Any = {
    "transport": "streamable_http",
    "url": os.environ["DESK_URL"] + "/mcp",
    "headers": {"Authorization": f"Bearer {os.environ['DESK_TOKEN']}"},
}


async def main() -> dict[str, Any]:
    tools = await MultiServerMCPClient({"handoff": HANDOFF}).get_tools()
    graph: Any = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    runnable = graph.compile()
    told = []
    for name, args in CALLS:
        call = {"name": name, "args": args, "id": "call_1"}
        state = await runnable.ainvoke({"messages": [AIMessage("", tool_calls=[call])]})
        message = state["messages"][-1]
        text = "".join(block["text"] for block in message.content_blocks)
        told.append({"text": text, "status": message.status, "artifact": message.artifact})
    return {"tools": sorted(tool.name for tool in tools), "told": told}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))  # noqa: T201
