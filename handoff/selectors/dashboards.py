"""The numbers on the first page of the admin."""

import dataclasses
import datetime as dt
import statistics
from typing import Final

from django.conf import settings
from django.db.models import Count, F
from django.db.models.functions import Now

from handoff.contract.kinds import OPEN, AttemptStatus, SessionStatus
from handoff.contract.text import visible
from handoff.models import Attempt, Channel, Delivery, DeliveryStatus, Session
from handoff.selectors import webhooks

FAILURES_OVER: Final = dt.timedelta(hours=24)
ANSWERS_OVER: Final = dt.timedelta(days=7)
ANSWERS_MAX: Final = 2000
"""The newest so many answers are enough for a median."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Failures:
    """Attempts of the last 24 hours that failed the same way."""

    channel_kind: str
    error_kind: str
    """A TransportErrorKind; `unknown_outcome` when it may have arrived."""
    count: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ill:
    """A channel that is out of use until it is mended."""

    pk: int
    name: str
    error_kind: str
    hint: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class StoppedWebhook:
    """A webhook that the desk switched off."""

    pk: int
    name: str
    problem: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Dashboard:
    open: int
    unknown: int
    failures: tuple[Failures, ...]
    outbox_due: int
    answers: int
    """Returns of the last 7 days, at most ANSWERS_MAX."""
    median_answer: dt.timedelta | None
    """From the request to the values; None without answers."""
    ill: tuple[Ill, ...]
    webhooks: tuple[StoppedWebhook, ...]
    has_public_url: bool

    @property
    def failed(self) -> int:
        return sum(failures.count for failures in self.failures)


def dashboard() -> Dashboard:
    """All of it in seven queries."""
    took = _times_to_answer()
    return Dashboard(
        open=Session.objects.filter(status__in=OPEN).count(),
        unknown=Session.objects.filter(status=SessionStatus.UNKNOWN).count(),
        failures=_failures(),
        outbox_due=Delivery.objects.filter(status=DeliveryStatus.DUE).count(),
        answers=len(took),
        median_answer=dt.timedelta(seconds=statistics.median(took)) if took else None,
        ill=_ill(),
        webhooks=_stopped(),
        has_public_url=bool(settings.PUBLIC_BASE_URL),
    )


def _failures() -> tuple[Failures, ...]:
    failed = Attempt.objects.filter(
        status__in=(AttemptStatus.REFUSED, AttemptStatus.UNKNOWN), at__gt=Now() - FAILURES_OVER
    )
    counted = (
        failed.order_by()
        .values_list("session__channel__kind", "failure_kind")
        .annotate(count=Count("pk"))
        .order_by("-count", "session__channel__kind", "failure_kind")
    )
    return tuple(
        Failures(channel_kind=channel, error_kind=error, count=count)
        for channel, error, count in counted
    )


def _times_to_answer() -> list[float]:
    """In seconds."""
    answered = (
        Session.objects.filter(returned_at__gt=Now() - ANSWERS_OVER)
        .order_by("-returned_at")
        .values_list("created_at", "returned_at")[:ANSWERS_MAX]
    )
    return [
        (returned - created).total_seconds()
        for created, returned in answered
        if returned is not None
    ]


def _ill() -> tuple[Ill, ...]:
    found = (
        Channel.objects.filter(healthy=False, enabled=True)
        .annotate(agent_name=F("agent__name"))
        .order_by("unhealthy_since")
    )
    return tuple(
        Ill(
            pk=channel.pk,
            name=visible(f"{channel.agent_name}: {channel.label}"),
            error_kind=channel.last_error_kind,
            hint=channel.last_error_hint,
        )
        for channel in found
    )


def _stopped() -> tuple[StoppedWebhook, ...]:
    return tuple(
        StoppedWebhook(pk=row.pk, name=f"{row.agent.name}: {row}", problem=webhooks.problem(row))
        for row in webhooks.ailing().filter(enabled=False)
    )
