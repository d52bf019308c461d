"""A LangGraph agent that asks people and waits for them, whatever happens to its process.

`ask FILE URL TOKEN CHANNEL` runs until it is parked and then waits; `die FILE …` ends as by kill -9
right after the desk answered; `go-on FILE …` takes up what an earlier process left. With `async-`
before the word, on an event loop. Prints lines of JSON. Runs in an environment of its own.
"""

import asyncio
import contextlib
import json
import os
import sys
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from handoff_client import Answer, Desk
from handoff_client.langgraph import aresume, parked_on, resume, tools

CONFIG: RunnableConfig = {"configurable": {"thread_id": "order-1234"}}
HELLO: Any = {"messages": [("user", "Where is order 1234?")]}
FIELDS = [
    {"name": "order_status", "type": "enum", "enum_values": ["shipped", "lost"], "required": True},
    {"name": "weight", "type": "number"},
    {"name": "signed_for", "type": "boolean"},
    {"name": "eta_date", "type": "date"},
]


class Dying(Desk):
    """Its process ends at the worst moment: people were asked, and nobody wrote it down."""

    def call(self, *args: Any, **more: Any) -> Answer:
        super().call(*args, **more)
        os._exit(9)


def agent(desk: Desk, channel: int) -> Any:
    asking = {
        "name": "handoff_request",
        "args": {
            "channel_id": channel,
            "summary": "The visitor asks where order 1234 is; I cannot see orders.",
            "expected_action": "Look up order 1234 and fill in its status.",
            "expected_return": FIELDS,
        },
        "id": "call_1",
    }

    def model(state: MessagesState) -> dict[str, Any]:
        said = state["messages"][-1]
        if not isinstance(said, ToolMessage):
            return {"messages": [AIMessage("", tool_calls=[asking])]}
        values = said.artifact["handoff"]["values"]
        return {"messages": [AIMessage(f"Your order is {values['order_status']}.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode(tools(desk)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    return graph


def show(state: Any) -> None:
    *_, told, last = state["messages"]
    say(note=told.content, status=told.status, handoff=told.artifact["handoff"], last=last.content)


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201


def threaded(word: str, file: str, desk: Desk, channel: int) -> None:
    with SqliteSaver.from_conn_string(file) as saver:
        graph = agent(desk, channel).compile(checkpointer=saver)
        if word != "go-on" or not parked_on(graph, CONFIG):
            graph.invoke(None if word == "go-on" else HELLO, CONFIG)
        say(parked=list(parked_on(graph, CONFIG).values()))
        show(resume(graph, CONFIG, desk, seconds=120).state)


async def looped(word: str, file: str, desk: Desk, channel: int) -> None:
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        graph = agent(desk, channel).compile(checkpointer=saver)
        state = await graph.aget_state(CONFIG)
        if word != "go-on" or not state.interrupts:
            await graph.ainvoke(None if word == "go-on" else HELLO, CONFIG)
        state = await graph.aget_state(CONFIG)
        say(parked=[stopped.value["handoff_session_id"] for stopped in state.interrupts])
        found = await aresume(graph, CONFIG, desk, seconds=120)
        show(found.state)


def main(word: str, file: str, url: str, token: str, channel: str) -> None:
    made = (Dying if word.endswith("die") else Desk)(url, token, timeout=30)
    with contextlib.suppress(KeyboardInterrupt):
        if word.startswith("async-"):
            asyncio.run(looped(word.removeprefix("async-"), file, made, int(channel)))
        else:
            threaded(word, file, made, int(channel))


if __name__ == "__main__":
    main(*sys.argv[1:])
