"""Files that came with the lines of a conversation."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from handoff.contract import files, ids
from handoff.contract.kinds import Author
from handoff.models.agent import Agent
from handoff.models.conversation import Conversation, Message


class File(models.Model):
    """One upload. The row is there before its content, and outlives it: what is stored has a row
    that names it, whatever was killed in between.
    """

    public_id = models.CharField(max_length=40, unique=True, default=ids.file_id)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.SET_NULL, null=True, related_name="files"
    )
    """Null once the conversation is gone: then the content has to go as well."""
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="+")
    """Whose room it takes; it outlives the conversation."""
    message = models.ForeignKey(Message, on_delete=models.SET_NULL, null=True, related_name="files")
    """The line that it came with; null until it is said."""
    place = models.PositiveSmallIntegerField(db_default=0)
    """Among the files of its line, in the order in which they were sent."""
    uploaded_by = models.CharField(max_length=12, choices=[(a, a) for a in Author])
    name = models.CharField(max_length=files.NAME_MAX)
    type = models.CharField(max_length=100)
    size = models.PositiveIntegerField()
    """Bytes."""
    stored_as = models.CharField(max_length=100, unique=True)
    """Its random name in the storage."""
    created_at = models.DateTimeField(db_default=Now())
    stored_at = models.DateTimeField(null=True)
    """When all of its content was there; null before that."""
    deleted_at = models.DateTimeField(null=True)
    """When its content went."""

    class Meta:
        ordering = ("place", "id")
        indexes = [
            models.Index("created_at", condition=Q(deleted_at=None), name="file_kept"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_kept(self) -> bool:
        """Its content is there."""
        return self.stored_at is not None and self.deleted_at is None


class Shelf(models.Model):
    """How much the kept files of one agent take. Written with the rows that it counts."""

    agent = models.OneToOneField(
        Agent, on_delete=models.CASCADE, primary_key=True, related_name="shelf"
    )
    taken = models.PositiveBigIntegerField(default=0)
    """Bytes, each file with at least `contract.files.LEAST_BYTES`."""

    def __str__(self) -> str:
        return f"files of {self.agent_id}"
