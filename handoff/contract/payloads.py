"""The shapes that leave the desk (contract.md section 4); nothing else goes out.

Times are RFC 3339 UTC. Selectors build these; the OpenAPI document is made from them.
"""

import datetime as dt
import operator
from typing import Annotated, Any, Literal

import pydantic

from handoff.contract.kinds import (
    AttemptStatus,
    Author,
    EventType,
    Outcome,
    ReleaseKind,
    RoutedTo,
    SessionStatus,
)


def rfc3339(value: dt.datetime) -> str:
    """An aware time in UTC, to the millisecond: `2026-06-10T12:00:00.000Z`."""
    return value.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Instant = Annotated[
    dt.datetime, pydantic.PlainSerializer(rfc3339, return_type=str, when_used="json")
]
Scalar = str | int | float | bool


class Shape(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def body(self) -> dict[str, Any]:
        """This payload as JSON-able plain data."""
        return self.model_dump(mode="json", by_alias=True)


class MissingField(Shape):
    name: str
    required: bool


class InvalidField(Shape):
    name: str
    raw: Any
    reason: str


class AttemptView(Shape):
    id: str
    status: AttemptStatus
    delivery: Literal["", "delivered", "read", "bounced"]
    at: Instant


class HandoffView(Shape):
    """H: the session as its agent sees it."""

    id: str
    status: SessionStatus
    release: ReleaseKind | None
    outcome: Outcome | None
    message: str
    """The words in the first line of the resume note."""
    answered_by: str
    note: str
    """What the person wrote in the form's note field, line breaks kept."""
    values: dict[str, Scalar]
    missing: list[MissingField]
    invalid: list[InvalidField]
    unknown: dict[str, Any]
    late: bool
    undelivered: list[str]
    """Ids of the subscriber's messages that never reached the recipient."""
    channel_id: int
    channel_kind: str
    channel_label: str
    conversation: str | None
    attempts: list[AttemptView]
    return_schema: dict[str, Any]
    idle_at: Instant | None
    """When the bypass ends if the recipient does nothing; null unless it is active."""
    return_until: Instant | None
    created_at: Instant
    released_at: Instant | None


class SubscriberView(Shape):
    name: str
    email: str
    locale: str


class ConversationView(Shape):
    id: str
    external_id: str
    subscriber: SubscriberView
    handoff: HandoffView | None


class FileView(Shape):
    """A file that came with a line; where it can be fetched depends on who asks."""

    id: str
    name: str
    type: str
    size: int
    """Bytes."""
    kept: bool
    """False once its content was deleted."""


class MessageView(Shape):
    """M: one line of a conversation. `files` is there when files came with it."""

    id: str
    event_id: int
    client_id: str | None
    author: Author
    name: str
    text: str
    routed_to: RoutedTo | None
    handoff: str | None
    at: Instant
    files: list[FileView] = pydantic.Field(default=[], exclude_if=operator.not_)


class NoteView(Shape):
    """C: a resume note that the agent has not acknowledged."""

    event_id: int
    type: EventType
    handoff: str
    text: str
    values: dict[str, Scalar]
    missing: list[MissingField]
    invalid: list[InvalidField]
    unknown: dict[str, Any]


class TurnView(Shape):
    message: MessageView
    bypass: bool
    handoff: HandoffView | None
    context: list[NoteView]
    code: Literal["superseded"] | None = None

    def body(self) -> dict[str, Any]:
        body = super().body()
        if body["code"] is None:
            del body["code"]
        return body


class EventView(Shape):
    """E: one entry of the agent's event log; `id` is the agent's number."""

    id: int
    conversation_event_id: int | None
    type: EventType
    at: Instant
    conversation: str | None
    handoff: str | None
    data: dict[str, Any]


class MessagePage(Shape):
    data: list[MessageView]
    next_after: int
    has_more: bool


class EventPage(Shape):
    data: list[EventView]
    next_after: int
    has_more: bool


class HandoffPage(Shape):
    data: list[HandoffView]
    next_after: int
    has_more: bool


class ChannelView(Shape):
    id: int
    kind: str
    label: str
    available: bool
    estimated_response: str


class ChannelList(Shape):
    data: list[ChannelView]


class TicketView(Shape):
    ticket: str
    url: str
    expires_at: Instant


class AgentView(Shape):
    name: str
    display_name: str


class LimitsView(Shape):
    call_bytes: int
    call_seconds: float
    attempt_seconds: float
    turn_text_max: int
    page_max: int
    wait_seconds_max: int
    handoffs_per_minute: int
    turns_per_second: int
    calls_per_minute: int


class MeView(Shape):
    agent: AgentView
    limits: LimitsView


class OriginatorView(Shape):
    agent: str


class InboxItem(Shape):
    """A handoff that was given to this agent as sibling; `event_id` is the agent's number."""

    id: str
    event_id: int
    from_: OriginatorView = pydantic.Field(alias="from")
    status: SessionStatus
    claimed_at: Instant | None
    initial_context: str
    return_schema: dict[str, Any]
    at: Instant


class InboxPage(Shape):
    data: list[InboxItem]
    next_after: int
    has_more: bool


class Problem(Shape):
    """Any answer that is not the thing asked for."""

    error: str
    code: str | None = None
    details: dict[str, Any] | None = None


class ProblemDetails(Problem):
    """The same with the members of RFC 9457, for a client that accepts problem+json."""

    type: str
    title: str
    status: int
    detail: str


class ToolList(Shape):
    tools: list[dict[str, Any]]
    """In the shape that was asked for."""


class ToolAnswer(Shape):
    text: str
    is_error: bool = pydantic.Field(alias="isError")
    result: dict[str, Any]
