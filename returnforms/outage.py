"""What a person sees when the database is away: a calm page that keeps what they typed."""

import functools
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Concatenate

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render

from returnforms.controls import PREFIX
from returnforms.form import Posted, read
from returnforms.headers import OWNER_VIEW
from returnforms.pages import copied

RETRY_SECONDS = 30

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
    """503. What was posted is offered for sending again, which repeats nothing, and for copying.

    Names of fields stand for their titles: those are in the database.
    """
    match = request.resolver_match
    signed_in = match is not None and match.url_name == OWNER_VIEW
    context: dict[str, Any] = {"path": request.path, "signed_in": signed_in, "copy": ""}
    posted = _posted(request)
    if posted is not None:
        lines = [(name, text) for name, text in posted.entries.items() if text]
        context |= {
            "posted": posted,
            "entries": [(PREFIX + name, text) for name, text in posted.entries.items()],
            "copy": copied(lines, note=posted.note, answered_by=posted.answered_by),
        }
    status = HTTPStatus.SERVICE_UNAVAILABLE
    response = render(request, "returnforms/unavailable.html", context, status=status)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _posted(request: HttpRequest) -> Posted | None:
    if request.method != "POST":
        return None
    try:
        return read(request.POST)
    except (SuspiciousOperation, BadRequest, MultiPartParserError, UnreadablePostError):
        return None
