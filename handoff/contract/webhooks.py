"""Outgoing webhooks: what an agent sends to set one up, what it reads, and how a call is signed.

The signature, the headers and the form of a secret are those of Standard Webhooks 1.0.
"""

import base64
import datetime as dt
import hashlib
import hmac
import re
import secrets
from enum import StrEnum
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import pydantic
from pydantic_core import PydanticCustomError

from handoff.contract import limits
from handoff.contract.kinds import EventType
from handoff.contract.payloads import Instant, Shape, rfc3339
from handoff.contract.turns import Body, Clean, EventNumber

WEBHOOKS_MAX: Final = 10
"""Of one agent, whatever their state."""
URL_MAX: Final = 2048
TEST_TYPE: Final = "webhook.test"
SECRET_PREFIX: Final = "whsec_"  # noqa: S105  (how every secret begins)
_SECRET_BYTES: Final = 32
_URL: Final = r"^https?://[!-~]+$"
_PRINTABLE: Final = re.compile(_URL)


class Payload(StrEnum):
    FULL = "full"
    THIN = "thin"


class Stopped(StrEnum):
    """Why the desk itself switched a webhook off."""

    GONE = "gone"
    GIVEN_UP = "given_up"
    BEHIND = "behind"
    NO_SECRET = "no_secret"  # noqa: S105  (a reason, not a credential)
    TOKEN_REVOKED = "token_revoked"  # noqa: S105  (the same)


def gettext_noop(sentence: str) -> str:
    """Marks a sentence for catalogues, by the name that they are made by."""
    return sentence


SENTENCES: Final = {
    Stopped.GONE: gettext_noop(
        "The receiver answered 410 Gone, so nothing more is sent there. Set its new address, then "
        "switch it on again."
    ),
    Stopped.GIVEN_UP: gettext_noop(
        "Every try failed for about a day, so the desk gave up. Repair the receiver, then switch "
        "it on again: it goes on with the event that it could not take."
    ),
    Stopped.BEHIND: gettext_noop(
        "It fails, and more events wait for it than the desk keeps ready. Repair the receiver, "
        "then switch it on again, or start with what is new."
    ),
    Stopped.NO_SECRET: gettext_noop(
        "The secret that signs its calls cannot be read any more. Rotate it, give the new one to "
        "the receiver, then switch it on again."
    ),
    Stopped.TOKEN_REVOKED: gettext_noop(
        "The token that set it up was revoked, so nothing more is sent there. Look whether its "
        "address is right, then switch it on again."
    ),
}
"""For whoever looks after the webhook: what happened, and what to do."""


class CallKind(StrEnum):
    """What one call was for."""

    EVENT = "event"
    REPLAY = "replay"
    TEST = "test"


class Fate(StrEnum):
    """What became of one call."""

    SENDING = "sending"
    DELIVERED = "delivered"
    STATUS = "status"
    REDIRECT = "redirect"
    GONE = "gone"
    NOT_CONNECTED = "not_connected"
    NO_ANSWER = "no_answer"
    NOT_ALLOWED = "not_allowed"
    NOT_SIGNED = "not_signed"
    LOST = "lost"


def new_secret() -> str:
    """`whsec_` and 256 random bits in base64."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")


def message_id(agent: int, number: int, at: dt.datetime) -> str:
    """The `webhook-id` of an event: the same for every try and every webhook of its agent, which
    is named by its key.

    It tells nothing and holds no full stop. The time is in it because a desk restored from a
    backup gives numbers out a second time.
    """
    named = f"{agent}\n{number}\n{at.astimezone(dt.UTC).isoformat()}"
    return "msg_" + _base32(hashlib.sha256(named.encode()).digest()[:16])


def test_message_id() -> str:
    return "msg_" + _base32(secrets.token_bytes(16))


def _base32(raw: bytes) -> str:
    return base64.b32encode(raw).decode("ascii").rstrip("=").lower()


def headers(keys: list[str], *, message: str, at: dt.datetime, body: bytes) -> dict[str, str]:
    """The three headers, with a signature by each of `keys` (`whsec_…`) over the raw body."""
    seconds = int(at.timestamp())
    signed = f"{message}.{seconds}.".encode() + body
    return {
        "webhook-id": message,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(_signature(key, signed) for key in keys),
    }


def _signature(key: str, signed: bytes) -> str:
    raw = base64.b64decode(key.removeprefix(SECRET_PREFIX))
    return "v1," + base64.b64encode(hmac.new(raw, signed, hashlib.sha256).digest()).decode("ascii")


def checked_url(text: str) -> str:
    """The address as it is called; raises ValueError, whose words continue the field's name.

    Whether it may be connected to is another question, which only its host's addresses answer.
    """
    if len(text) > URL_MAX:
        raise ValueError(f"must have at most {URL_MAX} characters")
    if not _PRINTABLE.fullmatch(text):
        raise ValueError("must be an https address in ASCII, such as https://shop.example/hook")
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("must be an https address, such as https://shop.example/hook")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user or a password")
    if "#" in text:
        raise ValueError("must not hold a fragment (#)")
    return text


def _url(text: str) -> str:
    try:
        return checked_url(text)
    except ValueError as problem:
        raise PydanticCustomError("url", "{reason}", {"reason": str(problem)}) from problem


def _each_once(types: list[EventType]) -> list[EventType]:
    return sorted(set(types))


Url = Annotated[
    str,
    pydantic.AfterValidator(_url),
    pydantic.Field(json_schema_extra={"format": "uri", "pattern": _URL, "maxLength": URL_MAX}),
]
Label = Annotated[Clean, pydantic.Field(max_length=limits.NAME_MAX)]
Types = Annotated[
    list[Annotated[EventType, pydantic.Field(strict=False)]], pydantic.AfterValidator(_each_once)
]
Loose = Annotated[Payload, pydantic.Field(strict=False)]


class WebhookBody(Body):
    """A new webhook. No `event_types`: all of them."""

    url: Url
    label: Label = ""
    event_types: Types = pydantic.Field(default_factory=list)
    payload: Loose = Payload.FULL


class WebhookChange(Body):
    """What is absent stays as it is. `after` says which event it goes on behind."""

    url: Url | None = None
    label: Label | None = None
    event_types: Types | None = None
    payload: Loose | None = None
    enabled: bool | None = None
    after: EventNumber | None = None


class ReplayBody(Body):
    """Send again: one event by its number, or everything since a time."""

    event: EventNumber | None = None
    since: Annotated[pydantic.AwareDatetime, pydantic.Field(strict=False)] | None = None

    @pydantic.model_validator(mode="after")
    def _one(self) -> "ReplayBody":
        if (self.event is None) == (self.since is None):
            raise PydanticCustomError("one", "must name either event or since")
        return self


class WebhookView(Shape):
    """W: one endpoint of the agent. Its secret is shown when it is made, and never again."""

    id: str
    url: str
    label: str
    event_types: list[EventType]
    payload: Payload
    enabled: bool
    stopped: Stopped | None
    """Why the desk switched it off; null when nobody or somebody else did."""
    problem: str
    """The same as a sentence that says what to do."""
    after: int
    """The newest event that it has, or that its types leave out."""
    behind: int
    """How many events the agent has after that."""
    tries: int
    """How often the next event was tried so far."""
    failing_since: Instant | None
    next_attempt_at: Instant | None
    """When it is tried again; null unless it fails."""
    last_success_at: Instant | None
    previous_secret_until: Instant | None
    """Until then each call is signed with the secret before the last rotation, too."""
    created_at: Instant


class WebhookMade(WebhookView):
    secret: str
    """`whsec_…`: give it to the receiver now."""


class WebhookList(Shape):
    data: list[WebhookView]


class CallView(Shape):
    """One call of a webhook, without anything that the receiver said."""

    id: int
    kind: CallKind
    webhook_id: str
    """The header of that name: the same for all calls about one event."""
    event: int | None
    type: str
    fate: Fate
    status: int | None
    seconds: float | None
    at: Instant


class CallPage(Shape):
    data: list[CallView]
    next_after: int
    has_more: bool


class ReplayView(Shape):
    """How many events are sent again, those that its types leave out included."""

    events: int


def envelope(type_: str, at: dt.datetime, data: dict[str, Any]) -> dict[str, Any]:
    """The body of every call."""
    return {"type": type_, "timestamp": rfc3339(at), "data": data}
