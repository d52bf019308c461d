"""The end of a session: one function, one conditional UPDATE, for every kind of release."""

import dataclasses
from typing import Final

from django.db.models import Q
from django.db.models.functions import Now

from handoff.actions.events import emit, locked, say
from handoff.actions.trail import note
from handoff.actions.writing import nudge_on_commit, writing
from handoff.contract.kinds import (
    RELEASE_EDGES,
    Author,
    EventType,
    Outcome,
    ReleaseKind,
    SessionStatus,
)
from handoff.contract.values import Returned
from handoff.models import Conversation, Delivery, DeliveryKind, DeliveryStatus, Session
from handoff.selectors import payloads
from handoff.transports import is_in_database

_TELLS_THE_RECIPIENT: Final = frozenset(
    {ReleaseKind.CANCELLED, ReleaseKind.SUBSCRIBER, ReleaseKind.OWNER}
)
_ALWAYS: Final = Q()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ending:
    """Why and with what a session ends."""

    kind: ReleaseKind
    actor: str
    """Who did it, for the trail: `recipient`, `owner:3`, `agent:demo`, `subscriber`, `desk`."""
    outcome: Outcome | None = None
    message: str = ""
    note: str = ""
    answered_by: str = ""
    returned: Returned | None = None
    """What came back; None for the kinds of release that bring nothing back."""
    is_return: bool = True
    """False when `returned` only says what is missing: a form may still bring a late return."""
    unreachable: bool = False


def release(session_pk: int, ending: Ending) -> bool:
    """End a session in its own transaction; False when it had ended already."""
    with writing():
        session, conversation = lock(session_pk)
        return end(session, conversation, ending)


def lock(session_pk: int) -> tuple[Session, Conversation | None]:
    """The session, locked after its conversation. Inside `writing()`."""
    conversation_pk = Session.objects.values_list("conversation_id", flat=True).get(pk=session_pk)
    conversation = locked(conversation_pk) if conversation_pk else None
    rows = payloads.sessions().select_for_update(no_key=True, of=("self",))
    return rows.get(pk=session_pk), conversation


def end(
    session: Session,
    conversation: Conversation | None,
    ending: Ending,
    *,
    where: Q = _ALWAYS,
) -> bool:
    """End a session whose conversation is locked; the row count of one UPDATE says who won.

    With it, in the same transaction: the undelivered lines, the resume note, the notice to the
    recipient, the audit row and the events. `where` is a further condition, decided by the
    database inside the UPDATE. Inside `writing()`.
    """
    was_unknown = session.status == SessionStatus.UNKNOWN
    answered = ending.returned is not None and ending.is_return
    won = Session.objects.advance(
        session.pk,
        old=RELEASE_EDGES[ending.kind],
        where=where,
        status=SessionStatus.RELEASED,
        release=ending.kind,
        released_at=Now(),
        outcome=ending.outcome or "",
        message=ending.message,
        note=ending.note,
        answered_by=ending.answered_by,
        returned=ending.returned.as_json() if ending.returned else None,
        returned_at=Now() if answered else None,
        late=answered and was_unknown,
        was_unknown=was_unknown,
        unreachable=ending.unreachable,
    )
    if not won:
        note("handoff.release_ignored", session, actor=ending.actor, reason=ending.kind)
        return False
    session = payloads.sessions().get(pk=session.pk)
    _drop_waiting_lines(session)
    if ending.kind in _TELLS_THE_RECIPIENT and not _reads_our_rows(session):
        Delivery.objects.create(session=session, kind=DeliveryKind.CLOSED)
        nudge_on_commit("work")
    _record(session, ending, action=_action(session, ending))
    _tell(session, conversation, _event_type(session, ending))
    return True


def end_late(session: Session, conversation: Conversation | None, ending: Ending) -> bool:
    """Keep a return that came after a release without one; False when a return is there already.

    It never reopens the bypass. Inside `writing()`, conversation locked.
    """
    if ending.returned is None:
        raise ValueError("a late return brings values")
    first = Session.objects.filter(
        pk=session.pk, status=SessionStatus.RELEASED, returned_at=None
    ).update(
        outcome=ending.outcome or "",
        message=ending.message,
        note=ending.note,
        answered_by=ending.answered_by,
        returned=ending.returned.as_json(),
        returned_at=Now(),
        late=True,
    )
    if not first:
        return False
    session = payloads.sessions().get(pk=session.pk)
    _record(session, ending, action="handoff.late_return")
    _tell(session, conversation, EventType.LATE_RETURN)
    return True


def _reads_our_rows(session: Session) -> bool:
    return is_in_database(session.channel.kind)


def _drop_waiting_lines(session: Session) -> None:
    waiting = Delivery.objects.filter(
        Q(lease_until=None) | Q(lease_until__lt=Now()),
        session=session,
        kind=DeliveryKind.LINE,
        status=DeliveryStatus.DUE,
    )
    # locked, or somebody may lease a row between our look and our UPDATE, and send it
    rows = dict(waiting.select_for_update(no_key=True).values_list("pk", "message_id"))
    if rows:
        Delivery.objects.filter(pk__in=rows).update(
            status=DeliveryStatus.DROPPED, finished_at=Now()
        )
        session.messages.filter(pk__in=rows.values()).update(undelivered=True)


def _action(session: Session, ending: Ending) -> str:
    if session.late:
        return "handoff.late_return"
    if ending.kind == ReleaseKind.CANCELLED:
        return "handoff.cancelled"
    if ending.kind == ReleaseKind.LOST:
        return "handoff.lost"
    return "handoff.released"


def _event_type(session: Session, ending: Ending) -> EventType:
    if session.late:
        return EventType.LATE_RETURN
    if ending.kind == ReleaseKind.CANCELLED:
        return EventType.CANCELLED
    return EventType.RELEASED


def _record(session: Session, ending: Ending, *, action: str) -> None:
    returned, actor = ending.returned, ending.actor
    note(
        action,
        session,
        actor=actor,
        reason=ending.kind,
        details={
            "outcome": ending.outcome,
            "message_characters": len(ending.message),
            "values": len(returned.values) if returned else 0,
        },
    )
    if returned is None:
        return
    required = [item.name for item in returned.missing if item.required]
    if required:
        note("return.missing", session, actor=actor, details={"fields": required})
    if returned.invalid:
        note(
            "return.invalid",
            session,
            actor=actor,
            details={
                "fields": [item.name for item in returned.invalid],
                "reasons": [item.reason for item in returned.invalid],
            },
        )


def _tell(session: Session, conversation: Conversation | None, type_: EventType) -> None:
    if conversation is not None and session.joined_name and type_ != EventType.LATE_RETURN:
        emit(
            EventType.PARTICIPANT_LEFT,
            agent=session.agent,
            conversation=conversation,
            session=session,
        )
    emit(type_, agent=session.agent, conversation=conversation, session=session)
    if conversation is not None:
        say(
            conversation,
            author=Author.SYSTEM,
            text=payloads.note_text(session),
            session=session,
            note_type=type_,
        )
