"""Webhooks as their agent reads them, and the body of each call."""

import json
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from handoff.contract import ids
from handoff.contract.kinds import EventType
from handoff.contract.webhooks import (
    SENTENCES,
    TEST_TYPE,
    CallKind,
    CallPage,
    CallView,
    Fate,
    Payload,
    Stopped,
    WebhookView,
    envelope,
)
from handoff.errors import NotFound, NotYours
from handoff.models import Agent, Event, Webhook, WebhookCall
from handoff.selectors import events


def find(agent: Agent, public_id: str) -> Webhook:
    """The agent's own webhook; NotYours for another agent's, NotFound for none."""
    row = (
        Webhook.objects.select_related("agent").filter(public_id=public_id).first()
        if ids.is_public(public_id)
        else None
    )
    if row is None:
        raise NotFound("There is no such webhook.")
    if row.agent_id != agent.pk:
        raise NotYours
    return row


def problem(webhook: Webhook) -> str:
    """Why the desk switched it off and what to do, as a sentence; "" when it did not."""
    return SENTENCES[Stopped(webhook.stopped)] if webhook.stopped else ""


def behind(webhook: Webhook) -> int:
    """How many events its agent has after the last one that it needs no call for."""
    return max(0, webhook.agent.last_event_id - webhook.after)


def view(webhook: Webhook) -> WebhookView:
    return WebhookView.model_validate(
        {
            "id": webhook.public_id,
            "url": webhook.url,
            "label": webhook.label,
            "event_types": [EventType(name) for name in webhook.event_types],
            "payload": Payload(webhook.payload),
            "enabled": webhook.enabled,
            "stopped": Stopped(webhook.stopped) if webhook.stopped else None,
            "problem": problem(webhook),
            "after": webhook.after,
            "behind": behind(webhook),
            "tries": webhook.tries,
            "failing_since": webhook.failing_since,
            "next_attempt_at": (
                webhook.next_attempt_at if webhook.enabled and webhook.failing_since else None
            ),
            "last_success_at": webhook.last_success_at,
            "previous_secret_until": webhook.previous_until,
            "created_at": webhook.created_at,
        }
    )


def of_agent(agent: Agent) -> list[WebhookView]:
    rows = Webhook.objects.filter(agent=agent).select_related("agent")
    return [view(row) for row in rows.order_by("pk")]


def calls(webhook: Webhook, *, after: int, limit: int) -> CallPage:
    """The calls after a number, oldest first."""
    rows = list(webhook.calls.filter(pk__gt=after).select_related("event")[: limit + 1])
    shown = rows[:limit]
    return CallPage(
        data=[call(row) for row in shown],
        next_after=shown[-1].pk if shown else after,
        has_more=len(rows) > limit,
    )


def call(row: WebhookCall) -> CallView:
    return CallView(
        id=row.pk,
        kind=CallKind(row.kind),
        webhook_id=row.message_id,
        event=row.event.number if row.event else None,
        type=row.type,
        fate=Fate(row.fate),
        status=row.status,
        seconds=row.seconds,
        at=row.at,
    )


def wanted(webhook: Webhook) -> QuerySet[Event]:
    """The events of its agent that it is for, oldest first."""
    found = Event.objects.filter(agent=webhook.agent_id).order_by("number")
    return found.filter(type__in=webhook.event_types) if webhook.event_types else found


def next_event(webhook: Webhook) -> Event | None:
    """The oldest event that it has not got and is for."""
    return wanted(webhook).filter(number__gt=webhook.after).first()


def secrets_of(webhook: Webhook) -> list[str]:
    """What its calls are signed with now, the newest first; raises sealed.Unreadable."""
    overlaps = Webhook.objects.filter(pk=webhook.pk, previous_until__gt=Now()).exists()
    return webhook.opened_secrets(both=overlaps)


def body(webhook: Webhook, row: WebhookCall) -> bytes:
    """What one call says, as the bytes that are signed and sent."""
    if row.event is None:
        told = envelope(TEST_TYPE, row.at, {"webhook": webhook.public_id})
    else:
        thin = webhook.payload == Payload.THIN
        told = envelope(row.type, row.event.at, _event(webhook.agent, row.event, thin=thin))
    return json.dumps(told, separators=(",", ":")).encode("ascii")


def _event(agent: Agent, event: Event, *, thin: bool) -> dict[str, Any]:
    """E as it is now, or its ids alone."""
    [shape] = events.page(agent, after=event.number - 1, limit=1).data
    whole = shape.body()
    if thin:
        del whole["data"]
        whole["message"] = event.message.public_id if event.message else None
    return whole


def live() -> QuerySet[Webhook]:
    """Those that may be called."""
    return Webhook.objects.filter(enabled=True, agent__enabled=True)


def ailing() -> QuerySet[Webhook]:
    """Those that the desk itself switched off, or that fail now."""
    failing = Q(enabled=True, failing_since__isnull=False)
    return Webhook.objects.filter(failing | ~Q(stopped="")).select_related("agent")
