"""Builds the agent's payloads from rows: H, M, E, C and their pages."""

import dataclasses
import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import QuerySet, prefetch_related_objects

from handoff.contract import payloads as shapes
from handoff.contract.fields import ReturnField
from handoff.contract.kinds import (
    AttemptStatus,
    Author,
    EventType,
    Outcome,
    ReleaseKind,
    RoutedTo,
    SessionStatus,
)
from handoff.contract.note import data_lines, first_line, late_first_line
from handoff.contract.schema import return_schema
from handoff.contract.values import Returned
from handoff.models import Conversation, Event, File, Message, Session


def fields_of(session: Session) -> tuple[ReturnField, ...]:
    """The fields that the agent expects back, as typed values."""
    return tuple(ReturnField.model_validate(item) for item in session.expected_return)


def returned_of(session: Session) -> Returned:
    """What came back, or nothing; in the order of the fields, which PostgreSQL's jsonb loses."""
    found = Returned.from_json(session.returned or {})
    ordered = (asked.name for asked in fields_of(session))
    values = {name: found.values[name] for name in ordered if name in found.values}
    return dataclasses.replace(found, values=values)


def sessions() -> QuerySet[Session]:
    """Sessions with all that H needs, in a fixed number of queries."""
    return Session.objects.select_related(
        "channel", "conversation", "agent", "target"
    ).prefetch_related("attempts", "links")


def return_until(session: Session) -> dt.datetime | None:
    """When the last live return link closes; None when every link is revoked."""
    return max(
        (link.expires_at for link in session.links.all() if link.revoked_at is None), default=None
    )


def idle_at(session: Session) -> dt.datetime | None:
    """When the bypass ends if the recipient does nothing."""
    if session.status != SessionStatus.ACTIVE or session.conversation_id is None:
        return None
    return session.recipient_active_at + dt.timedelta(minutes=session.channel.idle_minutes)


def handoff(session: Session) -> shapes.HandoffView:
    """H. `session` should come from `sessions()`; otherwise each part costs a query."""
    returned = returned_of(session).as_json()
    undelivered = (
        session.messages.filter(undelivered=True).values_list("public_id", flat=True)
        if session.status == SessionStatus.RELEASED and session.conversation_id
        else ()
    )
    return shapes.HandoffView(
        id=session.public_id,
        status=SessionStatus(session.status),
        release=ReleaseKind(session.release) if session.release else None,
        outcome=Outcome(session.outcome) if session.outcome else None,
        message=session.message,
        answered_by=session.answered_by,
        note=session.note,
        values=returned["values"],
        missing=returned["missing"],
        invalid=returned["invalid"],
        unknown=returned["unknown"],
        late=session.late,
        undelivered=list(undelivered),
        channel_id=session.channel_id,
        channel_kind=session.channel.kind,
        channel_label=session.channel.label,
        conversation=session.conversation.public_id if session.conversation else None,
        attempts=[
            shapes.AttemptView.model_validate(
                {
                    "id": attempt.public_id,
                    "status": AttemptStatus(attempt.status),
                    "delivery": attempt.delivery,
                    "at": attempt.at,
                }
            )
            for attempt in session.attempts.all()
        ],
        return_schema=return_schema(fields_of(session)),
        idle_at=idle_at(session),
        return_until=return_until(session),
        created_at=session.created_at,
        released_at=session.released_at,
    )


def with_files(rows: Iterable[Message | None]) -> None:
    """Fetch the files of all these lines at once; no query when none came with any."""
    prefetch_related_objects([row for row in rows if row is not None and row.has_files], "files")


def message(row: Message, *, session: str | None) -> shapes.MessageView:
    """M. `session` is the public id of the handoff that the line belongs to.

    Of many lines, `with_files()` fetches the files first; otherwise each costs a query.
    """
    return shapes.MessageView(
        id=row.public_id,
        event_id=row.event_id,
        client_id=row.client_id,
        author=Author(row.author),
        name=row.name,
        text=row.text,
        routed_to=RoutedTo(row.routed_to) if row.routed_to else None,
        handoff=session,
        at=row.at,
        files=[file(found) for found in row.files.all()] if row.has_files else [],
    )


def file(row: File) -> shapes.FileView:
    return shapes.FileView(
        id=row.public_id, name=row.name, type=row.type, size=row.size, kept=row.deleted_at is None
    )


def conversation(row: Conversation, *, open_session: Session | None) -> shapes.ConversationView:
    return shapes.ConversationView(
        id=row.public_id,
        external_id=row.external_id,
        subscriber=shapes.SubscriberView(
            name=row.subscriber_name, email=row.subscriber_email, locale=row.subscriber_locale
        ),
        handoff=handoff(open_session) if open_session else None,
    )


def note(row: Message) -> shapes.NoteView:
    """C. `row` is a resume note or a late-return note with its session."""
    if row.session is None:
        raise ValueError("a note belongs to a session")
    returned = returned_of(row.session).as_json()
    return shapes.NoteView(
        event_id=row.event_id,
        type=EventType(row.note_type),
        handoff=row.session.public_id,
        text=row.text,
        values=returned["values"],
        missing=returned["missing"],
        invalid=returned["invalid"],
        unknown=returned["unknown"],
    )


def events(rows: Sequence[Event]) -> Sequence[shapes.EventView]:
    """E for each row; the rows come with message, session, its channel, attempts and links."""
    with_files(row.message for row in rows)
    return [_event(row) for row in rows]


def _event(row: Event) -> shapes.EventView:
    return shapes.EventView(
        id=row.number,
        conversation_event_id=row.conversation_number,
        type=EventType(row.type),
        at=row.at,
        conversation=row.conversation.public_id if row.conversation else None,
        handoff=row.session.public_id if row.session else None,
        data=event_data(row),
    )


def event_data(row: Event) -> dict[str, Any]:
    """The body of an event: `{message: M}`, or `{handoff: H}` as the session is now."""
    if row.message is not None:
        session = row.session.public_id if row.session else None
        return {"message": message(row.message, session=session).body()}
    if row.session is not None:
        return {"handoff": handoff(row.session).body()}
    return {}


def note_text(session: Session) -> str:
    """The resume note, or the late-return note once there is one, as it is said."""
    if session.late:
        first = late_first_line(
            label=session.channel.label,
            outcome=Outcome(session.outcome) if session.outcome else None,
            message=session.message,
            was_unknown=session.was_unknown,
        )
    else:
        first = first_line(
            ReleaseKind(session.release),
            label=session.channel.label,
            outcome=Outcome(session.outcome) if session.outcome else None,
            message=session.message,
            idle_minutes=session.channel.idle_minutes,
            open_until=return_until(session),
            unreachable=session.unreachable,
        )
    if session.returned is None:
        return first
    rest = data_lines(fields_of(session), returned_of(session))
    return f"{first}\n{rest}" if rest else first
