"""What Django answers when no view did: to a program by the contract, to a person with a page."""

import sys

from django.core.exceptions import DisallowedHost
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views import defaults

from config import outage
from config.refusals import for_program
from handoff.errors import DeskUnavailable, HandoffError, Malformed, NotFound


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """`handler400`: Django refused it by itself, such as for a host that is not served."""
    if not for_program(request.path_info):
        return defaults.bad_request(request, exception)
    if isinstance(exception, DisallowedHost):
        return _as_json(Malformed("That host is not served here."), code="bad_host")
    return _as_json(Malformed("The request can't be read."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """`handler403`."""
    if not for_program(request.path_info):
        return defaults.permission_denied(request, exception)
    return _as_json(HandoffError("That is not for you."), status=403, code="forbidden")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """`handler404`."""
    if not for_program(request.path_info):
        return defaults.page_not_found(request, exception)
    return _as_json(NotFound("There is no such address here."))


def failed(request: HttpRequest) -> HttpResponse:
    """`handler500`: Django calls it while it handles the error. 503 when that is an outage."""
    if not for_program(request.path_info):
        return outage.answer(request)
    if not isinstance(sys.exception(), DatabaseError):
        return _as_json(HandoffError("The desk failed."))
    problem = DeskUnavailable()
    response = _as_json(problem)
    response.headers["Retry-After"] = str(problem.retry_after)
    return response


def _as_json(problem: HandoffError, *, status: int = 0, code: str = "") -> JsonResponse:
    return JsonResponse(
        {"error": problem.sentence, "code": code or problem.code},
        status=status or problem.status,
    )
