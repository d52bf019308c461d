"""What a recipient is sent, built from rows into the plain values that transports take."""

import dataclasses
import datetime as dt
from collections.abc import Sequence
from typing import TypedDict

from django.db.models import QuerySet

from handoff import links
from handoff.contract.kinds import ReleaseKind, Urgency
from handoff.models import Delivery, Message, Session
from handoff.selectors import conversations, files, payloads
from handoff.transports.base import Closed, Line, Request, TranscriptLine

REASONS = {
    ReleaseKind.CANCELLED: "The request was withdrawn; nothing more is needed from you.",
    ReleaseKind.SUBSCRIBER: "The visitor went back to the assistant.",
    ReleaseKind.OWNER: "A colleague gave the conversation back to the assistant.",
}


def sessions() -> QuerySet[Session]:
    return payloads.sessions()


class _Envelope(TypedDict):
    session: str
    number: int
    agent_name: str
    channel_label: str
    return_url: str
    release_token: str
    earlier_ids: tuple[str, ...]
    thread_key: str
    heard_at: dt.datetime | None
    contact_back_email: str
    language: str
    timezone: str


def _envelope(session: Session, *, number: int, earlier_ids: tuple[str, ...]) -> _Envelope:
    return {
        "session": session.public_id,
        "number": number,
        "agent_name": str(session.agent),
        "channel_label": session.channel.label,
        "return_url": return_url(session),
        "release_token": session.release_token,
        "earlier_ids": earlier_ids,
        "thread_key": thread_key(session),
        "heard_at": session.channel.last_inbound_at,
        "contact_back_email": session.contact_back_email,
        "language": session.channel.language,
        "timezone": session.channel.timezone,
    }


def return_url(session: Session) -> str:
    """The address that the channel's recipient got."""
    link = session.links.filter(minted_for="recipient").order_by("-pk").first()
    return links.return_url(link.link_id) if link else ""


def sent_ids(session: Session) -> tuple[str, ...]:
    """Provider ids of all that was sent about a session, oldest first."""
    attempts = session.attempts.exclude(provider_message_id="").order_by("number")
    lines = session.deliveries.exclude(provider_message_id="").order_by("pk")
    return (
        *attempts.values_list("provider_message_id", flat=True),
        # lines that went as one message share its id
        *dict.fromkeys(lines.values_list("provider_message_id", flat=True)),
    )


def thread_key(session: Session) -> str:
    """The thread that the newest dispatch opened; "" when none did."""
    opened = session.attempts.exclude(thread_key="").order_by("-number")
    return opened.values_list("thread_key", flat=True).first() or ""


def request(session: Session, *, number: int) -> Request:
    """The dispatch itself. `number` is the attempt's."""
    until = payloads.return_until(session)
    if until is None:
        raise ValueError("a session that is dispatched has a live return link")
    subscriber = session.conversation.subscriber_name if session.conversation else ""
    return Request(
        **_envelope(session, number=number, earlier_ids=sent_ids(session)),
        summary=session.summary,
        expected_action=session.expected_action,
        urgency=Urgency(session.urgency),
        subscriber_name=subscriber,
        fields=payloads.fields_of(session),
        extra_context=tuple((key, value) for key, value in session.extra_context),
        transcript=conversations.transcript(session, said=lambda row: _line(row, session)),
        return_until=until,
        idle_minutes=session.channel.idle_minutes if session.conversation_id else None,
    )


def delivery(session: Session, rows: Sequence[Delivery]) -> Line | Closed:
    """Outbox rows of a session as one message to its recipient: lines in order, or the end."""
    envelope = _envelope(session, number=1000 + rows[0].pk, earlier_ids=sent_ids(session))
    lines = [row.message for row in rows if row.message is not None]
    if not lines:
        return Closed(**envelope, reason=REASONS[ReleaseKind(session.release)])
    payloads.with_files(lines)
    return Line(
        **envelope,
        subscriber_name=lines[-1].name,
        lines=tuple(_line(message, session) for message in lines),
        files=tuple(file for message in lines for file in files.attachments(message)),
    )


def _line(message: Message, session: Session) -> TranscriptLine:
    """A line with the addresses of the files that came with it: every kind carries those."""
    line = conversations.line(message)
    return dataclasses.replace(line, text=line.text + files.said_with(message, session))
