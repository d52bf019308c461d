"""The bodies that an agent sends to the REST resources, parsed once at the edge."""

import dataclasses
from typing import Annotated, Any, Final, Literal

import pydantic
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from handoff.contract import limits, text
from handoff.contract.files import FILES_PER_MESSAGE


def _clean(value: str) -> str:
    try:
        return text.clean(value)
    except text.TextProblem as problem:
        raise PydanticCustomError("text", "{reason}", {"reason": str(problem)}) from problem


@dataclasses.dataclass(frozen=True)
class _Declared:
    """Says in JSON Schema what the validators before it check."""

    pattern: str
    longest: int | None = None

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: pydantic.GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        said = {**handler(schema), "pattern": self.pattern}
        return said if self.longest is None else {**said, "maxLength": self.longest}


_UNKEPT: Final = r"\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff"
"""As in `text.clean`. CR LF is taken for LF, too, but a pattern that says so is of no use: those
who make texts from it need minutes for each.
"""
_MAILBOX: Final = rf"[^@\s<>\",;:{_UNKEPT}]+"
_ADDRESS: Final = rf"^$|^{_MAILBOX}@{_MAILBOX}$"
_CLEANED: Final = pydantic.AfterValidator(_clean)
Clean = Annotated[str, _CLEANED, _Declared(rf"^[^{_UNKEPT}]*$")]
Said = Annotated[str, _CLEANED, _Declared(rf"^[^{_UNKEPT}]*[^\s{_UNKEPT}][^{_UNKEPT}]*$")]
"""Clean text that is not blank."""
Address = Annotated[
    str,
    _CLEANED,
    pydantic.Field(max_length=254, pattern=_ADDRESS),
    _Declared(_ADDRESS, longest=254),
]


def _whole(value: object) -> object:
    # JSON Schema counts 12.0 as an integer, and some callers send every number as a float.
    return int(value) if isinstance(value, float) and value.is_integer() else value


EventNumber = Annotated[
    int, pydantic.Field(ge=0, le=limits.EVENT_ID_MAX), pydantic.BeforeValidator(_whole)
]


class Body(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)


Speaker = Literal["subscriber", "agent"]


class Subscriber(Body):
    name: Annotated[Clean, pydantic.Field(max_length=limits.NAME_MAX)] | None = None
    email: Address | None = None
    locale: Annotated[str, pydantic.Field(max_length=20, pattern=r"^[A-Za-z0-9_-]*$")] | None = None


class ConversationBody(Body):
    external_id: Annotated[Said, pydantic.Field(min_length=1, max_length=limits.EXTERNAL_ID_MAX)]
    subscriber: Subscriber = Subscriber()


def _each_once(value: list[str]) -> list[str]:
    return list(dict.fromkeys(value))


FileIds = Annotated[
    list[Annotated[str, pydantic.Field(pattern=r"^f_[a-z2-7]{26}$")]],
    pydantic.Field(max_length=FILES_PER_MESSAGE),
    pydantic.AfterValidator(_each_once),
]
"""Files that were uploaded to the conversation and came with no line yet."""


class TurnBody(Body):
    client_id: Annotated[Said, pydantic.Field(min_length=1, max_length=limits.CLIENT_ID_MAX)]
    author: Speaker
    text: Annotated[Said, pydantic.Field(min_length=1, max_length=limits.TURN_TEXT_MAX)]
    files: FileIds = []
    ack_event_id: EventNumber | None = None


class TicketBody(Body):
    role: Literal["subscriber", "agent"]


class ExternalConversation(Body):
    external_id: Annotated[Said, pydantic.Field(min_length=1, max_length=limits.EXTERNAL_ID_MAX)]


def _conversation(value: object, handler: pydantic.ValidatorFunctionWrapHandler) -> object:
    try:
        return handler(value)
    except pydantic.ValidationError as error:
        raise PydanticCustomError(
            "conversation", "must be an id c_… or an object with one member, external_id"
        ) from error


class ToolCall(Body):
    """One tool call; the arguments are checked by the tool itself."""

    name: Annotated[str, pydantic.Field(min_length=1, max_length=64, pattern=r"\S")]
    args: dict[str, Any] = pydantic.Field(default_factory=dict)
    conversation: Annotated[
        str | ExternalConversation | None, pydantic.WrapValidator(_conversation)
    ] = None
    run: Annotated[Clean, pydantic.Field(max_length=200)] | None = None
    on_behalf_of: str | None = None
