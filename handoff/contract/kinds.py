"""The closed lists of the product: kinds, states, and the table of allowed status edges."""

from enum import StrEnum


class ChannelKind(StrEnum):
    EMAIL = "email"
    TELEGRAM = "telegram"
    SLACK = "slack"
    DISCORD = "discord"
    WHATSAPP = "whatsapp"
    OWNER_INBOX = "owner_inbox"
    AGENT = "agent"


class Urgency(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


class Outcome(StrEnum):
    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    DECLINED = "declined"


class FieldType(StrEnum):
    STRING = "string"
    MULTILINE = "multiline"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ENUM = "enum"
    DATE = "date"
    URL = "url"


class SessionStatus(StrEnum):
    DISPATCHING = "dispatching"
    ACTIVE = "active"
    FAILED = "failed"
    UNKNOWN = "unknown"
    RELEASED = "released"


class AttemptStatus(StrEnum):
    SENDING = "sending"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class ReleaseKind(StrEnum):
    FORM = "form"
    TOKEN = "token"  # noqa: S105  (a way of releasing, not a credential)
    AGENT = "agent"
    OWNER = "owner"
    SUBSCRIBER = "subscriber"
    IDLE_TIMEOUT = "idle_timeout"
    CANCELLED = "cancelled"
    UNDELIVERABLE = "undeliverable"
    LOST = "lost"
    EXPIRED = "expired"


class Author(StrEnum):
    SUBSCRIBER = "subscriber"
    AGENT = "agent"
    PERSON = "person"
    SIBLING = "sibling"
    SYSTEM = "system"


class RoutedTo(StrEnum):
    AGENT = "agent"
    RECIPIENT = "recipient"
    SUBSCRIBER = "subscriber"


class EventType(StrEnum):
    MESSAGE_CREATED = "message.created"
    MESSAGE_ROUTED = "message.routed"
    MESSAGE_RELAY_FAILED = "message.relay_failed"
    PARTICIPANT_JOINED = "participant.joined"
    PARTICIPANT_LEFT = "participant.left"
    REQUESTED = "handoff.requested"
    STARTED = "handoff.started"
    FAILED = "handoff.failed"
    UNKNOWN = "handoff.unknown"
    DELIVERY_CHANGED = "handoff.delivery_changed"
    CLAIMED = "handoff.claimed"
    REMINDED = "handoff.reminded"
    RELEASED = "handoff.released"
    LATE_RETURN = "handoff.late_return"
    CANCELLED = "handoff.cancelled"
    ASSIGNED = "handoff.assigned"


class TransportErrorKind(StrEnum):
    """Why a provider did not take a message (channels.md, the table of error kinds)."""

    AUTH = "auth"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    RECIPIENT_UNREACHABLE = "recipient_unreachable"
    WINDOW_CLOSED = "window_closed"
    TOO_LONG = "too_long"
    BAD_FORMAT = "bad_format"
    RATE_LIMITED = "rate_limited"
    TRANSIENT = "transient"
    CONNECT = "connect"
    UNKNOWN_OUTCOME = "unknown_outcome"


OPEN = frozenset({SessionStatus.DISPATCHING, SessionStatus.ACTIVE})

DISPATCH_EDGES: dict[SessionStatus, frozenset[SessionStatus]] = {
    SessionStatus.ACTIVE: frozenset({SessionStatus.DISPATCHING}),
    SessionStatus.FAILED: frozenset({SessionStatus.DISPATCHING}),
    SessionStatus.UNKNOWN: frozenset({SessionStatus.DISPATCHING}),
}
"""New status -> the statuses that an outcome of the dispatch may move from."""

RELEASE_EDGES: dict[ReleaseKind, frozenset[SessionStatus]] = {
    **dict.fromkeys(
        (
            ReleaseKind.FORM,
            ReleaseKind.TOKEN,
            ReleaseKind.AGENT,
            ReleaseKind.OWNER,
            ReleaseKind.CANCELLED,
        ),
        frozenset({SessionStatus.DISPATCHING, SessionStatus.ACTIVE, SessionStatus.UNKNOWN}),
    ),
    **dict.fromkeys(
        (
            ReleaseKind.SUBSCRIBER,
            ReleaseKind.IDLE_TIMEOUT,
            ReleaseKind.UNDELIVERABLE,
            ReleaseKind.LOST,
            ReleaseKind.EXPIRED,
        ),
        frozenset({SessionStatus.ACTIVE}),
    ),
}
"""Release kind -> the statuses from which it may release."""

HAS_RETURN = frozenset({ReleaseKind.FORM, ReleaseKind.TOKEN, ReleaseKind.AGENT, ReleaseKind.OWNER})
"""Release kinds that carry an outcome, a message and values."""
