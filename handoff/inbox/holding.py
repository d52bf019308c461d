"""The buttons that say who works on a handoff."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from handoff.actions import claims
from handoff.errors import NotFound
from handoff.inbox.buttons import again
from handoff.inbox.forms import HolderForm
from handoff.inbox.pages import OwnerRequest, Typed, address, owned
from handoff.models import Session
from handoff.selectors import inboxes


@never_cache
@login_required
@require_POST
def claim(request: OwnerRequest, handoff: str) -> HttpResponse:
    """Take the handoff on, so that other owners see who works on it."""
    session = owned(request, handoff)
    if claims.claim(session.pk, user_pk=request.user.pk):
        messages.success(request, _("You hold this handoff now."))
    elif owned(request, handoff).holder_id != request.user.pk:
        _lost(request, session)
    return redirect(address(session))


@never_cache
@login_required
@require_POST
def hand_over(request: OwnerRequest, handoff: str) -> HttpResponse:
    """Give the handoff to another owner of its agent, or take it over from one.

    It must still be held by whom the page showed: of two who press at once, one is told.
    """
    session = owned(request, handoff)
    form = HolderForm(request.POST)
    if not form.is_valid():
        return again(request, session, Typed(handoff=handoff, holder=form))
    to = form.cleaned_data["to"]
    try:
        moved = claims.hand_over(
            session.pk,
            to=to,
            held_by=form.cleaned_data["held_by"],
            by=request.user.pk,
        )
    except NotFound:
        form.add_error("to", _("Choose somebody who looks after this agent."))
        return again(request, session, Typed(handoff=handoff, holder=form))
    now = owned(request, handoff)
    if not moved and now.holder_id != to:
        _lost(request, session)
    elif to == request.user.pk:
        messages.success(request, _("You hold this handoff now."))
    else:
        words = _("%(name)s holds this handoff now.") % {"name": inboxes.holder_of(now)}
        messages.success(request, words)
    return redirect(address(session))


def _lost(request: OwnerRequest, session: Session) -> None:
    """Say why nothing changed, as the rows are now."""
    holder = inboxes.holder_of(owned(request, session.public_id))
    if holder:
        words = _("Nothing changed: %(name)s holds it by now, or it has ended.") % {"name": holder}
    else:
        words = _("Nothing changed: somebody else holds it, or it has ended.")
    messages.warning(request, words)
