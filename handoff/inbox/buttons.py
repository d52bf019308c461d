"""The buttons that speak or end: each calls one action and goes back to the page."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from handoff.actions import endings
from handoff.actions import reply as replies
from handoff.contract.commands import read_release
from handoff.contract.kinds import Outcome
from handoff.contract.text import readable
from handoff.errors import Refused
from handoff.inbox import attached
from handoff.inbox.forms import CancelForm, ReleaseForm, ReplyForm, new_client_id
from handoff.inbox.pages import OwnerRequest, Typed, address, own_name, owned, show, thread_of
from handoff.inbox.release_line import obey
from handoff.models import Session
from handoff.selectors import inboxwords

UNPROCESSABLE = 422
CONFLICT = 409


@never_cache
@login_required
@require_POST
def reply(request: OwnerRequest, handoff: str) -> HttpResponse:
    """Say something to the subscriber; the same form sent twice says it once.

    A reply that begins with `/release TOKEN` is no reply: it ends the handoff that it names.
    """
    session = owned(request, handoff)
    form = ReplyForm(request.POST)
    if not form.is_valid():
        if "client_id" in form.errors:
            form = ReplyForm({**request.POST.dict(), "client_id": new_client_id()})
        return again(request, session, Typed(handoff=handoff, reply=form))
    command = read_release(form.cleaned_data["text"])
    if command is not None:
        return obey(request, session, command, Typed(handoff=handoff, reply=form))
    try:
        client_id = form.cleaned_data["client_id"]
        with attached.kept(request, session, client_id=client_id) as files:
            replies.reply(
                session.pk,
                text=form.cleaned_data["text"],
                name=own_name(request),
                actor=f"owner:{request.user.pk}",
                client_id=client_id,
                files=files,
            )
    except attached.NotTaken as problem:
        typed = Typed(handoff=handoff, reply=form)
        return again(request, session, typed, problem=str(problem))
    except Refused:
        return show(
            request,
            thread_of(request, session),
            status=CONFLICT,
            problem=_(
                "Not sent: the handoff has ended, and the subscriber is with the agent again."
            ),
            typed=Typed(handoff=handoff, unsent=readable(request.POST["text"])),
        )
    return redirect(f"{address(session)}#reply-text")


@never_cache
@login_required
@require_POST
def release(request: OwnerRequest, handoff: str) -> HttpResponse:
    """Give the subscriber back to the agent, with an outcome and a message but no values.

    With the line of the dispatch it counts as the recipient's own release.
    """
    session = owned(request, handoff)
    form = ReleaseForm(request.POST)
    if not form.is_valid():
        return again(request, session, Typed(handoff=handoff, release=form))
    outcome, message = Outcome(form.cleaned_data["outcome"]), form.cleaned_data["message"]
    command = form.command(message)
    if command is not None:
        typed = Typed(handoff=handoff, release=form)
        return obey(request, session, command, typed, outcome=outcome, only_this=True)
    ended = endings.release_as_owner(
        session,
        user_pk=request.user.pk,
        name=own_name(request),
        outcome=outcome,
        message=message,
    )
    return _ended(request, session, ended, _("Released. The agent has been told."))


@never_cache
@login_required
@require_POST
def cancel(request: OwnerRequest, handoff: str) -> HttpResponse:
    """Withdraw the handoff; whoever was asked is told."""
    session = owned(request, handoff)
    form = CancelForm(request.POST)
    if not form.is_valid():
        return again(request, session, Typed(handoff=handoff, cancel=form))
    ended = endings.cancel(
        session, reason=form.cleaned_data["reason"], actor=f"owner:{request.user.pk}"
    )
    return _ended(request, session, ended, _("Cancelled. The agent has been told."))


def again(
    request: OwnerRequest, session: Session, typed: Typed, *, problem: str = ""
) -> HttpResponse:
    """The page with what could not be taken on it."""
    return show(
        request,
        thread_of(request, session),
        status=UNPROCESSABLE,
        problem=problem or " ".join(typed.problems()),
        typed=typed,
    )


def _ended(request: OwnerRequest, session: Session, ended: bool, done: str) -> HttpResponse:
    if ended:
        messages.success(request, done)
    else:
        state = inboxwords.state(owned(request, session.public_id))
        messages.warning(request, _("Nothing changed. It had ended before: %s.") % state)
    return redirect(address(session))
