"""A call that was made before: the earlier one answers for it, and nobody is contacted twice."""

import contextlib
import dataclasses
import threading
import time
from collections.abc import Iterator
from typing import Final

from handoff.contract.kinds import OPEN, SessionStatus
from handoff.contract.request import HandoffRequest
from handoff.errors import Refused
from handoff.models import Agent, Attempt, Conversation, IdempotencyRecord, Session
from handoff.selectors import payloads, toolanswers

STILL_RUNNING_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 1.0
WAITING_TWINS: Final = 4
"""How many calls may wait for a running twin at once: each holds a thread of the pages."""
_twins: Final = threading.BoundedSemaphore(WAITING_TWINS)
_marking: Final = threading.Lock()
_running: Final[set[tuple[str, int, str]]] = set()
"""What identifies the calls of this process that contact somebody."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Key:
    """What makes a repeat of a call a repeat."""

    key: str
    """The caller's own key, or its run with the hash; empty when nothing identifies a repeat."""
    request_hash: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Intent(Key):
    """One checked request with where it belongs."""

    request: HandoffRequest
    conversation: Conversation | None
    run: str
    parent: Session | None = None
    """The hop on whose behalf a sibling asks."""


@dataclasses.dataclass(frozen=True)
class Made:
    """What the first transaction did: a new session, or an earlier one that answers for it."""

    session: Session
    attempt: Attempt | None
    """The attempt that is still to be sent; None when there is nothing to send."""
    already: bool = False
    replayed: bool = False


def earlier(agent: Agent, intent: Intent) -> Made | None:
    """What answers for this call: the same key, or the conversation's open handoff.

    Raises Refused `idempotency_reused` and `handoff_already_open`.
    """
    found = known(agent, intent)
    if found is not None or intent.conversation is None:
        return found
    opened = (
        Session.objects.select_related("channel")
        .filter(conversation=intent.conversation, status__in=OPEN)
        .first()
    )
    return _second(opened, intent) if opened else None


@contextlib.contextmanager
def alone(agent: Agent, intent: Intent) -> Iterator[bool]:
    """Whether no twin of this call runs in this process: a twin takes no place of a provider call.

    Twins in other processes queue on the key in the database.
    """
    marks = {("key", agent.pk, intent.key)} if intent.key else set()
    if intent.conversation is not None:
        marks.add(("conversation", intent.conversation.pk, ""))
    with _marking:
        first = not marks & _running
        if first:
            _running.update(marks)
    try:
        yield first
    finally:
        if first:
            with _marking:
                _running.difference_update(marks)


def wait_for_earlier(agent: Agent, intent: Intent) -> Made | None:
    """What the twin of a call made; it may be committing its intent just now."""
    with waiting() as may_wait:
        until = time.monotonic() + (LOOK_SECONDS if may_wait else 0)
        while (found := earlier(agent, intent)) is None and time.monotonic() < until:
            time.sleep(0.05)
        return found


def known(agent: Agent, intent: Intent) -> Made | None:
    """The handoff that was made for the same key."""
    if not intent.key:
        return None
    record = (
        IdempotencyRecord.objects.select_related("session")
        .filter(agent=agent, tool="handoff_request", key=intent.key)
        .first()
    )
    if record is None or record.session is None:
        return None
    check_same(record, intent)
    return Made(record.session, None, replayed=True)


def claim(agent: Agent, intent: Intent) -> IdempotencyRecord:
    """The key, taken in this transaction; IntegrityError when a twin committed it meanwhile."""
    return IdempotencyRecord.objects.create(
        agent=agent, tool="handoff_request", key=intent.key, request_hash=intent.request_hash
    )


def check_same(record: IdempotencyRecord, repeat: Key) -> None:
    """Raises Refused `idempotency_reused` when the key was used for another request."""
    if record.request_hash != repeat.request_hash:
        raise Refused(
            "idempotency_reused",
            "This idempotency key was used for another request. Use a new key for a new request.",
        )


@contextlib.contextmanager
def waiting() -> Iterator[bool]:
    """Whether this call may wait for a running twin: at most four do, each holds a thread."""
    mine = _twins.acquire(blocking=False)
    try:
        yield mine
    finally:
        if mine:
            _twins.release()


def _second(opened: Session, intent: Intent) -> Made:
    if opened.channel_id == intent.request.channel_id:
        return Made(opened, None, already=True)
    raise Refused(
        "handoff_already_open",
        f"This conversation is already handed to {opened.channel.label}. "
        "Wait until that handoff is released, or cancel it with handoff_cancel.",
        details={
            "handoff_session_id": opened.public_id,
            "channel_id": opened.channel_id,
            "channel_label": opened.channel.label,
        },
    )


def settled(session: Session) -> Session:
    """The session once its dispatch has an outcome; Refused `still_running` after 5 s."""
    if session.status != SessionStatus.DISPATCHING:
        return session
    with waiting() as may_wait:
        until = time.monotonic() + (STILL_RUNNING_SECONDS if may_wait else 0)
        while session.status == SessionStatus.DISPATCHING:
            if time.monotonic() > until:
                raise _still_running(session)
            time.sleep(0.1)
            session = payloads.sessions().get(pk=session.pk)
    return session


def twin_runs() -> Refused:
    """The same call runs and has written nothing yet that could answer this one."""
    return Refused(
        "still_running",
        "The same call is still running. Do not ask another way; repeat it in a moment.",
    )


def _still_running(session: Session) -> Refused:
    return Refused(
        "still_running",
        "The same handoff is still being sent. Do not ask again; ask handoff_status in a moment.",
        details={
            "handoff_session_id": session.public_id,
            "handoff_event_id": toolanswers.last_attempt(session).public_id,
        },
    )
