"""The audit trail: one append-only table that points at nothing and keeps no personal data."""

from django.db import models
from django.db.models.functions import Now


class Event(models.Model):
    """One fact, written in the transaction that made it true. `audit.record` is the only writer.

    Ids are the public ones, as text and without foreign keys, so erasing what they name never
    touches the trail.
    """

    at = models.DateTimeField(db_default=Now(), editable=False, db_index=True)
    action = models.CharField(max_length=64, db_index=True)
    actor = models.CharField(max_length=64, blank=True, help_text="Who did it, such as owner:3.")
    agent = models.CharField(max_length=64, blank=True, db_index=True)
    other_agent = models.CharField(max_length=64, blank=True)
    token = models.CharField(max_length=16, blank=True, help_text="Public id of the API token.")
    tool = models.CharField(max_length=64, blank=True)
    conversation = models.CharField(max_length=40, blank=True, db_index=True)
    session = models.CharField(max_length=40, blank=True, db_index=True)
    attempt = models.CharField(max_length=40, blank=True)
    channel = models.PositiveBigIntegerField(null=True, blank=True)
    reason = models.CharField(max_length=400, blank=True)
    failure = models.CharField(max_length=400, blank=True)
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = "audit event"
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.action}"
