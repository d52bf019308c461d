"""The files that an owner sends with a reply."""

from typing import IO, TYPE_CHECKING, Any, cast

from django.utils.translation import gettext as _

from handoff.actions.files import store
from handoff.contract.files import FILES_PER_MESSAGE
from handoff.contract.kinds import Author
from handoff.errors import HandoffError, TooFast, TooLarge
from handoff.inbox.pages import OwnerRequest
from handoff.models import Conversation, Session

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile


class NotTaken(Exception):
    """One of the files can't be sent; the text is for the owner."""


def keep(request: OwnerRequest, session: Session) -> list[str]:
    """The ids of the files in the form, each stored; raises NotTaken for the first that is not."""
    sent = request.FILES.getlist("files")
    if not sent or session.conversation is None:
        return []
    if len(sent) > FILES_PER_MESSAGE:
        raise NotTaken(_("Not sent: at most %d files at once.") % FILES_PER_MESSAGE)
    place = Conversation.objects.select_related("agent").get(pk=session.conversation.pk)
    return [_keep(request, place, file) for file in sent]


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
    except HandoffError as error:
        words = _("Not sent, because of %(file)s: %(why)s")
        raise NotTaken(words % {"file": file.name, "why": error.sentence}) from error
    return row.public_id
