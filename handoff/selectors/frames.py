"""The frames of `/ws/chat`: one builder for each audience (contract.md section 7).

A subscriber's frame never carries a summary, an expected action, extra context, an address or the
cause of a failure.
"""

from typing import Any

from handoff.contract.kinds import Author, EventType
from handoff.contract.payloads import rfc3339
from handoff.models import Event, Message, Session
from handoff.selectors import payloads

VERSION = 1
_FOR_CHAT = frozenset(
    {
        EventType.MESSAGE_CREATED,
        EventType.MESSAGE_ROUTED,
        EventType.MESSAGE_RELAY_FAILED,
        EventType.STARTED,
        EventType.FAILED,
        EventType.PARTICIPANT_JOINED,
        EventType.PARTICIPANT_LEFT,
        EventType.RELEASED,
        EventType.CANCELLED,
        EventType.LATE_RETURN,
    }
)


def frame(row: Event, *, audience: str) -> dict[str, Any] | None:
    """The frame for one event, or None when it is not for this audience."""
    if row.type not in _FOR_CHAT or (row.message is not None and row.message.superseded):
        return None
    return {
        "v": VERSION,
        "id": row.conversation_number,
        "type": row.type,
        "at": rfc3339(row.at),
        "conversation": row.conversation.public_id if row.conversation else None,
        "handoff": row.session.public_id if row.session else None,
        "data": payloads.event_data(row) if audience == "agent" else _subscriber_data(row),
    }


def _subscriber_data(row: Event) -> dict[str, Any]:
    if row.message is not None and row.type in (
        EventType.MESSAGE_CREATED,
        EventType.MESSAGE_ROUTED,
        EventType.MESSAGE_RELAY_FAILED,
    ):
        return {"message": _subscriber_message(row.message, row.session)}
    if row.session is None:
        return {}
    if row.type in (EventType.PARTICIPANT_JOINED, EventType.PARTICIPANT_LEFT):
        return {"name": row.session.joined_name or row.session.channel.label}
    return {"handoff": _subscriber_handoff(row.session)}


def _subscriber_message(message: Message, session: Session | None) -> dict[str, Any]:
    body = payloads.message(message, session=session.public_id if session else None).body()
    hidden = session is not None and not session.channel.share_values_with_subscriber
    if message.author == Author.SYSTEM and message.note_type and hidden:
        body["text"] = message.text.partition("\n")[0]
    return body


def _subscriber_handoff(session: Session) -> dict[str, Any]:
    view = payloads.handoff(session).body()
    shown = {
        key: view[key]
        for key in (
            "id",
            "status",
            "release",
            "channel_kind",
            "channel_label",
            "idle_at",
            "late",
            "undelivered",
        )
    }
    shown["estimated_response"] = session.channel.estimated_response
    return shown
