"""What every transport is: frozen settings in, one message out, a receipt back.

A transport gets plain values, writes nothing to the database and never sees a model.
"""

import dataclasses
import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pydantic

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import Author, Urgency
from handoff.transports.inbound import Hook, Polled, Said


class TransportSettings(pydantic.BaseModel):
    """Base of one kind's settings: unknown and missing keys are refused by name, all at once."""

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="forbid",
        str_strip_whitespace=True,
        use_attribute_docstrings=True,  # the help texts of the admin's form
        hide_input_in_errors=True,  # which may be a secret, or have one beside it
    )

    secret_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys that are write-only in the admin and never leave the desk."""
    made_keys: ClassVar[frozenset[str]] = frozenset()
    """Secrets that we make when they are absent, and show once. Write-only as the others."""
    dormant_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys that do nothing in this version of the desk: the admin keeps them and shows no field."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TranscriptLine:
    author: Author
    name: str
    text: str
    at: dt.datetime


@dataclasses.dataclass(frozen=True, kw_only=True)
class AttachedFile:
    """A file that a transport may send along; its line names its address in any case."""

    name: str
    type: str
    size: int
    """Bytes."""
    read: Callable[[], bytes]
    """Its content; raises OSError when it is there no more."""


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
    thread_key: str = ""
    """The thread that the newest dispatch opened, as its receipt named it."""
    heard_at: dt.datetime | None = None
    """When the recipient was last heard in this channel; some providers only let us answer."""
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
    files: tuple[AttachedFile, ...] = ()
    """What came with the lines, which name it and where it can be fetched."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Closed(Envelope):
    """The handoff ended without this recipient's answer; `reason` is a sentence for a person."""

    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Notice:
    """A sentence of ours to somebody who wrote to us, such as what became of `/release`."""

    place: str
    """`Said.place`."""
    text: str
    thread_key: str = ""
    answers: str = ""
    """`Said.message_id`."""
    session: str = ""
    """`hs_…` of the handoff that was answered; "" while nothing shows that whoever wrote may."""
    language: str = "en"


Outgoing = Request | Line | Closed | Notice


@dataclasses.dataclass(frozen=True, kw_only=True)
class Receipt:
    """The provider's own word that it took the message."""

    provider_message_id: str = ""
    thread_key: str = ""
    raw_excerpt: str = ""
    settings: Mapping[str, Any] | None = None
    """Settings that the provider changed with its answer, such as a migrated chat id, by key."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TestReport:
    """What the Test button learned: whether it works, and a line for each step."""

    __test__: ClassVar[bool] = False
    works: bool
    lines: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SetUp:
    """One thing to do at the provider before a channel works, as a button of the admin."""

    key: str
    """Letters and `_`: part of an address."""
    label: str
    """What the button says, such as `Register commands`."""
    explanation: str = ""


class Transport[S: TransportSettings](ABC):
    """Carries messages for one channel kind."""

    kind: ClassVar[str]
    """Its key in the table of transports, such as `email`."""
    settings_model: ClassVar[type[TransportSettings]]
    in_database: ClassVar[bool] = False
    """True when the recipient is our own database; then a request is dispatched inside tx1."""
    collects_lines: ClassVar[bool] = False
    """True when every message disturbs its reader: waiting lines then go as one, seldom."""
    poll_every: ClassVar[float] = 15.0
    """Seconds between two looks of `poll`; 0 where the provider lets us wait for what comes."""
    hook: ClassVar[type[Hook[Any]] | None] = None
    """What verifies and reads the provider's webhook; None when it has none."""
    set_ups: ClassVar[tuple[SetUp, ...]] = ()
    """What `set_up` can do."""

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

    def set_up(self, key: str, *, hook_url: str, deadline: float) -> TestReport:
        """Do one of `set_ups` at the provider; `hook_url` is where it shall post, "" for nowhere.

        Raises TransportError.
        """
        raise KeyError(key)

    @classmethod
    def manifest(cls, *, hook_url: str, label: str) -> str:
        """What to paste at the provider to set up an app for such a channel; "" for nothing."""
        return ""

    def accepts(self, said: Said, *, recipients: frozenset[str]) -> bool:
        """Whether this was said by the recipient, in the place that the settings name.

        `recipients` are the thread keys of what was sent through the channel before.
        """
        return False

    @property
    def resends_safely(self) -> bool:
        """Whether the provider drops a repeat of the same message number by itself, for a while."""
        return False

    @property
    def not_found_is_final(self) -> bool:
        """Whether the provider wants what it did not find never to be called again."""
        return False

    def account(self) -> str:
        """What `account` of an event says when it is for a channel of these settings; "" when what
        comes for the channel comes for it alone.
        """
        return self.hook(self.settings).account() if self.hook else ""

    def shares_account(self, other: "Transport[S]") -> bool:
        """Whether what comes with these settings' secret may be for a channel of `other`."""
        return self.hook(self.settings).shares_secret(other.settings) if self.hook else False

    @property
    def polls(self) -> bool:
        """Whether the settings ask for `poll`."""
        return False

    def poll(self, cursor: str, *, threads: tuple[str, ...], deadline: float) -> Polled:
        """Ask for what is new since `cursor` ("" the first time) before `deadline`.

        `threads` are the thread keys of the open handoffs. Raises TransportError.
        """
        return Polled(cursor=cursor)
