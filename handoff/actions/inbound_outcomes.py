"""What became of an event: the code that its row keeps, and what the sender is told."""

import dataclasses
from enum import StrEnum

from handoff.models import Session


class Became(StrEnum):
    """The code in `InboundEvent.outcome`."""

    REPLIED = "replied"
    RELEASED = "released"
    LATE = "late"
    """A late return."""
    CLOSED = "closed"
    """It came after the end of its handoff, and told nobody anything."""
    DETACHED = "detached"
    """A handoff without a conversation, which takes the form or the release line only."""
    WHICH = "which"
    """It may mean one of several handoffs."""
    NOT_RECOGNISED = "not_recognised"
    """A release line that names no handoff here."""
    TOO_MANY = "too_many"
    NO_TEXT = "no_text"
    DELIVERY = "delivery"
    """A provider's later word, kept with what it is about."""
    MOVED = "moved"
    NO_NEWS = "no_news"
    """Nothing that was not known."""
    DROPPED = "dropped"
    UNMATCHED = "unmatched"
    UNREADABLE = "unreadable"
    FURTHER_KEY = "further_key"
    """Not an event: another key of the one beside it."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Applied:
    """The event had its effect, or has none."""

    became: Became
    session: Session | None = None
    answer: str = ""
    """What the sender is owed, in the recipient's language."""
    is_aside: bool = False
    """Such an answer is worth a line in a chat, and no mail."""
    done: str = ""
    """What there is to say of it where a command has to be answered, when no answer is owed."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Carry:
    """Its files have to be stored in this conversation first, outside the transaction."""

    conversation_pk: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wait:
    """It can have its effect only later, and is looked at again in so many seconds."""

    seconds: float
    session: Session | None = None
