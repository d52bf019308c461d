"""The files that an owner sends with a reply."""

import contextlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, cast

from django.conf import settings
from django.utils.translation import gettext as _

from handoff.actions.files import NotStored, Unwanted, drop_unsaid, store
from handoff.contract.files import FILES_PER_MESSAGE, Why
from handoff.contract.kinds import Author
from handoff.errors import TooFast, TooLarge
from handoff.inbox.pages import OwnerRequest
from handoff.models import Conversation, Session

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile


class NotTaken(Exception):
    """One of the files can't be sent; the text is for the owner."""


@contextlib.contextmanager
def kept(request: OwnerRequest, session: Session, *, client_id: str) -> Iterator[list[str]]:
    """The ids of the files in the form, each stored, for a reply that is said inside.

    Raises NotTaken for the first that is not. What the reply did not say is not kept, and of a
    form that was sent before nothing is stored again.
    """
    ids: list[str] = []
    try:
        ids.extend(_stored(request, session, client_id))  # those before one that is not taken, too
        yield ids
    finally:
        drop_unsaid(ids, actor=f"owner:{request.user.pk}")


def _stored(request: OwnerRequest, session: Session, client_id: str) -> Iterator[str]:
    sent = request.FILES.getlist("files")
    if not sent or session.conversation is None:
        return
    place = Conversation.objects.select_related("agent").get(pk=session.conversation.pk)
    if place.messages.filter(author=Author.PERSON, client_id=client_id).exists():
        return
    if len(sent) > FILES_PER_MESSAGE:
        raise NotTaken(_("Not sent: at most %d files at once.") % FILES_PER_MESSAGE)
    for file in sent:
        yield _keep(request, place, file)


def _keep(request: OwnerRequest, place: Conversation, file: "UploadedFile[Any]") -> str:
    try:
        row = store(
            place,
            by=Author.PERSON,
            actor=f"owner:{request.user.pk}",
            name=file.name or "",
            content_type=file.content_type or "",
            content=cast("IO[bytes]", file),
        )
    except TooLarge as error:
        raise NotTaken(_("Not sent: a file holds at most 10 MB.")) from error
    except TooFast as error:
        raise NotTaken(_("Not sent: too many files at once. Try again in a minute.")) from error
    except NotStored as error:
        raise NotTaken(_words(Why.STORAGE, file)) from error
    except Unwanted as error:
        raise NotTaken(_words(error.why, file)) from error
    return row.public_id


def _words(why: Why, file: "UploadedFile[Any]") -> str:
    told = {
        Why.TYPE: _(
            "Not sent: %(file)s can't be taken. Its content has to be of the type that it says, "
            "and that one of these: %(types)s."
        ),
        Why.NUMBER: _("Not sent: this conversation holds as many files as it may."),
        Why.SIZE: _("Not sent: this conversation holds as many files as it may."),
        Why.AGENT: _("Not sent: this agent has no room for further files."),
        Why.DESK: _("Not sent: the desk has no room for further files."),
        Why.STORAGE: _("Not sent: %(file)s could not be stored. Try again in a minute."),
    }
    return told[why] % {"file": file.name, "types": ", ".join(settings.FILE_TYPES)}
