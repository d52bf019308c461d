"""The answers of the handoff tools, derived from rows: a repeated call reads the same."""

from typing import Any

from handoff.contract import answers
from handoff.contract.answers import Answer
from handoff.contract.kinds import AttemptStatus, ReleaseKind, SessionStatus
from handoff.contract.note import remarks
from handoff.models import Attempt, Session
from handoff.selectors import channels, payloads


def last_attempt(session: Session) -> Attempt:
    return session.attempts.order_by("-number")[0]


def of_dispatch(session: Session, *, already: bool = False, replayed: bool = False) -> Answer:
    """What `handoff_request` answers for a session whose dispatch has an outcome."""
    attempt = last_attempt(session)
    if session.status == SessionStatus.RELEASED:
        return _released_meanwhile(session, replayed=replayed)
    if attempt.status == AttemptStatus.REFUSED:
        return _failed(session, attempt, replayed=replayed)
    if attempt.status == AttemptStatus.UNKNOWN:
        return _unknown(session, attempt, replayed=replayed)
    return _started(session, attempt, already=already, replayed=replayed)


def _started(session: Session, attempt: Attempt, *, already: bool, replayed: bool) -> Answer:
    name = channels.name_of(session.channel)
    result: dict[str, Any] = {
        "ok": True,
        "action": "handoff_session_started",
        "channel_kind": session.channel.kind,
        "channel_id": session.channel_id,
        "channel_label": session.channel.label,
        "channel_message_id": attempt.provider_message_id or None,
        "estimated_response": session.channel.estimated_response or None,
        "handoff_event_id": attempt.public_id,
        "handoff_session_id": session.public_id,
        "human_notified": attempt.status == AttemptStatus.ACCEPTED,
    }
    if already:
        result["already"] = True
        text = answers.already_open(name)
    else:
        text = answers.handed_over(name, detached=session.conversation_id is None)
    return Answer(text=text, is_error=False, result=result, replayed=replayed)


def _failed(session: Session, attempt: Attempt, *, replayed: bool) -> Answer:
    hint = answers.other_channels(channels.others(session.agent, besides=session.channel_id))
    text = answers.not_reached(session.channel.label, hint)
    return Answer(
        text=text,
        is_error=True,
        result={
            "error": text,
            "code": "dispatch_failed",
            "details": {
                "handoff_event_id": attempt.public_id,
                "handoff_session_id": session.public_id,
                "kind": attempt.failure_kind,
                "hint": hint,
            },
        },
        replayed=replayed,
    )


def _unknown(session: Session, attempt: Attempt, *, replayed: bool) -> Answer:
    hint = answers.other_channels(channels.others(session.agent, besides=session.channel_id))
    text = answers.maybe_reached(session.channel.label)
    return Answer(
        text=text,
        is_error=True,
        result={
            "error": text,
            "code": "dispatch_unknown",
            "details": {
                "handoff_event_id": attempt.public_id,
                "handoff_session_id": session.public_id,
                "hint": hint,
            },
        },
        replayed=replayed,
    )


def _released_meanwhile(session: Session, *, replayed: bool) -> Answer:
    return Answer(
        text=f"This handoff has ended already. {_state(session)}",
        is_error=False,
        result={"ok": True, "handoff": payloads.handoff(session).body()},
        replayed=replayed,
    )


def of_status(session: Session) -> Answer:
    """What `handoff_status` answers."""
    return Answer(
        text=_state(session),
        is_error=False,
        result={"ok": True, "handoff": payloads.handoff(session).body()},
    )


def of_cancel(session: Session, *, already: bool) -> Answer:
    """What `handoff_cancel` answers; an ended session answers `already`."""
    result: dict[str, Any] = {"ok": True, "handoff": payloads.handoff(session).body()}
    if already:
        result["already"] = True
        text = f"Nothing to cancel. {_state(session)}"
    else:
        text = (
            "The handoff is cancelled. The visitor is yours again."
            if session.conversation_id
            else "The handoff is cancelled."
        )
    return Answer(text=text, is_error=False, result=result)


def of_release(session: Session, *, already: bool) -> Answer:
    """What `handoff_release` answers: what was kept, what was missing and what was not usable."""
    result: dict[str, Any] = {"ok": True, "handoff": payloads.handoff(session).body()}
    if already:
        result["already"] = True
    first = (
        f"This handoff was released as {session.outcome} before; nothing changed."
        if already
        else f"The handoff came too late to be handed back, and {session.agent} got your answer."
        if session.late
        else f"The handoff is handed back to {session.agent} as {session.outcome}."
    )
    tail = remarks(payloads.fields_of(session), payloads.returned_of(session))
    return Answer(text=f"{first}\n{tail}".strip(), is_error=False, result=result)


def of_reply(session: Session, *, already: bool) -> Answer:
    """What `handoff_reply` answers."""
    result: dict[str, Any] = {"ok": True, "handoff": payloads.handoff(session).body()}
    if already:
        result["already"] = True
    text = "This was said before; the visitor has it." if already else "The visitor has it."
    return Answer(text=text, is_error=False, result=result)


def _state(session: Session) -> str:
    label = session.channel.label
    if session.status == SessionStatus.DISPATCHING:
        return f"{label} is being notified; it is not known yet whether that works."
    if session.status == SessionStatus.ACTIVE:
        return f"{label} was notified and has not answered yet."
    if session.status == SessionStatus.FAILED:
        return f"{label} could not be reached; nobody was asked."
    if session.status == SessionStatus.UNKNOWN:
        return f"It is not known whether {label} was reached. Do not say that they were."
    if session.returned_at is not None or session.release == ReleaseKind.OWNER:
        return payloads.note_text(session)
    return f"The handoff ended without an answer. {payloads.note_text(session)}"
