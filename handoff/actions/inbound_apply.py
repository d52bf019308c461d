"""Gives the events that were kept their effect: one transaction for the effect and the row.

A row is due until it is processed, whatever is killed. The rows of a channel are taken in the order
in which they came, by one process at a time.
"""

import dataclasses
import datetime as dt
import logging
import time
from typing import Final

import pydantic
from django.db.models import F, Min, QuerySet
from django.db.models.functions import Now

from handoff import push
from handoff.actions import inbound_files
from handoff.actions.files import drop_unsaid
from handoff.actions.inbound_outcomes import Applied, Became, Carry, Wait
from handoff.actions.inbound_said import ACTOR, apply_said
from handoff.actions.inbound_status import apply_moved, apply_status
from handoff.actions.refusals import note_inbound
from handoff.actions.relatives import opened
from handoff.actions.writing import nudge_on_commit, writing
from handoff.models import InboundEvent
from handoff.selectors import recipientwords
from handoff.transports import collects_lines
from handoff.transports.inbound import READER, Came, Moved, Said, Status

log = logging.getLogger(__name__)
ROUND_SECONDS: Final = 2.0
"""After so long the clocks and the outbox have their turn."""
BACKOFF_MAX_SECONDS: Final = 900.0
UNREADABLE_SECONDS: Final = 60.0
"""Until the next look at a channel whose settings can't be read."""


def apply_due() -> int:
    """Apply what is due, as far as there is time; how many events had their effect.

    The channels take turns, so that one that is talkative holds up no other.
    """
    end = time.monotonic() + ROUND_SECONDS
    done, seen = 0, set[int]()
    while heads := [head for head in _heads() if head not in seen]:
        for head in heads:
            if push.stopping:
                return done
            if time.monotonic() > end:
                push.nudge("work")
                return done
            seen.add(head)
            done += isinstance(_attempted(head), Applied)
    return done


def apply_at_once(event_pk: int) -> str:
    """Apply one event while its sender waits; what they are told."""
    result = _attempted(event_pk, is_heard=True)
    with recipientwords.spoken_in(InboundEvent.objects.get(pk=event_pk).channel):
        if isinstance(result, Applied):
            return result.answer or result.done or recipientwords.nothing_to_do()
        return recipientwords.will_be_passed_on()


def _heads() -> list[int]:
    """The oldest due row of each channel."""
    due = _waiting().filter(next_attempt_at__lte=Now())
    return sorted(due.values("channel").annotate(head=Min("pk")).values_list("head", flat=True))


def _waiting() -> QuerySet[InboundEvent]:
    return InboundEvent.objects.filter(processed_at=None).order_by()


def _attempted(event_pk: int, *, is_heard: bool = False) -> Applied | Wait | None:
    """One try; None when it broke, which is logged and tried again later, or when somebody else
    has the row.
    """
    try:
        result = _apply(event_pk, is_heard=is_heard)
        if isinstance(result, Carry):
            return _carried(event_pk, result, is_heard=is_heard)
        return result
    except Exception:  # the inbound loop: whatever one event breaks, the next must be tried
        log.exception("event %d could not be applied; it is tried again", event_pk)
        _put_off(event_pk)  # raises during an outage, which ends the round
        return None


def _carried(event_pk: int, carry: Carry, *, is_heard: bool) -> Applied | Wait | None:
    """With its files, which are stored first."""
    ids = inbound_files.take(event_pk, carry.conversation_pk, actor=ACTOR)
    result = _apply(event_pk, is_heard=is_heard)
    if isinstance(result, Applied):
        drop_unsaid(ids, actor=ACTOR)
    return None if isinstance(result, Carry) else result


def _put_off(event_pk: int) -> None:
    with writing():
        mine = _waiting().filter(pk=event_pk)
        for tries in mine.values_list("attempts", flat=True):
            pause = dt.timedelta(seconds=min(2.0**tries, BACKOFF_MAX_SECONDS))
            mine.update(attempts=F("attempts") + 1, next_attempt_at=Now() + pause)


def _apply(event_pk: int, *, is_heard: bool) -> Applied | Carry | Wait | None:
    with writing():
        row = (
            _waiting()
            .select_for_update(skip_locked=True, no_key=True, of=("self",))
            .select_related("channel__agent")
            .filter(pk=event_pk)
            .first()
        )
        if row is None:
            return None
        result = _effect(row)
        if isinstance(result, Carry):
            return result
        mine = InboundEvent.objects.filter(pk=row.pk)
        if isinstance(result, Wait):
            pause = dt.timedelta(seconds=result.seconds)
            mine.update(session=result.session, next_attempt_at=Now() + pause)
            return result
        owed = "" if result.is_aside and collects_lines(row.channel.kind) else result.answer
        mine.update(
            processed_at=Now(),
            outcome=result.became,
            session=result.session,
            answer=owed,
            answered_at=Now() if is_heard else None,
            **_forgotten(row),
        )
        if owed and not is_heard:
            nudge_on_commit("work")
        return dataclasses.replace(result, answer=result.answer if is_heard else owed)


def _forgotten(row: InboundEvent) -> dict[str, str]:
    """The body, where it has to be written anew: content of files is not kept."""
    lean = inbound_files.without_content(row.body)
    return {} if lean == row.body else {"body": lean}


def _effect(row: InboundEvent) -> Applied | Carry | Wait:
    if opened(row.channel) is None:
        return Wait(seconds=UNREADABLE_SECONDS)
    try:
        event: Came = READER.validate_json(row.body)
    except pydantic.ValidationError:
        log.error("event %d cannot be read any more", row.pk)
        return Applied(became=Became.UNREADABLE)
    match event:
        case Said():
            return apply_said(row, event)
        case Status():
            return apply_status(row, event)
        case Moved():
            return apply_moved(row, event)
    note_inbound("inbound.refused", row.channel, event.reason)
    return Applied(became=Became.DROPPED)
