"""The bodies that an agent sends to the REST resources, parsed once at the edge."""

from typing import Annotated, Any, Literal

import pydantic
from pydantic_core import PydanticCustomError

from handoff.contract import limits, text


def _clean(value: str) -> str:
    try:
        return text.clean(value)
    except text.TextProblem as problem:
        raise PydanticCustomError("text", "{reason}", {"reason": str(problem)}) from problem


Clean = Annotated[str, pydantic.AfterValidator(_clean)]


class Body(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)


Speaker = Literal["subscriber", "agent"]


class Subscriber(Body):
    name: Annotated[Clean, pydantic.Field(max_length=limits.NAME_MAX)] | None = None
    email: (
        Annotated[
            Clean, pydantic.Field(max_length=254, pattern=r"^$|^[^@\s<>\",;:]+@[^@\s<>\",;:]+$")
        ]
        | None
    ) = None
    locale: Annotated[str, pydantic.Field(max_length=20, pattern=r"^[A-Za-z0-9_-]*$")] | None = None


class ConversationBody(Body):
    external_id: Annotated[Clean, pydantic.Field(min_length=1, max_length=limits.EXTERNAL_ID_MAX)]
    subscriber: Subscriber = Subscriber()


class TurnBody(Body):
    client_id: Annotated[Clean, pydantic.Field(min_length=1, max_length=limits.CLIENT_ID_MAX)]
    author: Speaker
    text: Annotated[Clean, pydantic.Field(min_length=1, max_length=limits.TURN_TEXT_MAX)]
    ack_event_id: Annotated[int, pydantic.Field(ge=0, le=2**63 - 1)] | None = None


class TicketBody(Body):
    role: Literal["subscriber", "agent"]


class ExternalConversation(Body):
    external_id: Annotated[Clean, pydantic.Field(min_length=1, max_length=limits.EXTERNAL_ID_MAX)]


class ToolCall(Body):
    """One tool call; the arguments are checked by the tool itself."""

    name: Annotated[str, pydantic.Field(min_length=1, max_length=64)]
    args: dict[str, Any] = pydantic.Field(default_factory=dict)
    conversation: str | ExternalConversation | None = None
    run: Annotated[Clean, pydantic.Field(max_length=200)] | None = None
    on_behalf_of: str | None = None


def problems_of(error: pydantic.ValidationError) -> list[dict[str, str]]:
    """Every problem as `{field, problem}`, in words; the value itself is never repeated."""
    return [
        {
            "field": ".".join(str(part) for part in item["loc"]) or "body",
            "problem": item["msg"].removeprefix("Value error, "),
        }
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
