"""Handoff sessions and their attempts; the database holds their invariants."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from handoff.contract import ids
from handoff.contract.kinds import (
    OPEN,
    AttemptStatus,
    Outcome,
    ReleaseKind,
    SessionStatus,
    Urgency,
)
from handoff.models.agent import Agent
from handoff.models.channel import Channel
from handoff.models.conversation import Conversation

_ALWAYS = Q()
ENDED = Coalesce("returned_at", "released_at", "created_at")
"""When something last came of a handoff that is done."""


class SessionQuerySet(models.QuerySet["Session"]):
    def advance(
        self, pk: int, *, old: frozenset[SessionStatus], where: Q = _ALWAYS, **fields: Any
    ) -> bool:
        """Move one session along one edge in one UPDATE; False when somebody else got there first.

        `fields` holds the new `status` and what changes with it; `where` is decided inside the
        same statement. This is the one place where a status is written.
        """
        return self.filter(where, pk=pk, status__in=old).update(**fields) == 1


class Session(models.Model):
    """One handoff from request to release."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="sessions")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, null=True, blank=True, related_name="sessions"
    )
    """None for a detached session: no bypass, only the return clock."""
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="sessions")
    public_id = models.CharField(max_length=40, unique=True, default=ids.session_id)
    status = models.CharField(
        max_length=12, choices=[(s, s) for s in SessionStatus], default=SessionStatus.DISPATCHING
    )
    run = models.CharField(max_length=255, blank=True)
    target = models.ForeignKey(
        Agent, on_delete=models.PROTECT, null=True, blank=True, related_name="held"
    )
    """The sibling agent that it was given to; None when the recipient is a person."""
    parent = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    """The handoff on whose behalf a sibling asked for this one."""
    depth = models.PositiveSmallIntegerField(default=0)
    """Which hop between agents it is, counted from 1; 0 when the recipient is a person."""
    claimed_at = models.DateTimeField(null=True, blank=True)
    """When the sibling took it on."""

    summary = models.TextField()
    expected_action = models.TextField()
    urgency = models.CharField(
        max_length=8, choices=[(u, u) for u in Urgency], default=Urgency.NORMAL
    )
    contact_back_email = models.EmailField(blank=True)
    include_transcript = models.BooleanField(default=True)
    extra_context = models.JSONField(default=list)
    """Pairs of key and value, in the agent's order."""
    expected_return = models.JSONField(default=list)
    """The fields as the contract writes them; `fields()` opens them."""
    transcript_until = models.PositiveBigIntegerField(default=0)
    """The conversation's newest event when the handoff was asked for."""

    release_token = models.CharField(max_length=20, unique=True, default=ids.release_token)
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    """The owner who works on it."""
    joined_name = models.CharField(max_length=100, blank=True)
    """Who spoke first on the recipient's side; empty until somebody did."""
    recipient_active_at = models.DateTimeField(db_default=Now())
    """When the recipient last did something: the idle clock counts from here."""

    release = models.CharField(max_length=16, blank=True, choices=[(r, r) for r in ReleaseKind])
    outcome = models.CharField(max_length=12, blank=True, choices=[(o, o) for o in Outcome])
    message = models.TextField(blank=True)
    """The words in the first line of the resume note."""
    note = models.TextField(blank=True)
    """What the person wrote in the note field, line breaks kept."""
    answered_by = models.CharField(max_length=100, blank=True)
    returned = models.JSONField(null=True, blank=True)
    """`Returned.as_json()` of the first return that counted; None when nothing came back."""
    late = models.BooleanField(default=False)
    """The values came after the release, or for a session whose dispatch was unknown."""
    was_unknown = models.BooleanField(default=False)
    """It had not been known whether the recipient was reached when the answer came."""
    unreachable = models.BooleanField(default=False)
    """A `lost` sibling that can no longer be reached, rather than one that never answered."""
    released_at = models.DateTimeField(null=True, blank=True)
    returned_at = models.DateTimeField(null=True, blank=True)
    """When the values came: at the release, or later for a late return."""
    created_at = models.DateTimeField(db_default=Now())

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                "conversation", condition=Q(status__in=OPEN), name="session_one_open"
            ),
            models.CheckConstraint(
                condition=Q(status__in=list(SessionStatus)), name="session_status"
            ),
            models.CheckConstraint(
                condition=Q(status=SessionStatus.RELEASED, released_at__isnull=False)
                | (~Q(status=SessionStatus.RELEASED) & Q(released_at=None)),
                name="session_released_at",
            ),
            models.CheckConstraint(
                condition=(Q(status=SessionStatus.RELEASED) & Q(release__in=list(ReleaseKind)))
                | (~Q(status=SessionStatus.RELEASED) & Q(release="")),
                name="session_release",
            ),
            models.CheckConstraint(
                condition=Q(late=False) | Q(returned_at__isnull=False), name="session_late_return"
            ),
        ]
        indexes = [
            models.Index(
                "recipient_active_at",
                condition=Q(status=SessionStatus.ACTIVE),
                name="session_idle_clock",
            ),
            # the groups of the inbox
            models.Index("status", "created_at", "agent", name="session_by_status"),
            models.Index("agent", "returned_at", condition=Q(late=True), name="session_late"),
            models.Index(ENDED.desc(), F("id").desc(), "agent", name="session_by_end"),
        ]

    def __str__(self) -> str:
        return self.public_id


class Attempt(models.Model):
    """One try at dispatching a session, written before the provider is called."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="attempts")
    public_id = models.CharField(max_length=40, unique=True, default=ids.attempt_id)
    number = models.PositiveIntegerField(default=1)
    status = models.CharField(
        max_length=10, choices=[(s, s) for s in AttemptStatus], default=AttemptStatus.SENDING
    )
    provider_message_id = models.CharField(max_length=255, blank=True)
    thread_key = models.CharField(max_length=255, blank=True)
    failure_kind = models.CharField(max_length=40, blank=True)
    failure = models.CharField(max_length=400, blank=True)
    delivery = models.CharField(max_length=12, blank=True)
    """A provider's later word: delivered, read or bounced."""
    delivery_at = models.DateTimeField(null=True)
    at = models.DateTimeField(db_default=Now(), db_index=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("session", "number")
        constraints = [
            models.UniqueConstraint("session", "number", name="attempt_number"),
            models.CheckConstraint(
                condition=Q(status__in=list(AttemptStatus)), name="attempt_status"
            ),
            models.CheckConstraint(
                condition=Q(status=AttemptStatus.SENDING, finished_at=None)
                | (~Q(status=AttemptStatus.SENDING) & Q(finished_at__isnull=False)),
                name="attempt_finished_at",
            ),
        ]
        indexes = [
            models.Index(
                "at", condition=Q(status=AttemptStatus.SENDING), name="attempt_unresolved"
            ),
            # what comes back from a provider names them
            models.Index(
                "provider_message_id",
                condition=~Q(provider_message_id=""),
                name="attempt_provider_id",
            ),
            models.Index("thread_key", condition=~Q(thread_key=""), name="attempt_thread"),
        ]

    def __str__(self) -> str:
        return self.public_id
