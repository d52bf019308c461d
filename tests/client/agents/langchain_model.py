"""A chat model of LangChain that asks people once, and then says what it was told."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class Telling(BaseChatModel):
    args: dict[str, Any]

    @property
    def _llm_type(self) -> str:
        return "telling"

    def bind_tools(self, *_: Any, **__: Any) -> "Telling":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        said = messages[-1]
        if isinstance(said, ToolMessage):
            message = AIMessage(f"I was told: {said.text}")
        else:
            call = {"name": "handoff_request", "args": self.args, "id": "call_1"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def telling(args: dict[str, Any]) -> Telling:
    return Telling(args=args)
