"""How much room files take: counted for each agent as they come and go, never summed up."""

from typing import Final

from django.conf import settings
from django.db.models import Count, F, Sum
from django.db.models.functions import Coalesce, Greatest

from handoff.contract import files
from handoff.contract.files import Why
from handoff.models import Conversation, File, Shelf

MEGABYTE: Final = 1024 * 1024


def take(conversation: Conversation, size: int) -> Why | None:
    """Count a new file of so many bytes in; else say why there is no room for it.

    Inside `writing()`, conversation locked. An agent's share is exact; the desk's is missed by no
    more than what other agents begin at the same moment.
    """
    cost = files.charged(size)
    held = File.objects.filter(conversation=conversation, deleted_at=None).aggregate(
        number=Count("pk"), size=Coalesce(Sum(Greatest("size", files.LEAST_BYTES)), 0)
    )
    if held["number"] >= settings.FILES_PER_CONVERSATION:
        return Why.NUMBER
    if held["size"] + cost > settings.FILES_MB_PER_CONVERSATION * MEGABYTE:
        return Why.SIZE
    every = Shelf.objects.aggregate(taken=Coalesce(Sum("taken"), 0))["taken"]
    if every + cost > settings.FILES_MB * MEGABYTE:
        return Why.DESK
    shelf, _ = Shelf.objects.get_or_create(agent=conversation.agent)
    room = settings.FILES_MB_PER_AGENT * MEGABYTE - cost
    fits = Shelf.objects.filter(pk=shelf.pk, taken__lte=room).update(taken=F("taken") + cost)
    return None if fits else Why.AGENT


def give_back(row: File) -> None:
    """Count a file out that was just marked as deleted. In the transaction that marked it."""
    left = Greatest(F("taken") - files.charged(row.size), 0)
    Shelf.objects.filter(agent=row.agent_id).update(taken=left)
