"""The ordered event log, the outbox, inbound provider events and idempotency records."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from handoff.contract import limits
from handoff.contract.kinds import EventType
from handoff.models.agent import Agent
from handoff.models.channel import Channel
from handoff.models.conversation import Conversation, Message
from handoff.models.session import Session


class Event(models.Model):
    """One entry of an agent's event log. It holds ids; its body is built when it is read."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="events")
    number = models.PositiveBigIntegerField()
    """Counts up without gaps for each agent, in commit order."""
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, null=True, related_name="events"
    )
    conversation_number = models.PositiveBigIntegerField(null=True)
    type = models.CharField(max_length=32, choices=[(t, t) for t in EventType])
    session = models.ForeignKey(Session, on_delete=models.CASCADE, null=True, related_name="events")
    message = models.ForeignKey(Message, on_delete=models.CASCADE, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("agent", "number")
        constraints = [
            models.UniqueConstraint("agent", "number", name="event_number"),
            models.UniqueConstraint(
                "conversation", "conversation_number", name="event_conversation_number"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.type}"


class DeliveryKind(models.TextChoices):
    LINE = "line", "A subscriber's line"
    CLOSED = "closed", "Tells the recipient that it ended"


class DeliveryStatus(models.TextChoices):
    DUE = "due", "Due"
    DONE = "done", "Done"
    FAILED = "failed", "Given up"
    DROPPED = "dropped", "No longer wanted"


class Delivery(models.Model):
    """One thing to tell a recipient: the outbox. Due rows are the queue; tasks only run them."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=8, choices=DeliveryKind.choices)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, null=True, related_name="+")
    status = models.CharField(
        max_length=8, choices=DeliveryStatus.choices, default=DeliveryStatus.DUE
    )
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField(null=True)
    """Somebody is sending it until then."""
    provider_message_id = models.CharField(max_length=255, blank=True)
    failure_kind = models.CharField(max_length=40, blank=True)
    failure = models.CharField(max_length=400, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint("session", "kind", "message", name="delivery_once"),
            models.UniqueConstraint(
                "session", condition=Q(kind=DeliveryKind.CLOSED), name="delivery_closed_once"
            ),
        ]
        indexes = [
            models.Index(
                "next_attempt_at", condition=Q(status=DeliveryStatus.DUE), name="delivery_due"
            ),
            models.Index(
                "provider_message_id",
                condition=~Q(provider_message_id=""),
                name="delivery_provider_id",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.session_id}"


class InboundEvent(models.Model):
    """What a provider delivered to us; its key makes a second delivery a no-op.

    Kept before the provider is answered, applied after; due until `processed_at`.
    """

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    body = models.TextField(blank=True)
    """The event as JSON (`transports.inbound`); empty for a further key of the same event."""
    session = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, related_name="+")
    """The handoff that it was about, once known."""
    outcome = models.CharField(max_length=40, blank=True)
    """What became of it, as a code."""
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_default=Now())
    answer = models.TextField(blank=True)
    """A sentence that the sender is owed; sent at most once."""
    answered_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(db_default=Now(), db_index=True)
    processed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint("channel", "key", name="inbound_event_once")]
        indexes = [
            models.Index(
                "next_attempt_at", condition=Q(processed_at=None), name="inbound_event_due"
            ),
            models.Index(
                "processed_at",
                condition=Q(answered_at=None) & ~Q(answer=""),
                name="inbound_event_owes",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class IdempotencyRecord(models.Model):
    """One contact for one key: inserted in the transaction that writes the intent."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    tool = models.CharField(max_length=64)
    key = models.CharField(max_length=limits.IDEMPOTENCY_KEY_MAX + 80)
    request_hash = models.CharField(max_length=64)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, null=True, related_name="+")
    """The handoff that answers for the key."""
    answer = models.JSONField(null=True)
    """What was answered, of a tool that makes no session; null until it is."""
    created_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint("agent", "tool", "key", name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.tool} {self.pk}"
