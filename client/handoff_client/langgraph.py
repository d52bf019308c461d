"""Parks a LangGraph run on its handoff until the people released it
(`pip install handoff-client[langgraph]`).

The graph needs a checkpointer. `tools` are those of `handoff_client.langchain`, but
`handoff_request` interrupts the run once somebody was notified, and comes back as the resume note.
Nobody is asked twice when a step is run again, in this process or in the next.
"""

import dataclasses
import time
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.func import task
from langgraph.types import Command, interrupt

from handoff_client import offers
from handoff_client.answers import Answer
from handoff_client.async_desk import AsyncDesk
from handoff_client.desk import Desk, Unset
from handoff_client.langchain import DeskTool, Named
from handoff_client.waiting import ENDED

SESSION: Final = "handoff_session_id"


class ParkingTool(DeskTool):
    """`handoff_request` that waits by interrupting the run."""

    def _run(self, /, *_: Any, config: RunnableConfig, **args: Any) -> Any:
        place = self._place(args, config)

        @task(name=self.name)
        def request() -> dict[str, Any]:
            return dataclasses.asdict(self._desk.call(self.name, args, **place))

        return self._message(_parked(Answer(**request().result())))

    async def _arun(self, /, *_: Any, config: RunnableConfig, **args: Any) -> Any:
        place = self._place(args, config)

        @task(name=self.name)
        async def request() -> dict[str, Any]:
            return dataclasses.asdict(await AsyncDesk(self._desk).call(self.name, args, **place))

        return self._message(_parked(Answer(**await request())))


def tools(
    desk: Desk,
    *,
    conversation: Named = None,
    on_behalf_of: str | Unset | None = Unset.UNSET,
) -> list[BaseTool]:
    """As `handoff_client.langchain.tools`, with a `handoff_request` that parks the run."""
    return [
        _made_for(offer["name"])(desk, offer, conversation, on_behalf_of)
        for offer in offers.completed(desk.tools("mcp"))
    ]


def _made_for(name: str) -> type[DeskTool]:
    return ParkingTool if name == "handoff_request" else DeskTool


@dataclasses.dataclass(frozen=True)
class Resumed:
    """What became of a parked run."""

    state: Any
    """What the graph came back with; None while it stays parked, or when it was not parked."""
    waiting_for: Answer | None
    """The words of the desk for the handoff that is still open, or can't be looked at."""


def parked_on(graph: Any, config: RunnableConfig) -> dict[str, str]:
    """The handoffs that a thread waits for: the id of the interrupt -> `hs_…`."""
    return _sessions(graph.get_state(config))


def resume(graph: Any, config: RunnableConfig, desk: Desk, *, seconds: float) -> Resumed:
    """Wait until the handoffs of a parked thread ended, then let it go on.

    Call it again when it is still parked, in any process that has the graph and its checkpointer.
    """
    end, told = time.monotonic() + seconds, {}
    for number, session in parked_on(graph, config).items():
        answer = desk.wait_resumed(session, seconds=max(0.0, end - time.monotonic()))
        if not _ended(answer):
            return Resumed(None, answer)
        told[number] = dataclasses.asdict(answer)
    return Resumed(graph.invoke(Command(resume=told), config) if told else None, None)


async def aresume(graph: Any, config: RunnableConfig, desk: Desk, *, seconds: float) -> Resumed:
    """As `resume`, for graphs that run on an event loop (there LangGraph's own interrupts need
    Python 3.11 or newer).
    """
    end, told = time.monotonic() + seconds, {}
    for number, session in _sessions(await graph.aget_state(config)).items():
        left = max(0.0, end - time.monotonic())
        answer = await AsyncDesk(desk).wait_resumed(session, seconds=left)
        if not _ended(answer):
            return Resumed(None, answer)
        told[number] = dataclasses.asdict(answer)
    return Resumed(await graph.ainvoke(Command(resume=told), config) if told else None, None)


def _parked(answer: Answer) -> Answer:
    """The answer that ended the handoff; interrupts until there is one."""
    session = answer.result.get(SESSION)
    if answer.is_error or not isinstance(session, str):
        return answer
    told = interrupt({SESSION: session, "channel_label": answer.result.get("channel_label")})
    return Answer(**told)


def _sessions(state: Any) -> dict[str, str]:
    return {
        stopped.id: stopped.value[SESSION]
        for stopped in state.interrupts
        if isinstance(stopped.value, dict) and isinstance(stopped.value.get(SESSION), str)
    }


def _ended(answer: Answer) -> bool:
    return (answer.handoff or {}).get("status") in ENDED
