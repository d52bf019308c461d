"""What a recipient is told who wrote to us, in the recipient's language.

Nothing of what they wrote is repeated, and a release line that is wrong, of another channel or of
a handoff that has ended gets the same words.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext as _

from handoff.contract.limits import TURN_TEXT_MAX
from handoff.models import Channel
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


def cut() -> str:
    return _("That was long: the first %(count)d characters were passed on.") % {
        "count": TURN_TEXT_MAX
    }


def nothing_to_do() -> str:
    return _("There was nothing to pass on.")
