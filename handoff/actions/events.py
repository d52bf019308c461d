"""Appends to the event log and to conversations. Called inside `writing()`, after all other locks.

Numbers come from counter rows that stay locked until the commit, so they are in commit order.
"""

from typing import Final

from django.db.models import F

from handoff.actions.writing import nudge_on_commit
from handoff.contract.kinds import Author, EventType, RoutedTo
from handoff.models import Agent, Conversation, Event, Message, Session

_TOLD: Final = {
    EventType.STARTED: EventType.ASSIGNED,
    EventType.REMINDED: EventType.ASSIGNED,
    EventType.MESSAGE_ROUTED: EventType.MESSAGE_ROUTED,
    EventType.RELEASED: EventType.RELEASED,
    EventType.CANCELLED: EventType.CANCELLED,
}
"""What a sibling agent hears, in its own log, of the handoff that it was given."""


def locked(conversation_pk: int) -> Conversation:
    """The conversation, its row locked: the first lock that a transaction takes."""
    return (
        Conversation.objects.select_for_update(no_key=True, of=("self",))
        .select_related("agent")
        .get(pk=conversation_pk)
    )


def emit(
    type_: EventType,
    *,
    agent: Agent,
    conversation: Conversation | None = None,
    session: Session | None = None,
    message: Message | None = None,
) -> Event:
    """Append one event; `conversation`, when given, is locked by this transaction."""
    number = _next_number(conversation) if conversation else None
    event = _append(
        type_,
        agent=agent,
        conversation=conversation,
        number=number,
        session=session,
        message=message,
    )
    if session is not None and session.target is not None and type_ in _TOLD:
        _append(
            _TOLD[type_],
            agent=session.target,
            conversation=None,
            number=None,
            session=session,
            message=message,
        )
    return event


def say(
    conversation: Conversation,
    *,
    author: Author,
    text: str,
    name: str = "",
    client_id: str | None = None,
    routed_to: RoutedTo | None = None,
    session: Session | None = None,
    note_type: str = "",
    superseded: bool = False,
) -> Message:
    """Append one line to a locked conversation, with its `message.created`."""
    number = _next_number(conversation)
    message = Message.objects.create(
        conversation=conversation,
        event_id=number,
        client_id=client_id,
        author=author,
        name=name,
        text=text,
        routed_to=routed_to,
        session=session,
        note_type=note_type,
        superseded=superseded,
    )
    _append(
        EventType.MESSAGE_CREATED,
        agent=conversation.agent,
        conversation=conversation,
        number=number,
        session=session,
        message=message,
    )
    return message


def _next_number(conversation: Conversation) -> int:
    mine = Conversation.objects.filter(pk=conversation.pk)
    mine.update(last_event_id=F("last_event_id") + 1)
    return mine.values_list("last_event_id", flat=True).get()


def _append(
    type_: EventType,
    *,
    agent: Agent,
    conversation: Conversation | None,
    number: int | None,
    session: Session | None,
    message: Message | None,
) -> Event:
    if session is not None and session.target_id is not None:
        _lock_both(session)
    mine = Agent.objects.filter(pk=agent.pk)
    mine.update(last_event_id=F("last_event_id") + 1)
    event = Event.objects.create(
        agent=agent,
        number=mine.values_list("last_event_id", flat=True).get(),
        conversation=conversation,
        conversation_number=number,
        type=type_,
        session=session,
        message=message,
    )
    topics = [f"agent:{agent.pk}"]
    if conversation is not None:
        topics.append(f"conversation:{conversation.pk}")
    if session is not None:
        topics.append(f"handoff:{session.pk}")
    nudge_on_commit(*topics)
    return event


def _lock_both(session: Session) -> None:
    """Both agents' counters in one order, or two that hand over to each other would deadlock."""
    both = Agent.objects.filter(pk__in=[session.agent_id, session.target_id])
    list(both.select_for_update(no_key=True).order_by("pk").values_list("pk"))
