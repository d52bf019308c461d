"""Conversations, what was said in them, and the tickets that open their sockets."""

from django.db import models
from django.db.models.functions import Now

from handoff.contract import ids, limits
from handoff.contract.kinds import Author, RoutedTo
from handoff.models.agent import Agent


class Conversation(models.Model):
    """The thread between one subscriber and one agent. Its row is the first lock of every write."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="conversations")
    public_id = models.CharField(max_length=40, unique=True, default=ids.conversation_id)
    external_id = models.CharField(max_length=limits.EXTERNAL_ID_MAX)
    subscriber_name = models.CharField(max_length=limits.NAME_MAX, blank=True)
    subscriber_email = models.EmailField(blank=True)
    subscriber_locale = models.CharField(max_length=20, blank=True)
    last_event_id = models.PositiveBigIntegerField(default=0)
    """The number of its newest event."""
    acknowledged_event_id = models.PositiveBigIntegerField(default=0)
    """Resume notes up to this event are known to the agent."""
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint("agent", "external_id", name="conversation_external_id"),
        ]

    def __str__(self) -> str:
        return self.public_id


class Message(models.Model):
    """One line. Its routing is decided once, under the conversation's row lock."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    public_id = models.CharField(max_length=40, unique=True, default=ids.message_id)
    event_id = models.PositiveBigIntegerField()
    """The conversation's event number of its `message.created`."""
    client_id = models.CharField(max_length=limits.CLIENT_ID_MAX, null=True)  # noqa: DJ001
    """The sender's own id of this turn; null for what the desk writes itself."""
    author = models.CharField(max_length=12, choices=[(a, a) for a in Author])
    name = models.CharField(max_length=limits.NAME_MAX, blank=True)
    text = models.TextField()
    routed_to = models.CharField(  # noqa: DJ001
        max_length=12, null=True, choices=[(r, r) for r in RoutedTo]
    )
    superseded = models.BooleanField(default=False)
    """An agent's line that came during a bypass: kept, and shown to nobody."""
    note_type = models.CharField(max_length=32, blank=True)
    """For a resume note or a late-return note: the type of the event that it came with."""
    undelivered = models.BooleanField(default=False)
    """A subscriber's line that was still waiting for the recipient when the handoff ended."""
    has_files = models.BooleanField(default=False, db_default=False)
    """Whether files came with it: what most lines have none of is looked for in the others only."""
    session = models.ForeignKey(
        "handoff.Session", on_delete=models.SET_NULL, null=True, related_name="messages"
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("event_id",)
        constraints = [
            models.UniqueConstraint("conversation", "event_id", name="message_event_id"),
            models.UniqueConstraint("conversation", "author", "client_id", name="message_once"),
        ]

    def __str__(self) -> str:
        return self.public_id


class Ticket(models.Model):
    """A minted socket ticket, so that it opens a socket once."""

    digest = models.CharField(max_length=64, unique=True)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=12)
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"ticket of {self.conversation_id}"
