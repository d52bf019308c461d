"""Conversations and what was said in them."""

from collections.abc import Callable

from handoff.contract import ids, limits
from handoff.contract import payloads as shapes
from handoff.contract.kinds import Author
from handoff.errors import NotFound, NotYours
from handoff.models import Agent, Conversation, Message, Session
from handoff.selectors import payloads
from handoff.transports.base import TranscriptLine


def find(agent: Agent, public_id: str) -> Conversation:
    """The agent's own conversation; NotYours for another agent's, NotFound for none."""
    row = (
        Conversation.objects.select_related("agent").filter(public_id=public_id).first()
        if ids.is_public(public_id)
        else None
    )
    if row is None:
        raise NotFound("There is no such conversation.")
    if row.agent_id != agent.pk:
        raise NotYours
    return row


def messages(conversation: Conversation, *, after: int, limit: int) -> shapes.MessagePage:
    """The lines after an event number, oldest first."""
    rows = list(
        conversation.messages.select_related("session")
        .filter(event_id__gt=after)
        .order_by("event_id")[: limit + 1]
    )
    shown = rows[:limit]
    payloads.with_files(shown)
    return shapes.MessagePage(
        data=[
            payloads.message(row, session=row.session.public_id if row.session else None)
            for row in shown
        ],
        next_after=shown[-1].event_id if shown else after,
        has_more=len(rows) > limit,
    )


def unacknowledged(conversation: Conversation) -> list[shapes.NoteView]:
    """The resume notes that the agent has not acknowledged, oldest first."""
    rows = (
        conversation.messages.select_related("session")
        .exclude(note_type="")
        .filter(event_id__gt=conversation.acknowledged_event_id, session__isnull=False)
        .order_by("event_id")[: limits.PAGE_DEFAULT]
    )
    return [payloads.note(row) for row in rows]


def transcript(
    session: Session, *, said: Callable[[Message], TranscriptLine] | None = None
) -> tuple[TranscriptLine, ...]:
    """What had been said when the handoff was asked for, cut to the limits from its old end.

    `said` makes a line of a row, whose files are fetched; without it, `line` does.
    """
    if session.conversation is None or not session.include_transcript:
        return ()
    rows = session.conversation.messages.filter(
        superseded=False, event_id__lte=session.transcript_until
    ).order_by("-event_id")[: limits.TRANSCRIPT_MESSAGES]
    kept: list[Message] = []
    size = 0
    for row in rows:
        size += len(row.text.encode())
        if size > limits.TRANSCRIPT_BYTES:
            break
        kept.append(row)
    if said is not None:
        payloads.with_files(kept)
    return tuple((said or line)(row) for row in reversed(kept))


def line(row: Message) -> TranscriptLine:
    return TranscriptLine(author=Author(row.author), name=row.name, text=row.text, at=row.at)
