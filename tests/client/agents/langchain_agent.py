"""A LangGraph agent with a scripted model: one tool call for each desk, then a last word.

`URL…` on the command line; prints what came of each run. Runs in an environment of its own.
"""

import asyncio
import json
import sys
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from handoff_client import Desk
from handoff_client.langchain import tools

ASK = {"name": "ask_a_person", "args": {"question": "May I refund order 1234?"}, "id": "call_1"}
CONFIG: RunnableConfig = {"configurable": {"thread_id": "t", "handoff_conversation": "c_1"}}


def agent(desk: Desk) -> Any:
    def model(state: MessagesState) -> dict[str, Any]:
        if len(state["messages"]) == 1:
            return {"messages": [AIMessage("", tool_calls=[ASK])]}
        return {"messages": [AIMessage("That is all.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode(tools(desk)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    compiled = graph.compile()
    compiled.step_timeout = 5  # the framework's own limit: a run ends with an exception there
    return compiled


def seen(state: dict[str, Any]) -> dict[str, Any]:
    _, _, told, last = state["messages"]
    return {
        "text": told.content,
        "status": told.status,
        "result": told.artifact,
        "last": last.content,
    }


def run(url: str) -> list[dict[str, Any]]:
    graph = agent(Desk(url, "hd_token", timeout=1.5))
    asked: Any = {"messages": [("user", "hello")]}
    return [
        seen(graph.invoke(asked, CONFIG)),
        seen(asyncio.run(graph.ainvoke(asked, CONFIG))),
    ]


if __name__ == "__main__":
    print(json.dumps([run(url) for url in sys.argv[1:]]))  # noqa: T201
