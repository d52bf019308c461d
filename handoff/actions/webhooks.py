"""Makes and changes webhooks, turns their secrets over, and has events sent again."""

import dataclasses
import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.db.models.functions import Now
from django.views.decorators.debug import sensitive_variables

import audit.trail
from handoff.actions.writing import nudge_on_commit, writing
from handoff.contract.webhooks import (
    WEBHOOKS_MAX,
    WebhookBody,
    WebhookChange,
    new_secret,
)
from handoff.errors import Invalid, NotFound
from handoff.models import Agent, Event, Webhook, WebhookCall, WebhookReplay
from handoff.models.sealed import Unreadable, reseal

KEPT: Final = dt.timedelta(days=30)
"""For so long it can be looked up what became of a call."""
_EARLIEST: Final = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_LATEST: Final = dt.datetime(9000, 1, 1, tzinfo=dt.UTC)


@dataclasses.dataclass(frozen=True)
class Made:
    """`secret` is shown once, and kept sealed."""

    row: Webhook
    secret: str = dataclasses.field(repr=False)


def problem_with(field: str, problem: str) -> Invalid:
    """One problem of a body, as every refusal of one is worded."""
    problems = [{"field": field, "problem": problem}]
    return Invalid(f"The body can't be used: {field} {problem}.", details={"problems": problems})


def check_room(agent: Agent) -> None:
    """Raises Invalid when the agent has as many webhooks as one may have."""
    if Webhook.objects.filter(agent=agent).count() >= WEBHOOKS_MAX:
        raise problem_with("url", f"would be one too many: an agent has {WEBHOOKS_MAX} at most")


@sensitive_variables("secret")
def create_webhook(
    agent: Agent, body: WebhookBody, *, actor: str, token: int | None = None
) -> Made:
    """A new webhook for what happens from now on; raises Invalid when the agent has too many.

    Its address was looked up before: `webhook_addresses`. `token` is the key of the one that asks;
    when that is revoked the webhook stops.
    """
    secret = new_secret()
    with writing():
        locked = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        check_room(locked)
        row = Webhook(
            agent=locked,
            token_id=token,
            url=body.url,
            label=body.label,
            event_types=list(body.event_types),
            payload=body.payload,
            after=locked.last_event_id,
        )
        row.keep_secret(secret)
        row.save()
        _note("webhook.created", row, actor=actor, details={"payload": row.payload})
    row.refresh_from_db()
    return Made(row, secret)


def change_webhook(
    webhook: Webhook, change: WebhookChange, *, actor: str, token: int | None = None
) -> Webhook:
    """Write what is given; raises Invalid. Switching one on, even one that is on and fails, a new
    address, new types or a new place in the log make it due at once, with its failures forgotten.

    Whoever gives its address or says that it is on answers for it from then on: `token` is theirs.
    """
    given = change.model_dump(exclude_none=True)
    with writing():
        row = locked(webhook)
        if "after" in given:
            _check_place(row, given["after"])
        changed = sorted(name for name, value in given.items() if getattr(row, name) != value)
        retried = bool(given.get("enabled")) and row.failing_since is not None
        for name in changed:
            setattr(row, name, given[name])
        fields = list(changed)
        if "url" in changed:  # nothing is known of how it answers
            row.last_success_at = None
            fields.append("last_success_at")
        if row.token_id != token and ("url" in changed or given.get("enabled")):
            row.token_id = token
            fields.append("token")
        if retried or {"url", "enabled", "after", "event_types"} & set(changed):
            fields += _begin_anew(row)
        if fields:
            row.save(update_fields=fields)
            taken_over = "token" in fields
            details = {"fields": changed, "enabled_after": row.enabled, "retried": retried}
            details["taken_over"] = taken_over
            _note(_verb(row, changed), row, actor=actor, details=details)
            nudge_on_commit("work")
    row.refresh_from_db()
    return row


def _check_place(row: Webhook, after: int) -> None:
    """Forward to any event, back over no more than are sent again at once; raises Invalid."""
    newest = row.agent.last_event_id
    oldest = min(row.after, newest - settings.WEBHOOK_BACKLOG)
    if after > newest:
        raise problem_with("after", f"must be at most {newest}")
    if after < oldest:
        raise problem_with("after", f"must be at least {oldest}")


def _verb(row: Webhook, changed: Sequence[str]) -> str:
    return "webhook.disabled" if changed == ["enabled"] and not row.enabled else "webhook.changed"


def _begin_anew(row: Webhook) -> list[str]:
    """Forget failures, and what a call that is under way will bring; the fields it sets."""
    row.tries = 0
    row.failing_since = None
    row.next_attempt_at = Now()
    row.lease = None
    row.lease_until = None
    row.stopped = "" if row.enabled else row.stopped
    row.stopped_at = None if row.enabled else row.stopped_at
    return ["tries", "failing_since", "next_attempt_at", "lease", "lease_until", "stopped",
            "stopped_at"]  # fmt: skip


@sensitive_variables("secret")
def rotate_secret(webhook: Webhook, *, actor: str) -> Made:
    """A new secret; the one before it signs beside it for `WEBHOOK_OVERLAP_HOURS`.

    There are never more than two: an older one ends at once.
    """
    secret = new_secret()
    span = dt.timedelta(hours=settings.WEBHOOK_OVERLAP_HOURS)
    with writing():
        row = locked(webhook)
        row.keep_secret(secret)
        row.previous_until = Now() + span
        row.save(update_fields=["sealed_secret", "sealed_previous", "previous_until"])
        _note("webhook.rotated", row, actor=actor)
    row.refresh_from_db()
    return Made(row, secret)


def delete_webhook(webhook: Webhook, *, actor: str) -> None:
    """For good, with the log of its calls."""
    with writing():
        row = locked(webhook)
        _note("webhook.deleted", row, actor=actor)
        row.delete()


def replay_event(webhook: Webhook, number: int, *, actor: str) -> int:
    """Have one event sent once more, before anything newer; raises NotFound for none of the
    agent's. Its types do not matter: it was asked for by name. Always 1.
    """
    with writing():
        row = locked(webhook)
        event = Event.objects.filter(agent=row.agent_id, number=number).first()
        if event is None:
            raise NotFound("There is no such event.")
        if row.replays.count() >= settings.WEBHOOK_BACKLOG:
            raise problem_with("event", "is one too many: so many already wait to be sent again")
        WebhookReplay.objects.get_or_create(webhook=row, event=event)
        _note("webhook.replayed", row, actor=actor, details={"event": number})
        nudge_on_commit("work")
    return 1


def replay_since(webhook: Webhook, since: dt.datetime, *, actor: str) -> int:
    """Send everything since a time again, in order; how many events, those that its types leave
    out included. Raises Invalid when they are more than the desk sends again at once.
    """
    with writing():
        row = locked(webhook)
        mine = Event.objects.filter(agent=row.agent_id, at__gt=_just_before(since))
        first = mine.order_by("number").values_list("number", flat=True)
        after = min(row.after, next(iter(first[:1]), row.after + 1) - 1)
        count = row.agent.last_event_id - after
        if count > settings.WEBHOOK_BACKLOG:
            words = f"is too long ago: {count} events, and {settings.WEBHOOK_BACKLOG} at most"
            raise problem_with("since", words)
        row.after = after
        row.save(update_fields=["after", *_begin_anew(row)])
        _note("webhook.replayed", row, actor=actor, details={"after": after, "events": count})
        nudge_on_commit("work")
    return count


def _just_before(since: dt.datetime) -> dt.datetime:
    """What is later than this is not earlier than `since`: SQLite keeps milliseconds and compares
    texts. What no database can be asked for is cut.
    """
    return min(max(since, _EARLIEST), _LATEST) - dt.timedelta(milliseconds=1)


def forget_calls() -> int:
    """Remove the calls of long ago, and secrets that no longer sign; how many calls."""
    with writing():
        gone, _ = WebhookCall.objects.filter(at__lt=Now() - KEPT).delete()
    with writing():  # another one: a webhook is locked before its calls
        over = Webhook.objects.filter(previous_until__lte=Now())
        over.update(sealed_previous="", previous_until=None)
    return gone


def reseal_webhooks(*, actor: str) -> list[Webhook]:
    """Seal the secrets under the first key, as `reseal_channels` does; those that no key opens."""
    unreadable = []
    for pk in list(Webhook.objects.values_list("pk", flat=True)):
        with writing():
            row = locked(Webhook(pk=pk))
            try:
                row.sealed_secret = reseal(row.sealed_secret)
                row.sealed_previous = reseal(row.sealed_previous) if row.sealed_previous else ""
            except Unreadable:
                unreadable.append(row)
                continue
            row.save(update_fields=["sealed_secret", "sealed_previous"])
            _note("webhook.changed", row, actor=actor, details={"fields": [], "resealed": True})
    return unreadable


def held(pk: int) -> Webhook | None:
    """One with its lock, which goes before those of its calls; None when it was deleted."""
    rows = Webhook.objects.select_for_update(no_key=True, of=("self",)).select_related("agent")
    return rows.filter(pk=pk).first()


def locked(webhook: Webhook) -> Webhook:
    """The same; raises NotFound."""
    row = held(webhook.pk)
    if row is None:
        raise NotFound("There is no such webhook.")
    return row


def _note(action: str, row: Webhook, *, actor: str, details: dict[str, Any] | None = None) -> None:
    told = {"webhook": row.public_id, **(details or {})}
    audit.trail.record(action, actor=actor, agent=row.agent.name, details=told)
