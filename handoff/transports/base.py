"""What every transport is: frozen settings in, one message out, a receipt back.

A transport gets plain values, writes nothing to the database and never sees a model.
"""

import dataclasses
import datetime as dt
from abc import ABC, abstractmethod
from typing import ClassVar

import pydantic

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import Author, ChannelKind, Urgency


class TransportSettings(pydantic.BaseModel):
    """Base of one kind's settings: unknown and missing keys are refused by name, all at once."""

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="forbid",
        str_strip_whitespace=True,
        use_attribute_docstrings=True,  # the help texts of the admin's form
    )

    secret_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys that are write-only in the admin and never leave the desk."""
    dormant_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys that do nothing in this version of the desk: the admin keeps them and shows no field."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TranscriptLine:
    author: Author
    name: str
    text: str
    at: dt.datetime


@dataclasses.dataclass(frozen=True, kw_only=True)
class Envelope:
    """What every message to a recipient carries: where it belongs and how to answer."""

    session: str
    """`hs_…`"""
    number: int
    """1 for the first message to this recipient about this session, then counting up."""
    agent_name: str
    channel_label: str
    return_url: str
    release_token: str
    earlier_ids: tuple[str, ...] = ()
    """Provider ids of what was sent before about this session, oldest first, for threading."""
    contact_back_email: str = ""
    language: str = "en"
    timezone: str = "UTC"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request(Envelope):
    """The dispatch itself: who needs what, and the form to answer in."""

    summary: str
    expected_action: str
    urgency: Urgency
    subscriber_name: str = ""
    fields: tuple[ReturnField, ...] = ()
    extra_context: tuple[tuple[str, str], ...] = ()
    transcript: tuple[TranscriptLine, ...] = ()
    return_until: dt.datetime
    idle_minutes: int | None
    """Minutes of silence after which the bypass ends; None for a detached handoff."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line(Envelope):
    """What the subscriber wrote, relayed while the bypass is active."""

    subscriber_name: str
    lines: tuple[TranscriptLine, ...]
    """One turn, or several in order where the transport collects them; at least one."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Closed(Envelope):
    """The handoff ended without this recipient's answer; `reason` is a sentence for a person."""

    reason: str


Outgoing = Request | Line | Closed


@dataclasses.dataclass(frozen=True, kw_only=True)
class Receipt:
    """The provider's own word that it took the message."""

    provider_message_id: str = ""
    thread_key: str = ""
    raw_excerpt: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TestReport:
    """What the Test button learned: whether it works, and a line for each step."""

    __test__: ClassVar[bool] = False
    works: bool
    lines: tuple[str, ...]


class Transport[S: TransportSettings](ABC):
    """Carries messages for one channel kind."""

    kind: ClassVar[ChannelKind]
    settings_model: ClassVar[type[TransportSettings]]
    in_database: ClassVar[bool] = False
    """True when the recipient is our own database; then a request is dispatched inside tx1."""
    collects_lines: ClassVar[bool] = False
    """True when every message disturbs its reader: waiting lines then go as one, seldom."""

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        """Deliver one message before `deadline` (a `time.monotonic()` value).

        Raises TransportError; `kind` is `unknown_outcome` when the provider may have it.
        """

    def test(self, *, deadline: float) -> TestReport:
        """Check the settings against the provider without sending anything to the recipient."""
        return TestReport(works=True, lines=("Nothing to connect to.",))
