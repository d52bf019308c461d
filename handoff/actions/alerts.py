"""Mails the owners of an agent about a handoff in their inbox that nobody has opened.

Alerts are rows, written before anything is sent: by the desk once for each handoff and owner, when
the minutes of the channel have passed, or because an owner asked for it.
"""

import datetime as dt
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Now

import audit.trail
from handoff import push
from handoff.actions.events import emit
from handoff.actions.relatives import opened
from handoff.actions.release import lock
from handoff.actions.trail import note
from handoff.actions.writing import nudge_on_commit, writing
from handoff.contract.kinds import ChannelKind, EventType, SessionStatus, TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Agent, Alert, Attempt, Channel, DeliveryStatus, Session
from handoff.selectors import alertletters
from handoff.transports.owner_inbox import OwnerInboxSettings
from handoff.transports.owner_mail import OwnerMail

PLACES: Final = 5
"""So many alerts are under way at once, in all processes together: they go one after the other."""
LEASE_SECONDS: Final = 50.0
TRIES: Final = 5
BACKOFF_SECONDS: Final = (5, 30, 120, 600)
NO_ADDRESS: Final = "no_address"
_WORTH_RETRYING: Final = frozenset(
    {
        TransportErrorKind.CONNECT,
        TransportErrorKind.TRANSIENT,
        TransportErrorKind.RATE_LIMITED,
    }
)


def ask_owners() -> int:
    """Write the alerts of every handoff that nobody opened, claimed or replied to in time.

    How many minutes that is, each owner inbox says; the database's clock decides. Returns how many
    handoffs there were.
    """
    asked = 0
    for channel in Channel.objects.filter(pk__in=_unseen().values("channel")):
        minutes = _patience(channel)
        if minutes is None:
            continue
        due = _overdue(minutes).filter(channel=channel).values_list("pk", flat=True)
        asked += sum(_ask(pk, minutes) for pk in list(due))
    return asked


def ask_again(session_pk: int, *, user_pk: int) -> int:
    """Mail the other owners because one of them says so; how many there will be mails to.

    0 when the handoff is not active, or nobody else has an address.
    """
    with writing():
        session, _ = lock(session_pk)
        if session.status != SessionStatus.ACTIVE:
            return 0
        others = _owners(session).exclude(pk=user_pk).exclude(email="")
        number = Alert.objects.filter(session=session).aggregate(last=Max("number"))["last"]
        return _write(session, others, number=(number or 0) + 1)


def look(*, run: Callable[[Callable[[], object]], object]) -> int:
    """Lease what is due, and have `run` send it; returns how many alerts that were."""
    taken = 0
    while not push.stopping and (alert := claim()) is not None:
        run(partial(send, alert))
        taken += 1
    return taken


def claim() -> int | None:
    """Lease the alert that has been due for longest; None when none is, or all places are taken.

    What a killed process was sending is due again when its lease is over.
    """
    if Alert.objects.filter(status=DeliveryStatus.DUE, lease_until__gt=Now()).count() >= PLACES:
        return None
    span = dt.timedelta(seconds=LEASE_SECONDS + PLACES * settings.DISPATCH_SECONDS)
    due = Alert.objects.filter(
        Q(lease_until=None) | Q(lease_until__lt=Now()),
        status=DeliveryStatus.DUE,
        next_attempt_at__lte=Now(),
    )
    for pk in list(due.order_by("next_attempt_at").values_list("pk", flat=True)[:PLACES]):
        with writing():
            if due.filter(pk=pk).update(lease_until=Now() + span, attempts=F("attempts") + 1):
                return pk
    return None


def send(alert_pk: int) -> None:
    """Mail one owner, outside any transaction, unless somebody opened the handoff meanwhile.

    What failed for now is tried again up to TRIES times. What may have arrived is not sent again,
    unless its sender was killed: then it is, under the same Message-ID.
    """
    row = alertletters.alerts().get(pk=alert_pk)
    if not _is_wanted(row):
        with writing():
            _finish(row, DeliveryStatus.DROPPED)
        return
    error = _mailed(row)
    with writing():
        session, conversation = lock(row.session_id)
        if error is not None:
            _failed(session, row, error)
        elif _finish(row, DeliveryStatus.DONE):
            note(
                "handoff.reminded",
                session,
                actor="desk",
                reason="mail",
                details={"to": f"owner:{row.owner_id}", "tries": row.attempts},
            )
            emit(
                EventType.REMINDED,
                agent=session.agent,
                conversation=conversation,
                session=session,
            )


def _patience(channel: Channel) -> int | None:
    """Minutes until somebody should have opened a handoff; None for ever, or when unreadable."""
    found = opened(channel)
    read = found.transport.settings if found else None
    return read.notify_after_minutes if isinstance(read, OwnerInboxSettings) else None


def _unseen() -> QuerySet[Session]:
    """Active handoffs that wait in an inbox into which somebody may look, and nobody has."""
    mine = {"session": OuterRef("pk")}
    owners = Agent.owners.through.objects.filter(agent=OuterRef("agent"), user__is_active=True)
    return Session.objects.filter(
        Exists(owners),
        ~Exists(Attempt.objects.filter(**mine, delivery="read")),
        ~Exists(Alert.objects.filter(**mine)),
        status=SessionStatus.ACTIVE,
        channel__kind=ChannelKind.OWNER_INBOX,
        holder=None,
        joined_name="",
    )


def _overdue(minutes: int) -> QuerySet[Session]:
    return _unseen().filter(created_at__lte=Now() - dt.timedelta(minutes=minutes))


def _ask(session_pk: int, minutes: int) -> bool:
    with writing():
        session, _ = lock(session_pk)
        if not _overdue(minutes).filter(pk=session_pk).exists():
            return False
        _write(session, _owners(session), number=0)
        return True


def _owners(session: Session) -> QuerySet[User]:
    return session.agent.owners.filter(is_active=True).order_by("pk")


def _write(session: Session, owners: Iterable[User], *, number: int) -> int:
    """A row for each owner; one for whom there is no address is told on the trail at once."""
    due = 0
    for owner in owners:
        row = Alert(session=session, owner=owner, number=number)
        if owner.email:
            due += 1
        else:
            row.status, row.failure_kind = DeliveryStatus.FAILED, NO_ADDRESS
            row.finished_at = Now()
            _give_up_note(session, owner.pk, reason=NO_ADDRESS, failure="the owner has no address")
        row.save(force_insert=True)
    if due:
        nudge_on_commit("work")
    return due


def _is_wanted(row: Alert) -> bool:
    session = row.session
    may_look = _owners(session).filter(pk=row.owner_id)
    if session.status != SessionStatus.ACTIVE or not may_look.exists():
        return False
    if row.number:
        return True
    if session.holder_id is not None or session.joined_name:
        return False
    return not session.attempts.filter(delivery="read").exists()


def _mailed(row: Alert) -> TransportError | None:
    """None when the mail server took it."""
    if row.attempts > TRIES:
        words = "whoever sent it stopped each time on the way"
        return TransportError(TransportErrorKind.UNKNOWN_OUTCOME, words)
    try:
        deadline = time.monotonic() + settings.DISPATCH_SECONDS
        OwnerMail().alert(alertletters.letter(row), deadline=deadline)
    except TransportError as error:
        return error
    return None


def _finish(row: Alert, status: DeliveryStatus, **fields: object) -> bool:
    """False when somebody else took it over meanwhile. Inside `writing()`."""
    mine = Alert.objects.filter(pk=row.pk, status=DeliveryStatus.DUE, attempts=row.attempts)
    return mine.update(status=status, finished_at=Now(), lease_until=None, **fields) == 1


def _failed(session: Session, row: Alert, error: TransportError) -> None:
    known = {
        "failure_kind": error.kind,
        "failure": audit.trail.redact(error.operator_detail),
    }
    if error.kind in _WORTH_RETRYING and row.attempts < TRIES:
        pause = max(BACKOFF_SECONDS[row.attempts - 1], error.retry_after or 0)
        mine = Alert.objects.filter(pk=row.pk, status=DeliveryStatus.DUE, attempts=row.attempts)
        later = Now() + dt.timedelta(seconds=pause)
        mine.update(**known, lease_until=None, next_attempt_at=later)
    elif _finish(row, DeliveryStatus.FAILED, **known):
        _give_up_note(session, row.owner_id, reason=error.kind, failure=error.operator_detail)


def _give_up_note(session: Session, owner_pk: int, *, reason: str, failure: str) -> None:
    note(
        "message.relay_failed",
        session,
        actor="desk",
        reason=reason,
        failure=failure,
        details={"to": f"owner:{owner_pk}"},
    )
