"""What a recipient is told who wrote to us, in the recipient's language.

Nothing of what they wrote is repeated, and a release line that is wrong, of another channel or of
a handoff that has ended gets the same words.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.utils.translation import gettext as _

from handoff.contract import files
from handoff.contract.files import Why
from handoff.contract.limits import TURN_TEXT_MAX
from handoff.models import Channel
from handoff.transports.inbound import Enclosed
from handoff.transports.recipient_place import place


@contextmanager
def spoken_in(channel: Channel) -> Iterator[None]:
    """The words within are for the recipient of this channel."""
    with place(channel.language, channel.timezone):
        yield


def passed_on() -> str:
    return _("Passed on to the visitor.")


def will_be_passed_on() -> str:
    return _("This will be passed on in a moment.")


def released() -> str:
    return _("Released. The assistant has been told.")


def answered_late() -> str:
    return _("Your answer went to the assistant; the visitor is with it.")


def closed() -> str:
    return _("This handoff has ended, so your message was not passed on.")


def detached() -> str:
    return _(
        "No visitor waits in this handoff, so your message was not passed on. Please use the form, "
        "or the release line with your answer after it."
    )


def which() -> str:
    return _(
        "More than one handoff is open here, so your message was not passed on. Please reply to "
        "the message that you mean, or use its form or its release line."
    )


def not_recognised() -> str:
    return _("That release line is not recognised. Nothing was released or passed on.")


def too_many_guesses() -> str:
    return _("Too many release lines were not right. Please try again later, or use the form.")


def too_many_replies() -> str:
    return _(
        "That is more than this handoff takes within an hour, so it was not passed on. "
        "Please use the form."
    )


def only_text() -> str:
    return _("Files are not passed on, only text.")


def not_carried(refused: Iterable[Enclosed], *, left_out: int) -> list[str]:
    """A sentence for each file that the visitor does not get; their names are cleaned."""
    told = [_of_file(file.refused) % {"file": files.shown(file.name)} for file in refused]
    if left_out:
        most = _("Files not passed on: %(count)d. One message takes 5 files and 10 MB in all.")
        told.append(most % {"count": left_out})
    return told


def _of_file(why: Why | None) -> str:
    if why == Why.TYPE:
        return _("%(file)s was not passed on: files of its type or content are not taken.")
    if why in (None, Why.STORAGE):
        return _("%(file)s was not passed on: it could not be stored. Please send it again later.")
    return _("%(file)s was not passed on: there is no room for further files.")


def cut() -> str:
    return _("That was long: the first %(count)d characters were passed on.") % {
        "count": TURN_TEXT_MAX
    }


def nothing_to_do() -> str:
    return _("There was nothing to pass on.")
