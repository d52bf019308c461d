"""Files: stored under random names, said with a line, and deleted when their time is over."""

import datetime as dt
import logging
import secrets
import tempfile
from collections.abc import Collection, Sequence
from typing import IO, Final, Protocol

from django.conf import settings
from django.core.files import File as Content
from django.core.files.storage import storages
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce, Now

import audit.trail
from handoff.actions import throttle
from handoff.actions.events import locked
from handoff.actions.writing import writing
from handoff.contract import files
from handoff.contract.kinds import Author
from handoff.errors import DeskUnavailable, Invalid, NotFound, TooLarge
from handoff.models import Conversation, File, Message

log = logging.getLogger(__name__)
IN_MEMORY: Final = 512 * 1024
"""Bytes of an upload that are held in memory; what is over goes to a temporary file."""
MEGABYTE: Final = 1024 * 1024
UNSAID_HOURS: Final = 24
"""So long a file waits for the line that it comes with."""
UNFINISHED_HOURS: Final = 1
PRUNED_AT_ONCE: Final = 100


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def store(
    conversation: Conversation,
    *,
    by: Author,
    actor: str,
    name: str,
    content_type: str,
    content: Readable,
) -> File:
    """Take one file of a conversation, to be said with a line later.

    Reads block by block, and never more than a file may hold. Raises TooLarge, TooFast, Invalid
    for a type that is not taken or a conversation that is full, and DeskUnavailable for a disk
    that is.
    """
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as taken:
        size = _take(content, taken)
        kind = files.proved(taken, content_type, settings.FILE_TYPES)  # type: ignore[arg-type]
        if kind is None:
            _refuse(conversation, actor, "type", size)
            raise Invalid(
                "This file can't be taken. A desk takes files of these types, whose content is "
                f"what they say: {', '.join(settings.FILE_TYPES)}.",
                details={"types": list(settings.FILE_TYPES)},
            )
        throttle.take_file(conversation)
        row = _begin(conversation, by=by, actor=actor, name=files.named(name, kind), kind=kind,
                     size=size)  # fmt: skip
        taken.seek(0)
        try:
            stored_as = storages["files"].save(row.stored_as, Content(taken))
        except OSError as error:
            log.exception("a file could not be stored")
            raise DeskUnavailable from error
    with writing():
        File.objects.filter(pk=row.pk).update(stored_as=stored_as, stored_at=Now())
        _note("file.stored", row, actor=actor)
    row.refresh_from_db()
    return row


def _take(content: Readable, taken: IO[bytes]) -> int:
    size = 0
    while block := content.read(files.BLOCK):
        size += len(block)
        if size > files.FILE_BYTES:
            most = files.FILE_BYTES // MEGABYTE
            raise TooLarge(f"The file is too large: at most {most} MB are taken.")
        taken.write(block)
    return size


def _begin(
    conversation: Conversation, *, by: Author, actor: str, name: str, kind: str, size: int
) -> File:
    """The row, before there is content: what is stored is never without one."""
    full = ""
    with writing():
        row = locked(conversation.pk)
        kept = File.objects.filter(deleted_at=None)
        mine = kept.filter(conversation=row).aggregate(n=Count("pk"), size=Coalesce(Sum("size"), 0))
        every = kept.aggregate(size=Coalesce(Sum("size"), 0))["size"]
        if mine["n"] >= settings.FILES_PER_CONVERSATION:
            full = "number"
        elif mine["size"] + size > settings.FILES_MB_PER_CONVERSATION * MEGABYTE:
            full = "size"
        elif every + size > settings.FILES_MB * MEGABYTE:
            full = "desk"
        if not full:
            random = secrets.token_hex(16)
            return File.objects.create(
                conversation=row,
                uploaded_by=by,
                name=name,
                type=kind,
                size=size,
                stored_as=f"{random[:2]}/{random}",
            )
    _refuse(conversation, actor, full, size)
    raise Invalid(
        "The desk has no room for further files now."
        if full == "desk"
        else "This conversation holds as many files as it may."
    )


def attach(message: Message, ids: Sequence[str], *, by: Collection[Author]) -> None:
    """Say files with a line that was just written. Inside `writing()`, conversation locked.

    Raises NotFound unless each waits in this conversation and one of `by` uploaded it.
    """
    if not ids:
        return
    waiting = File.objects.filter(
        conversation=message.conversation_id,
        public_id__in=ids,
        uploaded_by__in=by,
        message=None,
        stored_at__isnull=False,
        deleted_at=None,
    )
    if waiting.update(message=message) != len(ids):
        raise NotFound(
            "No such file waits here: upload each to this conversation, and send it once."
        )
    message.has_files = True
    message.save(update_fields=["has_files"])


def delete(row: File, *, actor: str) -> None:
    """Delete the content of a file; the line keeps its name."""
    with writing():
        if _mark(File.objects.filter(pk=row.pk).values_list("pk", flat=True)[:1]):
            _note("file.deleted", row, actor=actor, reason="asked")
    _empty(row.pk)


def prune() -> int:
    """Delete what was never said, what its conversation left behind, and what is old; how many.

    Content that a killed process had marked and not deleted goes with it.
    """
    old = Now() - dt.timedelta(days=settings.FILES_DAYS)
    unsaid = Now() - dt.timedelta(hours=UNSAID_HOURS)
    unfinished = Now() - dt.timedelta(hours=UNFINISHED_HOURS)
    due = File.objects.filter(deleted_at=None).filter(
        Q(conversation=None)
        | Q(message=None, created_at__lt=unsaid)
        | Q(stored_at=None, created_at__lt=unfinished)
        | (Q(created_at__lt=old) if settings.FILES_DAYS else Q(pk__in=()))
    )
    for row in due.select_related("conversation__agent")[:PRUNED_AT_ONCE]:
        with writing():
            if _mark(due.filter(pk=row.pk).values_list("pk", flat=True)[:1]):
                _note("file.deleted", row, actor="desk", reason="pruned")
    marked = File.objects.filter(deleted_at__isnull=False, stored_at__isnull=False)
    done = 0
    for pk in list(marked.values_list("pk", flat=True)[:PRUNED_AT_ONCE]):
        _empty(pk)
        done += 1
    return done


def _mark(which: Collection[int]) -> bool:
    """Nobody is given it from here on. Inside `writing()`."""
    mine = File.objects.filter(pk__in=list(which), deleted_at=None)
    return mine.update(deleted_at=Now(), stored_at=Coalesce("stored_at", Now())) == 1


def _empty(pk: int) -> None:
    """Delete the content of a marked file, then note that it went: a repeat does no harm."""
    row = File.objects.filter(pk=pk, deleted_at__isnull=False, stored_at__isnull=False).first()
    if row is not None:
        storages["files"].delete(row.stored_as)
        with writing():
            File.objects.filter(pk=pk).update(stored_at=None)
            File.objects.filter(pk=pk, message=None).delete()


def _refuse(conversation: Conversation, actor: str, why: str, size: int) -> None:
    with writing():
        audit.trail.record(
            "file.refused",
            actor=actor,
            agent=conversation.agent.name,
            conversation=conversation.public_id,
            reason=why,
            details={"bytes": size},
        )


def _note(action: str, row: File, *, actor: str, reason: str = "") -> None:
    """Ids, a type and a size; a name may say too much."""
    conversation = row.conversation
    audit.trail.record(
        action,
        actor=actor,
        agent=conversation.agent.name if conversation else "",
        conversation=conversation.public_id if conversation else "",
        reason=reason,
        details={"file": row.public_id, "type": row.type, "bytes": row.size},
    )
