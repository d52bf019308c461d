"""Agents, and the tokens they call with."""

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Now

from handoff.contract.text import visible
from handoff.models.line import LineField


class Agent(models.Model):
    """A bot that may hand conversations over. Its `name` is what the trail calls it."""

    name = models.CharField(
        max_length=64,
        unique=True,
        validators=[
            RegexValidator(
                r"^[a-z0-9][a-z0-9_-]*$", "Use lower-case letters, digits, hyphens and underscores."
            )
        ],
        help_text="Lower-case letters, digits, hyphens. It can't be changed later.",
    )
    display_name = LineField(
        max_length=100, blank=True, help_text="What people see. Empty: the name."
    )
    enabled = models.BooleanField(default=True)
    owners = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="agents",
        help_text="They look after this agent and see its inbox.",
    )
    allowed_origins = models.JSONField(
        default=list,
        blank=True,
        help_text='Origins that may embed its chat, such as ["https://shop.example"]. '
        "Empty: only this desk's own pages.",
    )
    last_event_id = models.PositiveBigIntegerField(default=0, editable=False)
    """The number of its newest event; the last lock a transaction takes."""
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return visible(self.display_name or self.name)


class Token(models.Model):
    """One API token: `hd_<public id>_<secret>`. Only the digest of the secret is kept."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="tokens")
    public_id = models.CharField(max_length=8, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    """SHA-256 of the secret part, in hex."""
    label = LineField(max_length=100, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"hd_{self.public_id}_…"
