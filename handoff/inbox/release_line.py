"""The line of a dispatch, `/release TOKEN`, which its recipient gave to an owner."""

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from handoff.actions.release_by_token import Became, Done, release_as_owner_by_token
from handoff.contract.commands import ReleaseCommand
from handoff.contract.kinds import Outcome
from handoff.errors import NotFound, TooFast
from handoff.inbox.pages import OwnerRequest, Typed, address, own_name, show, thread_of
from handoff.models import Session
from handoff.selectors import inboxwords


def obey(
    request: OwnerRequest,
    session: Session,
    command: ReleaseCommand,
    typed: Typed,
    *,
    outcome: Outcome = Outcome.RESOLVED,
    only_this: bool = False,
) -> HttpResponse:
    """End the handoff that the line names and go to its page; `session` is where it was typed.

    It may be any handoff of the owner's agents, unless `only_this`. What cannot be obeyed stands
    in its field again, and is said to nobody.
    """
    try:
        done = release_as_owner_by_token(
            command,
            user_pk=request.user.pk,
            name=own_name(request),
            outcome=outcome,
            only=session.pk if only_this else None,
        )
    except NotFound:
        problem = _("That release line is not recognised. Nothing was released or sent.")
        return _refused(request, session, problem, typed, HTTPStatus.UNPROCESSABLE_ENTITY)
    except TooFast as error:
        problem = ngettext(
            "Too many release lines were not right. Try again in %(count)d second.",
            "Too many release lines were not right. Try again in %(count)d seconds.",
            error.retry_after,
        ) % {"count": error.retry_after}
        response = _refused(request, session, problem, typed, HTTPStatus.TOO_MANY_REQUESTS)
        response.headers["Retry-After"] = str(error.retry_after)
        return response
    _say(request, done)
    return redirect(address(done.session))


def _refused(
    request: OwnerRequest, session: Session, problem: str, typed: Typed, status: HTTPStatus
) -> HttpResponse:
    thread = thread_of(request, session)
    return show(request, thread, status=status, problem=problem, typed=typed)


def _say(request: OwnerRequest, done: Done) -> None:
    if done.became is Became.RELEASED:
        messages.success(request, _("Released. The agent has been told."))
    elif done.became is Became.LATE:
        messages.success(request, _("The agent has been told, as a late return."))
    else:
        state = inboxwords.state(done.session)
        messages.warning(request, _("Nothing changed. It had ended before: %s.") % state)
