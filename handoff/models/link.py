"""Return links, and every set of entries that was sent through one."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from handoff.contract import ids
from handoff.models.session import Session


class ReturnLink(models.Model):
    """A minted return link. The signature is in the address; validity is in this row."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="links")
    link_id = models.CharField(max_length=40, unique=True, default=ids.link_id)
    minted_for = models.CharField(max_length=100, default="recipient")
    """`recipient`, `owner:<id>`, or the name of the colleague it was forwarded to."""
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    """When a person (a script in a browser, or a POST) first opened it; a GET does not count."""
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"return link {self.pk}"


class SubmissionKind(models.TextChoices):
    RETURN = "return", "The return"
    LATE = "late", "A late return"
    AMENDMENT = "amendment", "Kept beside the return"


class Submission(models.Model):
    """What one person sent, as typed: nothing that a human entered is discarded in silence."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="submissions")
    link = models.ForeignKey(ReturnLink, on_delete=models.SET_NULL, null=True, related_name="+")
    submission_id = models.CharField(max_length=40)
    """Random, made for each rendering of the form."""
    kind = models.CharField(max_length=12, choices=SubmissionKind.choices)
    entries = models.JSONField(default=dict)
    outcome = models.CharField(max_length=12, blank=True)
    note = models.TextField(blank=True)
    answered_by = models.CharField(max_length=100, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint("session", "submission_id", name="submission_once"),
            models.UniqueConstraint(
                "session",
                condition=~Q(kind=SubmissionKind.AMENDMENT),
                name="submission_one_counts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.session_id}"
