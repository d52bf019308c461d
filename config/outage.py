"""What becomes of an error that a page did not answer itself: 500, or 503 when it is an outage."""

import sys
from http import HTTPStatus
from typing import Final

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.defaults import server_error

RETRY_SECONDS: Final = 30


def answer(request: HttpRequest) -> HttpResponse:
    """For a person, while the error is handled.

    The page is drawn without the request, whose user and session stand in the database.
    """
    if not isinstance(sys.exception(), DatabaseError):
        return server_error(request)
    return HttpResponse(
        render_to_string("503.html"),
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        headers={"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"},
    )
