"""Files: stored under random names, said with a line, and deleted when their time is over."""

import datetime as dt
import logging
import secrets
import tempfile
from collections.abc import Collection, Sequence
from typing import IO, Any, Final, Protocol

from django.conf import settings
from django.db.models import Case, Q, QuerySet, When
from django.db.models.functions import Coalesce, Now

import audit.trail
from handoff.actions import shelves, throttle
from handoff.actions.events import locked
from handoff.actions.writing import writing
from handoff.contract import files
from handoff.contract.files import Why
from handoff.contract.kinds import Author
from handoff.errors import DeskUnavailable, Invalid, NotFound, TooLarge
from handoff.models import Conversation, File, Message
from handoff.outbound import filestore

log = logging.getLogger(__name__)
IN_MEMORY: Final = 512 * 1024
"""Bytes of an upload that are held in memory; what is over goes to a temporary file."""
UNSAID_HOURS: Final = 24
"""So long a file waits for the line that it comes with."""
UNFINISHED_HOURS: Final = 1
PRUNED_AT_ONCE: Final = 100
_FULL: Final = {
    Why.NUMBER: "This conversation holds as many files as it may.",
    Why.SIZE: "This conversation holds as many files as it may.",
    Why.AGENT: "This agent has no room for further files now. It can delete some.",
    Why.DESK: "The desk has no room for further files now.",
}


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Unwanted(Invalid):
    """A file that is not taken; `why` is for doors that have words of their own."""

    def __init__(self, why: Why, sentence: str, **details: Any) -> None:
        super().__init__(sentence, details=details)
        self.why = why


class NotStored(DeskUnavailable):
    """The storage did not take a file; nothing of it is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.sentence = "The file could not be stored. Nothing was sent: try again in a moment."


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

    Reads block by block, and never more than a file may hold. Raises TooLarge, TooFast, Unwanted
    for a type that is not taken or where there is no room, and NotStored.
    """
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as taken:
        size = _take(content, taken)
        kind = files.proved(taken, content_type, settings.FILE_TYPES)  # type: ignore[arg-type]
        if kind is None:
            _refuse(conversation, actor, Why.TYPE, size)
            raise Unwanted(
                Why.TYPE,
                "This file can't be taken. A desk takes files of these types, whose content is "
                f"what they say: {', '.join(settings.FILE_TYPES)}.",
                types=list(settings.FILE_TYPES),
            )
        throttle.take_file(conversation)
        row = _begin(conversation, by=by, actor=actor, name=files.named(name, kind), kind=kind,
                     size=size)  # fmt: skip
        taken.seek(0)
        try:
            _keep(row, filestore.save(row.stored_as, taken), actor=actor)
        except OSError as error:
            log.exception("a file could not be stored")
            _give_up(row, actor=actor)
            raise NotStored from error
    row.refresh_from_db()
    return row


def _keep(row: File, stored_as: str, *, actor: str) -> None:
    """Its content is there. Raises OSError for one that was pruned meanwhile, as unfinished."""
    with writing():
        mine = File.objects.filter(pk=row.pk, deleted_at=None)
        kept = mine.update(stored_as=stored_as, stored_at=Now())
        if kept:
            _note("file.stored", row, actor=actor)
    if not kept:
        filestore.delete(stored_as)
        raise TimeoutError("the storage took longer than a file may be unfinished")


def _give_up(row: File, *, actor: str) -> None:
    """What the storage has of it, if anything, goes with the next round."""
    with writing():
        _mark(File.objects.all(), row)
        if row.conversation is not None:
            _refuse(row.conversation, actor, Why.STORAGE, row.size)


def _take(content: Readable, taken: IO[bytes]) -> int:
    size = 0
    while block := content.read(files.BLOCK):
        size += len(block)
        if size > files.FILE_BYTES:
            most = files.FILE_BYTES // shelves.MEGABYTE
            raise TooLarge(f"The file is too large: at most {most} MB are taken.")
        taken.write(block)
    return size


def _begin(
    conversation: Conversation, *, by: Author, actor: str, name: str, kind: str, size: int
) -> File:
    """The row, before there is content: what is stored is never without one."""
    with writing():
        row = locked(conversation.pk)
        full = shelves.take(row, size)
        if full is None:
            random = secrets.token_hex(16)
            return File.objects.create(
                conversation=row,
                agent=row.agent,
                uploaded_by=by,
                name=name,
                type=kind,
                size=size,
                stored_as=f"{random[:2]}/{random}",
            )
    _refuse(conversation, actor, full, size)
    raise Unwanted(full, _FULL[full])


def attach(message: Message, ids: Sequence[str], *, by: Collection[Author]) -> None:
    """Say files with a line that was just written, in this order.

    Inside `writing()`, conversation locked. Raises NotFound unless each waits in this conversation
    and one of `by` uploaded it.
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
    place = Case(*(When(public_id=one, then=number) for number, one in enumerate(ids)))
    if waiting.update(message=message, place=place) != len(ids):
        raise NotFound(
            "No such file waits here: upload each to this conversation, and send it once."
        )
    message.has_files = True
    message.save(update_fields=["has_files"])


def delete(row: File, *, actor: str) -> None:
    """Delete the content of a file; the line keeps its name.

    Nobody is given it from here on, even where the storage can't delete it now.
    """
    with writing():
        if _mark(File.objects.all(), row):
            _note("file.deleted", row, actor=actor, reason="asked")
    _emptied(row.pk, row.public_id)


def drop_unsaid(ids: Sequence[str], *, actor: str) -> None:
    """Delete those of these files that no line came with."""
    unsaid = File.objects.filter(public_id__in=ids, message=None)
    for row in unsaid.select_related("conversation__agent") if ids else ():
        with writing():
            dropped = _mark(unsaid, row)
            if dropped:
                _note("file.deleted", row, actor=actor, reason="unsaid")
        if dropped:
            _emptied(row.pk, row.public_id)


def prune() -> int:
    """Delete what was never said, what its conversation left behind, and what is old; how many.

    Content that a killed process had marked and not deleted goes with it. What the storage does
    not delete is logged and tried again, and holds up nothing else.
    """
    due = _due()
    for row in due.select_related("conversation__agent")[:PRUNED_AT_ONCE]:
        with writing():
            if _mark(due, row):
                _note("file.deleted", row, actor="desk", reason="pruned")
    marked = File.objects.filter(deleted_at__isnull=False, stored_at__isnull=False)
    # in any order: those that can't be deleted must not always be the first
    chosen = marked.order_by("?").values_list("pk", "public_id")[:PRUNED_AT_ONCE]
    return sum(_emptied(pk, public_id) for pk, public_id in list(chosen))


def _due() -> QuerySet[File]:
    old = Now() - dt.timedelta(days=settings.FILES_DAYS)
    unsaid = Now() - dt.timedelta(hours=UNSAID_HOURS)
    unfinished = Now() - dt.timedelta(hours=UNFINISHED_HOURS)
    return File.objects.filter(deleted_at=None).filter(
        Q(conversation=None)
        | Q(message=None, created_at__lt=unsaid)
        | Q(stored_at=None, created_at__lt=unfinished)
        | (Q(created_at__lt=old) if settings.FILES_DAYS else Q(pk__in=()))
    )


def _mark(which: QuerySet[File], row: File) -> bool:
    """Nobody is given it from here on; False when it is not among `which` any more.

    Inside `writing()`. One UPDATE decides: a file that is said at this moment is not unsaid.
    """
    mine = which.filter(pk=row.pk, deleted_at=None)
    if not mine.update(deleted_at=Now(), stored_at=Coalesce("stored_at", Now())):
        return False
    shelves.give_back(row)
    return True


def _emptied(pk: int, public_id: str) -> bool:
    try:
        _empty(pk)
    except OSError as error:
        log.error("the content of %s could not be deleted: %s", public_id, error)
        return False
    return True


def _empty(pk: int) -> None:
    """Delete the content of a marked file, then note that it went: a repeat does no harm.

    Raises OSError.
    """
    row = File.objects.filter(pk=pk, deleted_at__isnull=False, stored_at__isnull=False).first()
    if row is not None:
        filestore.delete(row.stored_as)
        with writing():
            File.objects.filter(pk=pk).update(stored_at=None)
            File.objects.filter(pk=pk, message=None).delete()


def _refuse(conversation: Conversation, actor: str, why: Why, size: int) -> None:
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
