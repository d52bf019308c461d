"""A turn of the conversation: who it belongs to is decided once, under the row lock."""

import dataclasses

from handoff.actions import throttle
from handoff.actions.events import emit, locked, say
from handoff.actions.files import attach
from handoff.actions.trail import note
from handoff.actions.writing import nudge_on_commit, writing
from handoff.contract.kinds import Author, EventType, RoutedTo, SessionStatus
from handoff.contract.turns import TurnBody
from handoff.errors import Reused
from handoff.models import Conversation, Delivery, DeliveryKind, Message, Session
from handoff.transports import is_in_database


@dataclasses.dataclass(frozen=True)
class Turn:
    """The stored line and the decision that was made about it."""

    message: Message
    bypass: bool
    superseded: bool
    repeated: bool


def post_turn(conversation: Conversation, body: TurnBody) -> Turn:
    """Store one turn of the subscriber or the agent, and route it.

    While a bypass is active a subscriber's line goes to the recipient, and an agent's line (its
    run began before) is stored as superseded and shown to nobody. The same `client_id` gets the
    stored decision; raises Invalid when it comes again with other words, and TooFast for a new
    turn past the conversation's limit.
    """
    with writing():
        row = locked(conversation.pk)
        _acknowledge(row, body.ack_event_id)
        known = row.messages.filter(author=body.author, client_id=body.client_id).first()
        if known is not None:
            return _repeated(known, body)
        throttle.take_turn(row)
        active = (
            Session.objects.filter(conversation=row, status=SessionStatus.ACTIVE)
            .select_related("channel")
            .first()
        )
        if Author(body.author) is Author.AGENT:
            return _agent_turn(row, body, active)
        return _subscriber_turn(row, body, active)


def _acknowledge(row: Conversation, event_id: int | None) -> None:
    if event_id is not None and event_id > row.acknowledged_event_id:
        Conversation.objects.filter(pk=row.pk).update(
            acknowledged_event_id=min(event_id, row.last_event_id)
        )


def _repeated(known: Message, body: TurnBody) -> Turn:
    if known.text != body.text:
        raise Reused(
            "This client_id was used for another text. Use a new one for each turn.",
            details={"problems": [{"field": "client_id", "problem": "was used before"}]},
        )
    bypass = known.superseded or known.routed_to == RoutedTo.RECIPIENT
    return Turn(known, bypass=bypass, superseded=known.superseded, repeated=True)


def _agent_turn(row: Conversation, body: TurnBody, active: Session | None) -> Turn:
    message = say(
        row,
        author=Author.AGENT,
        name=str(row.agent),
        text=body.text,
        client_id=body.client_id,
        routed_to=None if active else RoutedTo.SUBSCRIBER,
        session=active,
        superseded=active is not None,
    )
    attach(message, body.files, by={Author.AGENT})
    if active is not None:
        note(
            "message.superseded",
            active,
            actor=f"agent:{row.agent.name}",
            details={"message": message.public_id, "characters": len(body.text)},
        )
    return Turn(message, bypass=active is not None, superseded=active is not None, repeated=False)


def _subscriber_turn(row: Conversation, body: TurnBody, active: Session | None) -> Turn:
    message = say(
        row,
        author=Author.SUBSCRIBER,
        name=row.subscriber_name,
        text=body.text,
        client_id=body.client_id,
        routed_to=RoutedTo.RECIPIENT if active else RoutedTo.AGENT,
        session=active,
    )
    attach(message, body.files, by={Author.SUBSCRIBER, Author.AGENT})
    if active is not None:
        if is_in_database(active.channel.kind):
            emit(
                EventType.MESSAGE_ROUTED,
                agent=row.agent,
                conversation=row,
                session=active,
                message=message,
            )
        else:
            Delivery.objects.create(session=active, kind=DeliveryKind.LINE, message=message)
            nudge_on_commit("work")
    return Turn(message, bypass=active is not None, superseded=False, repeated=False)
