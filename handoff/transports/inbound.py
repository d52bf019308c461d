"""What comes back from a provider: its webhook verified and read, or a mailbox polled.

Plain values again: a hook gets the raw request and frozen settings, and returns events. It writes
nothing; `actions.inbound` keeps each event once and applies it later.
"""

import dataclasses
import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal

import pydantic

from handoff.contract.files import Why
from handoff.contract.kinds import TransportErrorKind

BODY_MAX: Final = 1024 * 1024
RAW_MAX: Final = 100_000
"""Characters that are kept of what a person sent, as it came."""


class _Inbound(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    keys: Annotated[tuple[str, ...], pydantic.Field(min_length=1)]
    """What the provider counts it by (channels.md 1.2); an event of which any key is known is a
    repeat, and does nothing."""
    account: str = ""
    """Which of the channels that share one webhook address it is for, in the provider's words;
    "" when the address belongs to one channel."""
    at: dt.datetime | None = None
    """When it happened, by the provider's clock."""


class Enclosed(pydantic.BaseModel):
    """A file that came with what a person said. Where it goes is decided when it is applied: then
    one of `stored` and `refused` is set, and the content is forgotten."""

    model_config = pydantic.ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )

    name: Annotated[str, pydantic.Field(repr=False)] = ""
    """As it was sent."""
    declared: str = ""
    """The media type that was sent with it."""
    content: Annotated[bytes, pydantic.Field(repr=False)] = b""
    stored: str = ""
    """`f_…` of what was stored."""
    refused: Why | None = None

    @property
    def waits(self) -> bool:
        return not self.stored and self.refused is None


class Said(_Inbound):
    """A person wrote something where the recipient is."""

    type: Literal["said"] = "said"
    sender_id: str
    """Who wrote it, in the provider's ids."""
    sender_name: str = ""
    """As the person calls themselves: shown, never trusted."""
    text: str
    place: str
    """Where an answer belongs: chat, channel or address; what `Notice.place` takes."""
    message_id: str = ""
    """Provider id of this message, in the form of `Receipt.provider_message_id`."""
    replies_to: tuple[str, ...] = ()
    """Provider ids of messages that it answers, nearest first."""
    thread_key: str = ""
    """The thread it stands in, in the form of `Receipt.thread_key`."""
    session: str = ""
    """`hs_…` of the handoff that a signed address named; the hook has checked the signature."""
    only_one: bool = False
    """Without any of these it may mean the one open handoff of its place."""
    recent_one: bool = False
    """… or the most recent one. With two open ones the person is asked which."""
    attachments: int = 0
    """How many files came with it where files are not carried; the person is told."""
    files: tuple[Enclosed, ...] = ()
    left_out: int = 0
    """How many files are not in `files`, because they are too many or too large."""
    raw: str = ""
    """What arrived, at most RAW_MAX characters, when `text` is only part of it."""


class Progress(StrEnum):
    """How far a message got, by the provider's later word. Only ever forward."""

    SENT = "sent"
    DELIVERED = "delivered"
    READ = "read"
    FAILED = "failed"


class Status(_Inbound):
    """A provider's later word about a message of ours."""

    type: Literal["status"] = "status"
    message_id: str
    progress: Progress
    failure_kind: TransportErrorKind | None = None
    failure: str = ""
    """For operators; at most 400 characters."""
    provider_code: str = ""
    hint: str = ""


class Moved(_Inbound):
    """The provider gave the place another id: a group that became a supergroup."""

    type: Literal["moved"] = "moved"
    settings: dict[str, Any]
    """The settings that change, by key."""
    old_prefix: str
    new_prefix: str
    """What the stored provider ids of the place began with, and begin with from now on."""


class Dropped(_Inbound):
    """Something came that no person said, or that cannot be read, such as an out-of-office note.

    It is kept once and named on the trail; nobody is answered and nothing is passed on.
    """

    type: Literal["dropped"] = "dropped"
    reason: str
    """Why, as a code for the trail."""


type Came = Said | Status | Moved | Dropped
InboundEvent = Annotated[Said | Status | Moved | Dropped, pydantic.Field(discriminator="type")]
READER: Final = pydantic.TypeAdapter[Said | Status | Moved | Dropped](InboundEvent)
"""Opens a stored event: `READER.validate_json(row.body)`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class HookCall:
    """A provider's request as it came."""

    method: str
    headers: Mapping[str, str]
    """By lower-case name."""
    query: Mapping[str, str]
    body: bytes
    at: float
    """Seconds since the epoch."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class HookAnswer:
    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Received:
    """What a hook made of one call."""

    answer: HookAnswer
    events: tuple[Came, ...] = ()
    refused: str = ""
    """Why it was not believed or could not be read, as a code for the trail; "" otherwise."""
    at_once: bool = False
    """The one event is applied before the answer, which carries the words (`Hook.saying`)."""


class Hook[S: pydantic.BaseModel](ABC):
    """Verifies and reads the webhook of one channel kind."""

    body_max: ClassVar[int] = BODY_MAX
    unavailable: ClassVar[int] = 503
    """The status that makes the provider try again when our database is down."""

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def receive(self, call: HookCall) -> Received:
        """Verify over the raw bytes, then read. Never raises for what a caller can send."""

    def account(self) -> str:
        """What `account` of an event says when it is for the channel of these settings."""
        return ""

    def shares_secret(self, other: S) -> bool:
        """Whether a call that these settings verified may speak for a channel of `other`."""
        return False

    def saying(self, words: str) -> HookAnswer:
        """The answer that shows `words` to the person who typed a command."""
        return HookAnswer(status=200)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Polled:
    """What one look at a mailbox or a provider's queue brought."""

    events: tuple[Came, ...] = ()
    cursor: str = ""
    """Where to go on, kept with the channel once the events are."""
    hint: str = ""
    """Something for the admin to put right, such as a missing permission."""
