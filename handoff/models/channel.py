"""A channel: a configured way to reach a recipient."""

import uuid
import zoneinfo
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from handoff.contract import limits
from handoff.contract.text import visible
from handoff.models.agent import Agent
from handoff.models.line import LineField
from handoff.models.sealed import seal, unseal


def valid_timezone(name: str) -> None:
    """Refuse a name that the time zone database doesn't know."""
    if name not in zoneinfo.available_timezones():
        raise ValidationError("Use a name such as Europe/Berlin.")


class Redispatch(models.TextChoices):
    NEVER = "never", "Never: a person is not asked twice"
    ONCE = "once", "Once: asking twice is better than not at all"


class Channel(models.Model):
    """How one agent reaches one recipient: kind, sealed settings, both clocks, health."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="channels")
    kind = models.CharField(max_length=20)
    """Checked against the transport table, not a closed list of the database."""
    label = LineField(
        max_length=100, help_text="What agents and people call it, such as “Sales support”."
    )
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    target = models.ForeignKey(
        Agent, on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="+"
    )
    """The agent that a channel of the kind `agent` reaches, as its settings name it."""
    sealed_settings = models.TextField(blank=True, editable=False)
    estimated_response = LineField(
        max_length=100, blank=True, help_text="Such as “within 1 business day”."
    )
    idle_minutes = models.PositiveIntegerField(
        default=limits.IDLE_MINUTES,
        validators=[MinValueValidator(1), MaxValueValidator(30 * 24 * 60)],
        help_text="The bypass ends when nothing is heard from the recipient for so long.",
    )
    link_hours = models.PositiveIntegerField(
        default=limits.LINK_HOURS,
        validators=[MinValueValidator(1), MaxValueValidator(30 * 24)],
        help_text="The return form stays open for so long.",
    )
    contact_limit_per_hour = models.PositiveIntegerField(
        default=limits.CONTACTS_PER_HOUR,
        validators=[MinValueValidator(1)],
        help_text="So that a looping agent can't bury a person.",
    )
    redispatch = models.CharField(
        max_length=10, choices=Redispatch.choices, default=Redispatch.NEVER
    )
    language = models.CharField(max_length=10, default="en")
    timezone = models.CharField(max_length=64, default="UTC", validators=[valid_timezone])
    share_values_with_subscriber = models.BooleanField(
        default=True, help_text="Off: the chat doesn't show the values that came back."
    )
    claim_minutes = models.PositiveIntegerField(default=10, validators=[MinValueValidator(1)])
    paused_until = models.DateTimeField(null=True, blank=True)
    enabled = models.BooleanField(default=True)
    healthy = models.BooleanField(default=True, editable=False)
    unhealthy_since = models.DateTimeField(null=True, editable=False)
    last_success_at = models.DateTimeField(null=True, editable=False)
    last_error_at = models.DateTimeField(null=True, editable=False)
    last_error_kind = models.CharField(max_length=40, blank=True, editable=False)
    last_error_detail = models.CharField(max_length=400, blank=True, editable=False)
    last_error_hint = models.CharField(max_length=400, blank=True, editable=False)
    last_inbound_at = models.DateTimeField(null=True, editable=False)
    """When the recipient was last heard in it."""
    poll_cursor = models.CharField(max_length=255, blank=True, editable=False)
    """Where the next look at its mailbox goes on."""
    poll_at = models.DateTimeField(db_default=Now(), editable=False)
    """When to look next; moved ahead by whoever looks, so that nobody else does."""
    poll_hint = models.CharField(max_length=400, blank=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(
                name="channel_unhealthy_since",
                condition=models.Q(healthy=True, unhealthy_since=None)
                | models.Q(healthy=False, unhealthy_since__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{visible(self.label)} ({self.kind})"

    def opened_settings(self) -> dict[str, Any]:
        """The settings as they were configured; raises sealed.Unreadable."""
        return unseal(self.sealed_settings)

    def keep_settings(self, value: dict[str, Any]) -> None:
        """Seal the settings into this row; the caller saves it."""
        self.sealed_settings = seal(value)
