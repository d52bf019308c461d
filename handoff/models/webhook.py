"""Outgoing webhooks of an agent, what is sent again, and the log of their calls."""

from django.db import models
from django.db.models.functions import Now
from django.views.decorators.debug import sensitive_variables

from handoff.contract import ids
from handoff.contract.text import visible
from handoff.contract.webhooks import URL_MAX, CallKind, Fate, Payload, Stopped
from handoff.models.agent import Agent, Token
from handoff.models.line import LineField
from handoff.models.log import Event
from handoff.models.sealed import Unreadable, seal, unseal


class Webhook(models.Model):
    """One endpoint. Its queue is the agent's event log: `after` says how far it has come."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="webhooks")
    token = models.ForeignKey(
        Token,
        on_delete=models.RESTRICT,
        null=True,
        editable=False,
        related_name="webhooks",
    )
    """Whose word it is that it is called there: the one that gave its address or switched it on
    last. None: a person in the admin."""
    public_id = models.CharField(max_length=40, unique=True, default=ids.webhook_id, editable=False)
    url = models.CharField(max_length=URL_MAX)
    label = LineField(max_length=100, blank=True)
    event_types = models.JSONField(default=list, blank=True)
    """Names of EventType; empty for all."""
    payload = models.CharField(
        max_length=8, choices=[(kind, kind) for kind in Payload], default=Payload.FULL
    )
    enabled = models.BooleanField(default=True)
    stopped = models.CharField(
        max_length=20, blank=True, editable=False, choices=[(why, why) for why in Stopped]
    )
    """Why the desk switched it off by itself."""
    stopped_at = models.DateTimeField(null=True, editable=False)
    sealed_secret = models.TextField(editable=False)
    sealed_previous = models.TextField(blank=True, editable=False)
    previous_until = models.DateTimeField(null=True, editable=False)
    after = models.PositiveBigIntegerField(default=0, editable=False)
    """The number of the agent's newest event that needs no call any more."""
    tries = models.PositiveIntegerField(default=0, editable=False)
    failing_since = models.DateTimeField(null=True, editable=False)
    next_attempt_at = models.DateTimeField(db_default=Now(), editable=False)
    lease = models.PositiveBigIntegerField(null=True, editable=False)
    """The call that is under way; what an older one brings no longer counts."""
    lease_until = models.DateTimeField(null=True, editable=False)
    last_seconds = models.FloatField(default=0, editable=False)
    """How long its last call took."""
    last_success_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return visible(self.label) or self.public_id

    @sensitive_variables("secret")
    def keep_secret(self, secret: str) -> None:
        """Seal a new secret into this row, beside the one that it replaces; the caller saves it.

        One that no key opens any more is not kept.
        """
        try:
            unseal(self.sealed_secret)
        except Unreadable:
            self.sealed_secret = ""
        self.sealed_previous, self.sealed_secret = self.sealed_secret, seal({"secret": secret})

    def opened_secrets(self, *, both: bool) -> list[str]:
        """The secret, and the one before it when that still counts; raises sealed.Unreadable."""
        sealed = [self.sealed_secret, *([self.sealed_previous] if both else [])]
        return [str(unseal(text)["secret"]) for text in sealed if text]


class WebhookReplay(models.Model):
    """One event that a webhook is to get once more, before anything newer."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="replays")
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint("webhook", "event", name="webhook_replay_once")]

    def __str__(self) -> str:
        return f"{self.webhook_id} again"


class WebhookCall(models.Model):
    """One call, written before it is made."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="calls")
    kind = models.CharField(max_length=8, choices=[(kind, kind) for kind in CallKind])
    event = models.ForeignKey(Event, on_delete=models.CASCADE, null=True, related_name="+")
    type = models.CharField(max_length=32)
    message_id = models.CharField(max_length=40)
    """The `webhook-id`."""
    number = models.PositiveIntegerField(default=1)
    """The how-manieth try it is."""
    fate = models.CharField(
        max_length=16, choices=[(fate, fate) for fate in Fate], default=Fate.SENDING
    )
    status = models.PositiveIntegerField(null=True)
    seconds = models.FloatField(null=True)
    failure = models.CharField(max_length=400, blank=True)
    """What was heard, cut and redacted: for the admin alone."""
    at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        ordering = ("id",)
        verbose_name = "webhook call"

    def __str__(self) -> str:
        return f"{self.type} {self.message_id}"
