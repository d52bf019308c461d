"""What a person sees when the database is away: a calm page that keeps what they typed."""

import functools
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Concatenate, Final

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, QueryDict, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.template.loader import render_to_string

from returnforms.controls import PREFIX
from returnforms.form import Posted, read
from returnforms.headers import OWNER_VIEW
from returnforms.pages import copied

RETRY_SECONDS: Final = 30
TEMPLATE: Final = "returnforms/unavailable.html"
OWNER_FORMS: Final = "/r/owner/"

log = logging.getLogger(__name__)

type View[**P] = Callable[Concatenate[HttpRequest, P], HttpResponse]


def survived[**P](view: View[P]) -> View[P]:
    """Decorates a view of the form: an outage is answered by the page below."""

    @functools.wraps(view)
    def answered(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except DatabaseError:
            log.exception("a return form met an outage")
            return unavailable(request)

    return answered


def unavailable(request: HttpRequest) -> HttpResponse:
    """503. What was posted is offered for sending again, which repeats nothing, and for copying."""
    match = request.resolver_match
    signed_in = match is not None and match.url_name == OWNER_VIEW
    context = {"signed_in": signed_in, **_context(request.path, _posted(request))}
    status = HTTPStatus.SERVICE_UNAVAILABLE
    response = render(request, TEMPLATE, context, status=status)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def kept(path: str, body: bytes) -> bytes:
    """The same page for a form that reached no view; for an owner's without its CSRF token, so
    that it is only for copying.
    """
    try:
        posted = read(QueryDict(body))
    except (SuspiciousOperation, BadRequest):
        posted = None
    if posted is not None and not posted.render_id:  # not what our page sends
        posted = None
    context = {"only_copy": path.startswith(OWNER_FORMS), **_context(path, posted)}
    return render_to_string(TEMPLATE, context).encode()


def _context(path: str, posted: Posted | None) -> dict[str, Any]:
    """Names of fields stand for their titles: those are in the database."""
    if posted is None:
        return {"path": path, "copy": ""}
    lines = [(name, text) for name, text in posted.entries.items() if text]
    return {
        "path": path,
        "posted": posted,
        "entries": [(PREFIX + name, text) for name, text in posted.entries.items()],
        "copy": copied(lines, note=posted.note, answered_by=posted.answered_by),
    }


def _posted(request: HttpRequest) -> Posted | None:
    if request.method != "POST":
        return None
    try:
        return read(request.POST)
    except (SuspiciousOperation, BadRequest, MultiPartParserError, UnreadablePostError):
        return None
