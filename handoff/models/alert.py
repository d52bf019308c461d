"""Mails to the owners of an agent about a handoff that nobody has looked at."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from handoff.models.log import DeliveryStatus
from handoff.models.session import Session


class Alert(models.Model):
    """One mail to one owner, written before it is sent. Due rows are the queue."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="alerts")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField(default=0)
    """0 for the one that the desk sends by itself; further ones were asked for by an owner."""
    status = models.CharField(
        max_length=8, choices=DeliveryStatus.choices, default=DeliveryStatus.DUE
    )
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField(null=True)
    """Somebody is sending it until then."""
    failure_kind = models.CharField(max_length=40, blank=True)
    failure = models.CharField(max_length=400, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint("session", "owner", "number", name="alert_once"),
        ]
        indexes = [
            models.Index(
                "next_attempt_at", condition=Q(status=DeliveryStatus.DUE), name="alert_due"
            ),
        ]

    def __str__(self) -> str:
        return f"alert {self.pk} of {self.session_id}"
