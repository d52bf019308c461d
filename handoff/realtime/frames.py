"""The frames of `handoff.v1` that no event row stands behind, and the client's own frames."""

import datetime as dt
from typing import Any, Literal

import pydantic

from handoff.contract import jsontext, limits
from handoff.contract.turns import Body, Clean, FileIds

VERSION = 1
Type = Literal["message.send", "ack", "typing", "conversation.resume_bot", "pong"]
type Frame = dict[str, Any]


class BadFrame(ValueError):
    """Not a client frame of the contract; the text is a sentence."""


class ClientFrame(Body):
    v: Literal[1]
    type: Type
    data: dict[str, Any] = pydantic.Field(default_factory=dict)


class Send(Body):
    client_id: str = pydantic.Field(min_length=1, max_length=limits.CLIENT_ID_MAX)
    text: Clean
    files: FileIds = []


class Ack(Body):
    last_event_id: int = pydantic.Field(ge=0, le=limits.EVENT_ID_MAX)


class Typing(Body):
    on: bool


class Empty(Body):
    """A frame without data."""


DATA: dict[str, type[Body]] = {
    "message.send": Send,
    "ack": Ack,
    "typing": Typing,
    "conversation.resume_bot": Empty,
    "pong": Empty,
}


def read(text: str | None) -> tuple[str, Body]:
    """Type and data of a client's frame; raises BadFrame for anything else."""
    if text is None:
        raise BadFrame("A frame is text, not bytes.")
    try:
        frame = ClientFrame.model_validate(jsontext.loads(text.encode("utf-8", "replace")))
        return frame.type, DATA[frame.type].model_validate(frame.data)
    except jsontext.JSONProblem as problem:
        raise BadFrame(f"A frame is a JSON object. {problem}") from problem
    except pydantic.ValidationError as problem:
        first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "frame"
        raise BadFrame(f"{where}: {first['msg']}.") from problem


def ephemeral(type_: str, data: Frame, *, conversation: str | None = None) -> Frame:
    """A frame without a number: it is not replayed."""
    return {
        "v": VERSION,
        "type": type_,
        "at": dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "conversation": conversation,
        "handoff": None,
        "data": data,
    }


def error(code: int | str, sentence: str, *, conversation: str | None = None) -> Frame:
    """A refusal: a close code when the socket is closed with it, a word when it stays open."""
    said = {"code": code, "error": sentence}
    return ephemeral("error", said, conversation=conversation) | said
