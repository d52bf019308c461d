"""Dispatch: send with a deadline outside any transaction, then write down what became of it.

The intent is committed before (`actions.request`); whatever happens here, the attempt ends as
accepted, refused or unknown, and the session follows it along one edge.
"""

import contextlib
import dataclasses
import logging
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from django.conf import settings
from django.db.models.functions import Now

import audit.trail
from handoff.actions.channels import keep_changed, note_failure, note_success, sending_transport
from handoff.actions.events import emit
from handoff.actions.places import Places
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import (
    DISPATCH_EDGES,
    AttemptStatus,
    EventType,
    SessionStatus,
    TransportErrorKind,
)
from handoff.errors import DeskUnavailable, TransportError
from handoff.models import Attempt, Session
from handoff.selectors import letters
from handoff.transports.base import Outgoing, Receipt, Transport

log = logging.getLogger(__name__)
GRACE_SECONDS = 0.5
"""How much longer than its deadline a transport may take before we go on without it."""
RETRY_SECONDS = 1.0
"""The least time that a second try is worth starting with."""


@dataclasses.dataclass(frozen=True)
class Sent:
    """What came of a send: a receipt, or the error that stood in its place."""

    receipt: Receipt | None
    error: TransportError | None = None
    heard: bool = True
    """False when nobody waited for the provider's word any more."""

    @property
    def status(self) -> AttemptStatus:
        if self.error is None:
            return AttemptStatus.ACCEPTED
        if self.error.kind == TransportErrorKind.UNKNOWN_OUTCOME:
            return AttemptStatus.UNKNOWN
        return AttemptStatus.REFUSED


_places: Final = Places()
"""By channel: who has a provider call under way."""


class NoPlace(DeskUnavailable):
    """No place among the provider calls is free: nothing was written, nobody contacted."""


class Slot:
    """The right to have one provider call under way; a call that hangs keeps its place."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back = give_back
        self._handed_on = False

    def send(self, transport: Transport[Any], message: Outgoing, *, deadline: float) -> Sent:
        """Send on a thread of its own and wait until just after the deadline, not longer."""
        answer: queue.SimpleQueue[Sent] = queue.SimpleQueue()

        def run() -> None:
            try:
                answer.put(_send(transport, message, deadline=deadline))
            finally:
                self._give_back()

        self._handed_on = True
        threading.Thread(target=run, name="dispatch", daemon=True).start()
        patience = max(0.0, deadline - time.monotonic()) + GRACE_SECONDS
        try:
            return answer.get(timeout=patience)
        except queue.Empty:
            return Sent(
                None,
                TransportError(TransportErrorKind.UNKNOWN_OUTCOME, "timed out: the call hung"),
            )

    def give_back(self) -> None:
        if not self._handed_on:
            self._give_back()


@contextlib.contextmanager
def slot(channel: int) -> Iterator[Slot]:
    """Take a place among the provider calls for a channel; raises NoPlace at once without one."""
    give_back = _places.take(
        channel,
        total=settings.DISPATCH_SLOTS,
        of_one=settings.DISPATCH_SLOTS_PER_CHANNEL,  # its server may be hanging
    )
    if give_back is None:
        raise NoPlace
    taken = Slot(give_back)
    try:
        yield taken
    finally:
        taken.give_back()


def _send(transport: Transport[Any], message: Outgoing, *, deadline: float) -> Sent:
    """One try, and a second where nothing can have been sent twice and there is time for it."""
    sent = send_once(transport, message, deadline=deadline)
    if sent.error is None or not sent.error.worth_a_retry:
        return sent
    pause = random.uniform(0.2, 0.5) + (sent.error.retry_after or 0.0)  # noqa: S311  (jitter)
    if time.monotonic() + pause + RETRY_SECONDS > deadline:
        return sent
    time.sleep(pause)
    return send_once(transport, message, deadline=deadline)


def send_once(transport: Transport[Any], message: Outgoing, *, deadline: float) -> Sent:
    """One try on this thread; never raises what a transport throws."""
    try:
        return Sent(transport.send(message, deadline=deadline))
    except TransportError as error:
        return Sent(None, error)
    except Exception as error:
        log.exception("a transport failed in a way it does not declare")
        return Sent(
            None,
            TransportError(TransportErrorKind.UNKNOWN_OUTCOME, f"{type(error).__name__}: {error}"),
        )


def dispatch(attempt_pk: int, taken: Slot, *, deadline: float) -> Sent:
    """Send one committed attempt to the recipient; writes nothing."""
    attempt = Attempt.objects.get(pk=attempt_pk)
    session = letters.sessions().get(pk=attempt.session_id)
    try:
        transport = sending_transport(session.channel)
    except TransportError as error:
        return Sent(None, error)
    message = letters.request(session, number=attempt.number)
    return taken.send(transport, message, deadline=deadline)


def record_outcome(attempt_pk: int, sent: Sent) -> bool:
    """Write the outcome of an attempt, and move its session unless an answer overtook it.

    False when the attempt was resolved meanwhile: it keeps its status, and what its provider said
    late goes to the trail.
    """
    session_pk = Attempt.objects.values_list("session_id", flat=True).get(pk=attempt_pk)
    with writing():
        session, conversation = lock(session_pk)
        attempt = Attempt.objects.get(pk=attempt_pk)
        receipt, error = sent.receipt, sent.error
        resolved = Attempt.objects.filter(pk=attempt_pk, status=AttemptStatus.SENDING).update(
            status=sent.status,
            finished_at=Now(),
            provider_message_id=receipt.provider_message_id if receipt else "",
            thread_key=receipt.thread_key if receipt else "",
            failure_kind=error.kind if error else "",
            failure=audit.trail.redact(error.operator_detail) if error else "",
        )
        if error is None:
            note_success(session.channel)
            keep_changed(session.channel, receipt.settings if receipt else None)
        else:
            note_failure(session.channel, error)
        if not resolved:
            if sent.heard and attempt.status != sent.status:  # else our own first try was written
                _trail(session, attempt, "handoff.delivery_changed", sent)
            return False
        moved = _advance(session, sent.status)
        _trail(session, attempt, _ACTIONS[sent.status], sent)
        if moved:
            emit(
                _EVENTS[sent.status],
                agent=session.agent,
                conversation=conversation,
                session=session,
            )
    return True


_ACTIONS = {
    AttemptStatus.ACCEPTED: "handoff.dispatched",
    AttemptStatus.REFUSED: "handoff.dispatch_failed",
    AttemptStatus.UNKNOWN: "handoff.dispatch_unknown",
}
_EVENTS = {
    AttemptStatus.ACCEPTED: EventType.STARTED,
    AttemptStatus.REFUSED: EventType.FAILED,
    AttemptStatus.UNKNOWN: EventType.UNKNOWN,
}
_STATUS = {
    AttemptStatus.ACCEPTED: SessionStatus.ACTIVE,
    AttemptStatus.REFUSED: SessionStatus.FAILED,
    AttemptStatus.UNKNOWN: SessionStatus.UNKNOWN,
}


def _advance(session: Session, outcome: AttemptStatus) -> bool:
    status = _STATUS[outcome]
    moved = Session.objects.advance(
        session.pk, old=DISPATCH_EDGES[status], status=status, recipient_active_at=Now()
    )
    if moved and status == SessionStatus.FAILED:
        revoked = session.links.filter(revoked_at=None).update(revoked_at=Now())
        note("link.revoked", session, actor="desk", details={"links": revoked})
    return moved


def _trail(session: Session, attempt: Attempt, action: str, sent: Sent) -> None:
    error = sent.error
    note(
        action,
        session,
        actor="desk",
        attempt=attempt.public_id,
        reason=error.kind if error else sent.status,
        failure=error.operator_detail if error else "",
        details={"provider_code": error.provider_code if error else None},
    )
