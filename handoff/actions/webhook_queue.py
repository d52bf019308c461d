"""Whose turn it is among the webhooks, and what became of each call.

The queue of a webhook is the event log of its agent: `after` moves over it, one event at a time. A
lease says who calls, by the database's clock; the call is a row before it is made.
"""

import dataclasses
import datetime as dt
import random
from collections.abc import Collection
from typing import Final

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Now

import audit.trail
from handoff.actions.webhooks import held
from handoff.actions.writing import nudge_on_commit, writing
from handoff.contract.webhooks import CallKind, Fate, Stopped, message_id
from handoff.models import Event, Webhook, WebhookCall, WebhookReplay
from handoff.selectors import webhooks

LEASE_SECONDS: Final = 50.0
"""How much longer than a call may take a webhook is left to whoever calls it."""
BACKOFF_SECONDS: Final = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 21_600, 36_000)
"""Pauses after the first try and each that follows: together a little under a day."""
JITTER: Final = (0.9, 1.1)
WAIT_MAX_SECONDS: Final = 3600.0
"""What a receiver may ask for with `Retry-After`, at most."""
SLOW_SECONDS: Final = 2.0
AT_ONCE: Final = 50


@dataclasses.dataclass(frozen=True)
class Taken:
    """One call that is ours to make."""

    webhook: int
    call: int
    agent: int
    after: int
    """Where the webhook stood when it was taken."""
    hard: bool
    """Whether its last call failed or was slow, or none succeeded yet: this one may hang."""


@dataclasses.dataclass(frozen=True)
class Heard:
    """What became of a call."""

    fate: Fate
    seconds: float
    status: int | None = None
    retry_after: float | None = None
    words: str = ""
    """What the receiver said, or our own word for why it said nothing."""


def claim(
    *, easy_only: bool = False, easy_of: Collection[int] = (), none_of: Collection[int] = ()
) -> Taken | None:
    """Take the webhook that has been due for longest; None when there is nothing to call.

    `easy_only` leaves out those that may hang: whose last call failed or was slow, or that never
    had a success. `easy_of` leaves out these of some agents, `none_of` all of some.
    """
    rows = _due().exclude(agent__in=none_of)
    if easy_only:
        rows = rows.filter(_easy())
    elif easy_of:
        rows = rows.filter(_easy() | ~Q(agent__in=easy_of))
    for pk in list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        with writing():
            taken = _take(pk)
        if taken is not None:
            return taken
    return None


def stop_of(token_pk: int) -> None:
    """Stop the webhooks that a token answers for. Inside `writing()`, which revokes it.

    One that is tied to it at the same moment is stopped when it is taken for a call.
    """
    theirs = Webhook.objects.filter(enabled=True, token=token_pk).order_by("pk")
    for pk in list(theirs.values_list("pk", flat=True)):
        row = held(pk)
        if row is not None and row.enabled and row.token_id == token_pk:
            stop(row, Stopped.TOKEN_REVOKED, failure="", tries=row.tries)


def _easy() -> Q:
    return Q(tries=0, last_seconds__lte=SLOW_SECONDS, last_success_at__isnull=False)


def _free() -> Q:
    return Q(lease_until=None) | Q(lease_until__lt=Now())


def _due() -> QuerySet[Webhook]:
    again = WebhookReplay.objects.filter(webhook=OuterRef("pk"))
    waits = Q(after__lt=F("agent__last_event_id")) | Q(Exists(again))
    rows = webhooks.live().filter(_free(), waits, next_attempt_at__lte=Now())
    return rows.order_by("next_attempt_at", "pk")


def _take(pk: int) -> Taken | None:
    span = dt.timedelta(seconds=LEASE_SECONDS + settings.DISPATCH_SECONDS)
    mine = Webhook.objects.filter(_free(), pk=pk, enabled=True, next_attempt_at__lte=Now())
    if not mine.update(lease_until=Now() + span):
        return None  # somebody was faster
    row = Webhook.objects.select_related("agent", "token").get(pk=pk)
    if row.lease is not None:  # whoever had it was killed
        WebhookCall.objects.filter(pk=row.lease, fate=Fate.SENDING).update(fate=Fate.LOST)
    if row.token is not None and row.token.revoked_at is not None:
        stop(row, Stopped.TOKEN_REVOKED, failure="", tries=row.tries)
        return None
    if row.tries > len(BACKOFF_SECONDS):
        words = "whoever called it stopped each time on the way"
        stop(row, Stopped.GIVEN_UP, failure=words, tries=row.tries)
        return None
    kind, event = _head(row)
    if event is None:  # its types leave out all that there was when the row was read
        upto = row.agent.last_event_id
        Webhook.objects.filter(pk=pk).update(after=upto, lease=None, lease_until=None)
        return None
    call = WebhookCall.objects.create(
        webhook=row,
        kind=kind,
        event=event,
        type=event.type,
        message_id=message_id(row.agent_id, event.number, event.at),
        number=row.tries + 1,
    )
    Webhook.objects.filter(pk=pk).update(lease=call.pk, tries=F("tries") + 1)
    hard = row.tries > 0 or row.last_seconds > SLOW_SECONDS or row.last_success_at is None
    return Taken(pk, call.pk, row.agent_id, row.after, hard)


def _head(row: Webhook) -> tuple[CallKind, Event | None]:
    again = row.replays.select_related("event").first()
    if again is not None:
        return CallKind.REPLAY, again.event
    return CallKind.EVENT, webhooks.next_event(row)


def record(taken: Taken, heard: Heard) -> None:
    """Write down what became of a call, and when the next one is due.

    Once a webhook was changed, or its lease was taken over, a failure no longer counts; a success
    does, as the receiver has the event.
    """
    with writing():
        webhook = held(taken.webhook)  # before its call: whoever deletes both has the same order
        if webhook is None:
            return
        note(taken.call, heard)
        if heard.fate is Fate.DELIVERED:
            _delivered(taken, webhook, heard)
        else:
            _failed(taken, webhook, heard)


def note(call: int, heard: Heard) -> None:
    """Finish the row of a call. Inside `writing()`."""
    WebhookCall.objects.filter(pk=call).update(
        fate=heard.fate,
        status=heard.status,
        seconds=round(heard.seconds, 3),
        failure=audit.trail.redact(heard.words),
    )


def _delivered(taken: Taken, webhook: Webhook, heard: Heard) -> None:
    call = webhook.calls.select_related("event").filter(pk=taken.call).first()
    if call is not None and call.kind == CallKind.REPLAY:
        webhook.replays.filter(event=call.event_id).delete()
    elif call is not None and call.event is not None:  # where it still stands: it may have moved
        stands = Webhook.objects.filter(pk=taken.webhook, after=taken.after)
        stands.update(after=call.event.number)
    Webhook.objects.filter(pk=taken.webhook, lease=taken.call).update(
        tries=0,
        failing_since=None,
        next_attempt_at=Now(),
        lease=None,
        lease_until=None,
        last_seconds=heard.seconds,
        last_success_at=Now(),
    )


def _failed(taken: Taken, webhook: Webhook, heard: Heard) -> None:
    mine = Webhook.objects.filter(pk=taken.webhook, lease=taken.call)
    pause = dt.timedelta(seconds=_pause(webhook.tries, heard))
    if not mine.update(
        failing_since=Coalesce("failing_since", Now()),
        next_attempt_at=Now() + pause,
        lease=None,
        lease_until=None,
        last_seconds=heard.seconds,
    ):
        return
    why = _given_up(webhook, heard)
    if why is not None:
        stop(webhook, why, failure=heard.words, tries=webhook.tries)


def _pause(tries: int, heard: Heard) -> float:
    step = BACKOFF_SECONDS[min(tries, len(BACKOFF_SECONDS)) - 1]
    asked = min(heard.retry_after or 0, WAIT_MAX_SECONDS)
    return max(step * random.uniform(*JITTER), asked)  # noqa: S311  (spreads load, hides nothing)


def _given_up(webhook: Webhook, heard: Heard) -> Stopped | None:
    if heard.fate is Fate.GONE:
        return Stopped.GONE
    if heard.fate is Fate.NOT_SIGNED:
        return Stopped.NO_SECRET
    if webhook.tries > len(BACKOFF_SECONDS):
        return Stopped.GIVEN_UP
    if webhooks.behind(webhook) > settings.WEBHOOK_BACKLOG:
        return Stopped.BEHIND
    return None


def stop(webhook: Webhook, why: Stopped, *, failure: str, tries: int) -> None:
    """Switch a webhook off on the desk's own account. Inside `writing()`."""
    Webhook.objects.filter(pk=webhook.pk).update(
        enabled=False, stopped=why, stopped_at=Now(), lease=None, lease_until=None
    )
    audit.trail.record(
        "webhook.disabled",
        actor="desk",
        agent=webhook.agent.name,
        reason=why,
        failure=failure,
        details={"webhook": webhook.public_id, "tries": tries},
    )
    nudge_on_commit("work")
