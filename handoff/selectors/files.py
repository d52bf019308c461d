"""Who may fetch which file, and what a recipient's line says of those that came with it."""

import datetime as dt
import logging
from collections.abc import Iterator
from functools import partial
from typing import IO, Final

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from handoff import links
from handoff.contract import ids, limits
from handoff.contract.kinds import SessionStatus
from handoff.contract.text import one_line
from handoff.errors import DeskUnavailable, NotFound
from handoff.models import Agent, File, Message, Session
from handoff.outbound import filestore
from handoff.selectors import payloads
from handoff.transports.base import AttachedFile

log = logging.getLogger(__name__)
GONE: Final = "There is no such file."
"""The same for one that never was, one that went, and one that the caller may not see."""
VIEW_MINUTES: Final = 5


def kept() -> QuerySet[File]:
    """The files whose content is there."""
    return File.objects.select_related("conversation__agent", "message").filter(
        deleted_at=None, stored_at__isnull=False
    )


def for_agent(agent: Agent, public_id: str) -> File:
    """A file of the agent's conversations, or one that was said in a handoff that it holds now.

    Raises NotFound.
    """
    held = Q(message__session__target=agent, message__session__status=SessionStatus.ACTIVE)
    return _one(kept().filter(Q(conversation__agent=agent) | held), public_id)


def own(agent: Agent, public_id: str) -> File:
    """A file of the agent's own conversations; raises NotFound."""
    return _one(kept().filter(conversation__agent=agent), public_id)


def for_owner(user_pk: int, public_id: str) -> File:
    """A file of a conversation whose agent this user owns; raises NotFound."""
    agents = Agent.objects.filter(owners=user_pk)
    return _one(kept().filter(conversation__agent__in=agents), public_id)


def in_conversation(conversation_pk: int, public_id: str) -> File:
    """A file that was said in a conversation, to whom its ticket let in; raises NotFound."""
    said = kept().filter(conversation=conversation_pk, message__superseded=False)
    return _one(said, public_id)


def by_token(token: str) -> File:
    """The file that a signed address names, until its time is over; raises NotFound."""
    read = links.read_file_token(token)
    if read is None:
        raise NotFound(GONE)
    public_id, until = read
    try:
        moment = dt.datetime.fromtimestamp(until, dt.UTC)
    except (ValueError, OSError, OverflowError):
        raise NotFound(GONE) from None
    # the database's clock decides
    return _one(kept().annotate(now=Now()).filter(now__lt=moment), public_id)


def _one(rows: QuerySet[File], public_id: str) -> File:
    row = rows.filter(public_id=public_id).first() if ids.is_public(public_id) else None
    if row is None:
        raise NotFound(GONE)
    return row


def opened(row: File) -> IO[bytes]:
    """Its content, to be read block by block.

    Raises NotFound when the storage lost it, and DeskUnavailable when that can't say.
    """
    try:
        return filestore.opened(row.stored_as)
    except FileNotFoundError:
        raise NotFound(GONE) from None
    except OSError as error:
        log.exception("a file could not be opened")
        raise DeskUnavailable from error


def view_url(row: File) -> str:
    """A signed address that is good for a few minutes."""
    until = timezone.now() + dt.timedelta(minutes=VIEW_MINUTES)
    return links.file_url(row.public_id, until=int(until.timestamp()))


def said_with(message: Message, session: Session) -> str:
    """What stands below a line for a recipient: each file that is kept, with a signed address.

    "" without files. The addresses live as long as the handoff's return link.
    """
    if not message.has_files:
        return ""
    until = payloads.return_until(session) or timezone.now() + dt.timedelta(hours=limits.LINK_HOURS)
    return "".join(f"\n{line}" for line in _listed(message, int(until.timestamp())))


def attachments(message: Message) -> Iterator[AttachedFile]:
    """What a transport may send along with a line."""
    for row in _kept_with(message):
        yield AttachedFile(
            name=row.name,
            type=row.type,
            size=row.size,
            read=partial(filestore.read, row.stored_as),
        )


def _listed(message: Message, until: int) -> Iterator[str]:
    for row in _kept_with(message):
        size = filesizeformat(row.size).replace("\xa0", " ")
        url = links.file_url(row.public_id, until=until)
        yield f"{one_line(row.name)} ({size}): {url}"


def _kept_with(message: Message) -> list[File]:
    """Of a line that `payloads.with_files()` had, without a query."""
    return [row for row in message.files.all() if row.is_kept] if message.has_files else []
