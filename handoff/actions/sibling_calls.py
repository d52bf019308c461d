"""What the sibling agent does with a hop that it holds: reply into the chat, and hand back."""

from collections.abc import Sequence
from typing import Final

from django.db.models.functions import Now

from handoff.actions.events import emit, say
from handoff.actions.files import attach
from handoff.actions.hops import claimed_now
from handoff.actions.release import Ending, end, end_late, lock
from handoff.actions.release_by_token import takes_answers
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import Author, EventType, Outcome, ReleaseKind, RoutedTo, SessionStatus
from handoff.contract.sibling_calls import ReleaseArguments
from handoff.contract.text import one_line
from handoff.contract.values import clean_values
from handoff.errors import NotFound, Refused
from handoff.models import Agent, Conversation, Session
from handoff.selectors import hops, payloads

_REUSED: Final = (
    "This idempotency key was used for another reply, and nothing was said now. Use a new key for "
    "each reply."
)
_ENDED: Final = "This handoff has ended; the conversation is with the agent that asked again."


def reply_as_sibling(
    agent: Agent,
    session_pk: int,
    *,
    text: str,
    client_id: str | None,
    files: Sequence[str] = (),
) -> bool:
    """Say something to the subscriber as the sibling; the first word claims the hop.

    False when the same `client_id` said it before. Raises NotFound for another agent's hop and for
    `files` that do not wait in it, Refused `not_found` for one without a conversation,
    `already_released`, and `idempotency_reused` for a `client_id` that said something else.
    """
    with writing():
        session, conversation = _held(agent, session_pk)
        if conversation is None:
            raise Refused(
                "not_found",
                "This handoff has no conversation to reply into. Hand back with handoff_release.",
            )
        mine = conversation.messages.filter(author=Author.SIBLING, client_id=client_id)
        if client_id is not None and (known := mine.first()) is not None:
            if known.text != text:
                raise Refused("idempotency_reused", _REUSED)
            return False
        active = Session.objects.filter(pk=session_pk, status=SessionStatus.ACTIVE)
        if not active.update(recipient_active_at=Now()):
            raise Refused("already_released", _ENDED)
        _take_on(session, conversation)
        message = say(
            conversation,
            author=Author.SIBLING,
            name=str(agent),
            text=text,
            client_id=client_id,
            routed_to=RoutedTo.SUBSCRIBER,
            session=session,
        )
        attach(message, files, by={Author.SIBLING})
        note(
            "message.relayed",
            session,
            actor=f"agent:{agent.name}",
            tool="handoff_reply",
            details={"message": message.public_id, "characters": len(text), "to": "subscriber"},
        )
        return True


def release_as_sibling(agent: Agent, session_pk: int, args: ReleaseArguments) -> bool:
    """Hand back with values; False when the hop was released with the same outcome before.

    After a release without a return it is a late return. Raises NotFound for another agent's hop,
    and Refused `already_released` for another outcome or once nothing is taken any more.
    """
    with writing():
        session, conversation = _held(agent, session_pk)
        ending = Ending(
            kind=ReleaseKind.AGENT,
            actor=f"agent:{agent.name}",
            outcome=args.outcome,
            message=one_line(args.message or ""),
            note=args.message or "",
            answered_by=str(agent),
            returned=clean_values(payloads.fields_of(session), args.return_values or {}),
        )
        if session.status != SessionStatus.RELEASED and end(session, conversation, ending):
            return True
        if session.returned_at is None and takes_answers(session):
            return end_late(session, conversation, ending)
        if session.returned_at is not None and session.outcome == args.outcome:
            note("handoff.release_ignored", session, actor=ending.actor, reason=ending.kind)
            return False
        note("handoff.release_ignored", session, actor=ending.actor, reason="already_released")
        outcome = Outcome(session.outcome) if session.outcome else None
    raise Refused(
        "already_released",
        f"This handoff was released as {outcome} before; that stands."
        if outcome
        else "This handoff has ended and takes no answer any more.",
        details={"handoff_session_id": session.public_id, "outcome": outcome},
    )


def _held(agent: Agent, session_pk: int) -> tuple[Session, Conversation | None]:
    session, conversation = lock(session_pk)
    if session.target_id != agent.pk:
        raise NotFound(hops.NOT_HOLDER)
    return session, conversation


def _take_on(session: Session, conversation: Conversation) -> None:
    """The first sign of the sibling: it holds the hop, and the chat hears who joined."""
    if claimed_now(session):
        emit(EventType.CLAIMED, agent=session.agent, conversation=conversation, session=session)
    if not session.joined_name:
        Session.objects.filter(pk=session.pk).update(joined_name=str(session.target))
        emit(
            EventType.PARTICIPANT_JOINED,
            agent=session.agent,
            conversation=conversation,
            session=session,
        )
