"""Files behind a signed address, and those of an owner's inbox."""

from collections.abc import Callable
from typing import Final

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from handoff.errors import DeskUnavailable, NotFound
from handoff.files.answers import download
from handoff.inbox.pages import OwnerRequest
from handoff.models import File
from handoff.selectors import files

_TEXT: Final = "text/plain; charset=utf-8"


@require_safe
def signed(request: HttpRequest, token: str) -> HttpResponseBase:
    """For whoever has the address, until its time is over."""
    return _given(lambda: files.by_token(token))


@login_required
@require_safe
def owned(request: OwnerRequest, public_id: str) -> HttpResponseBase:
    """For an owner of the conversation's agent."""
    return _given(lambda: files.for_owner(request.user.pk, public_id))


def _given(find: Callable[[], File]) -> HttpResponseBase:
    try:
        return download(find())
    except NotFound as error:
        raise Http404 from error
    except DeskUnavailable as error:
        words = _("The file can't be fetched now. Try again in a minute.")
        after = {"Retry-After": str(error.retry_after)}
        return HttpResponse(words, status=error.status, headers=after, content_type=_TEXT)
