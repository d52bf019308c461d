"""What `manage.py doctor` looks at: each finding is one sentence that says how it stands."""

import dataclasses
import datetime as dt
from collections.abc import Iterator
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

import redis
from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models.functions import Now

from audit.models import Event as AuditEvent
from handoff.actions.ask import SHIPPED
from handoff.contract.kinds import AttemptStatus
from handoff.management.shell import command
from handoff.models import Agent, Attempt, Channel, Delivery, DeliveryStatus, InboundEvent
from handoff.outbound.mail_url import MailFolder, parse_mail_url
from handoff.selectors import webhooks
from handoff.selectors.channels import NO_OWNER, deserted

REDIS_SECONDS: Final = 2.0
LATE_MINUTES: Final = 5
"""A running worker leaves no row due for so long."""


class State(StrEnum):
    OK = "ok"
    LOOK = "look"
    BAD = "bad"


@dataclasses.dataclass(frozen=True)
class Finding:
    state: State
    sentence: str


def findings() -> Iterator[Finding]:
    """Everything, in the order in which it is worth repairing."""
    yield from _checks()
    yield _address()
    yield _mail()
    yield _pushes()
    yield _route()
    try:
        schema = _schema()
        yield schema
        if schema.state is State.BAD:
            return
        yield from _channels()
        yield from _webhooks()
        yield _work()
        yield _questions()
    except DatabaseError as problem:
        yield Finding(State.BAD, f"Database: it cannot be used. Check DATABASE_URL. ({problem})")


def _checks() -> Iterator[Finding]:
    for message in checks.run_checks():
        if not message.is_silenced():
            state = State.BAD if message.is_serious() else State.LOOK
            yield Finding(state, f"{message.id}: {message.msg} {message.hint or ''}".rstrip())


def _address() -> Finding:
    if settings.PUBLIC_BASE_URL:
        return Finding(State.OK, f"Address: return links begin with {settings.PUBLIC_BASE_URL}.")
    return Finding(State.BAD, "Address: PUBLIC_BASE_URL is not set, so nobody can be asked.")


def _mail() -> Finding:
    if not settings.EMAIL_URL:
        return Finding(
            State.LOOK, "Mail: EMAIL_URL is not set; email channels need a server of their own."
        )
    try:
        place = parse_mail_url(settings.EMAIL_URL)
    except ValueError as problem:
        return Finding(State.BAD, f"Mail: EMAIL_URL cannot be used. {problem}")
    where = f"the folder {place.path}" if isinstance(place, MailFolder) else place.host
    return Finding(State.OK, f"Mail: goes to {where}; manage.py send_test tries a channel.")


def _pushes() -> Finding:
    if not settings.REDIS_URL:
        return Finding(State.OK, "Pushes: within one process; several need REDIS_URL.")
    host = urlsplit(settings.REDIS_URL).hostname or "Redis"
    try:
        with redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
        ) as client:
            client.ping()
    except (redis.RedisError, ValueError):
        return Finding(
            State.LOOK,
            f"Pushes: {host} does not answer as Redis; other processes' clients hear late.",
        )
    return Finding(State.OK, f"Pushes: Redis at {host} answers.")


def _route() -> Finding:
    if settings.ROUTE == SHIPPED:
        return Finding(State.OK, "Route: ask_a_person puts questions into the conversation itself.")
    return Finding(
        State.OK,
        f"Route: ask_a_person calls {settings.ROUTE}, for at most {settings.ROUTE_SECONDS:g} s, "
        f"with {settings.ROUTE_PLACES} places in each process.",
    )


def _schema() -> Finding:
    executor = MigrationExecutor(connection)
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if missing:
        return Finding(
            State.BAD,
            f"Database: {missing} migrations are not applied. Run: {command('migrate')}",
        )
    return Finding(State.OK, f"Database: {connection.display_name} answers and is up to date.")


def _channels() -> Iterator[Finding]:
    agents = Agent.objects.filter(enabled=True).count()
    enabled = Channel.objects.filter(enabled=True, agent__enabled=True)
    state = State.OK if enabled else State.LOOK
    yield Finding(
        state, f"Agents: {agents}, with {len(enabled)} channels. Switched off: not shown."
    )
    for channel in enabled:
        if not channel.healthy:
            yield Finding(
                State.BAD,
                f"Channel {channel.pk} ({channel.label}): it fails since "
                f"{channel.unhealthy_since:%Y-%m-%d %H:%M} UTC ({channel.last_error_kind}). "
                f"{channel.last_error_hint}".rstrip(),
            )
        if channel.poll_hint:
            yield Finding(
                State.LOOK, f"Channel {channel.pk} ({channel.label}): {channel.poll_hint}"
            )
    for channel in deserted(enabled):
        yield Finding(State.LOOK, f"Channel {channel.pk} ({channel.label}): {NO_OWNER}")


def _webhooks() -> Iterator[Finding]:
    for row in webhooks.ailing():
        what = webhooks.problem(row) or f"it fails since {row.failing_since:%Y-%m-%d %H:%M} UTC."
        state = State.LOOK if row.enabled else State.BAD
        yield Finding(state, f"Webhook {row.public_id} of {row.agent.name} ({row}): {what}")


def _work() -> Finding:
    late = Now() - dt.timedelta(minutes=LATE_MINUTES)
    lines = Delivery.objects.filter(status=DeliveryStatus.DUE, next_attempt_at__lt=late).count()
    sends = Attempt.objects.filter(status=AttemptStatus.SENDING, at__lt=late).count()
    events = InboundEvent.objects.filter(processed_at=None, received_at__lt=late).count()
    if lines or sends or events:
        return Finding(
            State.BAD,
            f"Worker: {lines} lines, {sends} handoffs and {events} events of providers wait for "
            f"over {LATE_MINUTES} minutes. Does a server run?",
        )
    return Finding(State.OK, "Worker: nothing is overdue.")


def _questions() -> Finding:
    """From the trail, since the places of a route are in the memory of each server process."""
    recent = AuditEvent.objects.filter(
        action__in=("agent.escalated", "agent.escalation_failed"),
        at__gt=Now() - dt.timedelta(hours=1),
    )
    put = recent.filter(action="agent.escalated").count()
    failed = recent.exclude(failure="").count()
    refused = recent.count() - put - failed
    hung = recent.filter(failure__startswith="timed out after").count()
    said = f"Questions in the last hour: {put} put, {refused} refused, {failed} failed."
    last = recent.order_by("-id").values_list("details__places_held", flat=True).first()
    if hung or last:
        said += (
            f" {hung} hung; at the last one {last or 0} of {settings.ROUTE_PLACES} places of its "
            "process were held. A restart of that process frees them."
        )
    return Finding(State.LOOK if failed or last else State.OK, said)
