"""What the recipient says while a handoff is active."""

from collections.abc import Sequence

from django.db.models.functions import Now

from handoff.actions.events import emit, say
from handoff.actions.files import attach
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import Author, EventType, RoutedTo, SessionStatus
from handoff.errors import Refused
from handoff.models import Message, Session


def reply(
    session_pk: int,
    *,
    text: str,
    name: str,
    actor: str,
    client_id: str | None = None,
    files: Sequence[str] = (),
) -> Message:
    """Say something to the subscriber as the recipient; renews the idle clock.

    `files` are ids of a person's uploads. The same `client_id` gives the stored line. Raises
    Refused `already_released` when the handoff is not active any more.
    """
    with writing():
        session, conversation = lock(session_pk)
        if conversation is None:
            raise Refused("not_found", "This handoff has no conversation to reply into.")
        if client_id is not None:
            known = conversation.messages.filter(author=Author.PERSON, client_id=client_id).first()
            if known is not None:
                return known
        active = Session.objects.filter(pk=session_pk, status=SessionStatus.ACTIVE)
        if not active.update(recipient_active_at=Now()):
            raise Refused(
                "already_released",
                "This handoff has ended; the conversation is with the assistant again.",
            )
        if not session.joined_name:
            Session.objects.filter(pk=session_pk).update(joined_name=name)
            emit(
                EventType.PARTICIPANT_JOINED,
                agent=session.agent,
                conversation=conversation,
                session=session,
            )
        message = say(
            conversation,
            author=Author.PERSON,
            name=name,
            text=text,
            client_id=client_id,
            routed_to=RoutedTo.SUBSCRIBER,
            session=session,
        )
        attach(message, files, by={Author.PERSON})
        note(
            "message.relayed",
            session,
            actor=actor,
            details={"message": message.public_id, "characters": len(text), "to": "subscriber"},
        )
        return message
