"""The buttons that keep a handoff going: more time, another notice, a link to pass on."""

from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from handoff import links
from handoff.actions import answer
from handoff.actions import extend as more_time
from handoff.actions import remind as reminders
from handoff.actions.dispatch import NoPlace
from handoff.actions.extend import Extended
from handoff.actions.remind import Reminded
from handoff.actions.seen import note_seen
from handoff.errors import TooFast
from handoff.inbox.pages import OwnerRequest, Typed, address, owned, show, thread_of


@never_cache
@login_required
@require_POST
def extend(request: OwnerRequest, handoff: str) -> HttpResponse:
    """Start both clocks again; says which of them did."""
    session = owned(request, handoff)
    became = more_time.extend(session.pk, user_pk=request.user.pk)
    good = became in (Extended.BOTH, Extended.FORM)
    (messages.success if good else messages.warning)(request, _begun(became))
    return redirect(address(session))


def _begun(became: Extended) -> str:
    return {
        Extended.BOTH: _("Extended: both clocks begin again."),
        Extended.FORM: _("Extended: the form stays open for longer."),
        Extended.IDLE: _("The idle clock begins again. The form can't stay open for longer."),
        Extended.NOTHING: _("Nothing changed: the form can't stay open for longer."),
        Extended.ENDED: _("Nothing changed: the handoff has ended."),
    }[became]


@never_cache
@login_required
@require_POST
def remind(request: OwnerRequest, handoff: str) -> HttpResponse:
    """Send the notice to the recipient again; says what became of it."""
    session = owned(request, handoff)
    try:
        became = reminders.remind(session.pk, user_pk=request.user.pk)
    except TooFast as error:
        words = ngettext(
            "Not sent: it was sent a moment ago. Try again in %(count)d second.",
            "Not sent: it was sent a moment ago. Try again in %(count)d seconds.",
            error.retry_after,
        )
        messages.warning(request, words % {"count": error.retry_after})
    except NoPlace:
        messages.warning(request, _("Not sent: the desk is busy. Try again in a minute."))
    else:
        good = became in (Reminded.SENT, Reminded.MAILED)
        (messages.success if good else messages.warning)(request, _said(became))
    return redirect(address(session))


def _said(became: Reminded) -> str:
    return {
        Reminded.SENT: _("The notice was sent again."),
        Reminded.MAYBE: _("The notice was sent again, but it is not known whether it arrived."),
        Reminded.REFUSED: _("The notice was not sent: the provider did not take it."),
        Reminded.MAILED: _("The other owners are being mailed."),
        Reminded.NOBODY: _("Nobody was reminded: no other owner has a mail address."),
        Reminded.CLOSED: _("Nothing was sent: no form is open. Extend the handoff first."),
    }[became]


@never_cache
@login_required
@require_POST
def link(request: OwnerRequest, handoff: str) -> HttpResponse:
    """The page with a return link on it that may be passed on; no page that is only read has it."""
    session = owned(request, handoff)
    thread = thread_of(request, session)
    if not any(item.may_fill and item.row.handoff == handoff for item in thread.handoffs):
        problem = _("There is no link to copy: the form has closed.")
        return show(request, thread, status=HTTPStatus.CONFLICT, problem=problem)
    minted = answer.owner_link(session.pk, user_pk=request.user.pk)
    url = request.build_absolute_uri(links.return_url(minted.link_id))
    return show(request, thread, typed=Typed(handoff=handoff, link=url))


@never_cache
@login_required
@require_POST
def seen(request: OwnerRequest, handoff: str) -> HttpResponse:
    """A person has the page before them; the script says so at a touch, key or scroll."""
    note_seen(owned(request, handoff).pk, user_pk=request.user.pk)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)
