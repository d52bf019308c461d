"""Files behind a signed address, and those of an owner's inbox."""

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.http import require_safe

from handoff.errors import NotFound
from handoff.files.answers import download
from handoff.inbox.pages import OwnerRequest
from handoff.selectors import files


@require_safe
def signed(request: HttpRequest, token: str) -> FileResponse:
    """For whoever has the address, until its time is over."""
    try:
        return download(files.by_token(token))
    except NotFound as error:
        raise Http404 from error


@login_required
@require_safe
def owned(request: OwnerRequest, public_id: str) -> FileResponse:
    """For an owner of the conversation's agent."""
    try:
        return download(files.for_owner(request.user.pk, public_id))
    except NotFound as error:
        raise Http404 from error
