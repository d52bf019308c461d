"""Turns every exception into an answer: the last line before a caller would hear nothing."""

import http
import logging
from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from handoff.actions.gaps import note_unavailable
from handoff.actions.refusals import note_refusal
from handoff.contract import answers
from handoff.contract.payloads import ToolAnswer
from handoff.errors import (
    DeskUnavailable,
    HandoffError,
    Invalid,
    Malformed,
    NotAuthorised,
    NotYours,
    OutcomeUnrecorded,
    TooFast,
    TooLarge,
)

log = logging.getLogger(__name__)
_ONLY_A_SENTENCE = (NotAuthorised, NotYours, Malformed)
_NOTED = (NotAuthorised, NotYours, Malformed, Invalid, TooFast, TooLarge)


def answer_for(exc: Exception, context: dict[str, Any]) -> Response:
    """The response for an exception of an API view; never re-raises, never repeats its text."""
    error = noted(exc, context)
    if error is None:
        return _fault(tool_call=getattr(context.get("view"), "is_tool_call", False))
    return render(error, context.get("request"))


def noted(exc: Exception, context: dict[str, Any]) -> HandoffError | None:
    """An exception of an API view as one of ours, on the trail or the spool where it belongs there.

    None for a fault of our own, which is in the log then.
    """
    view = context.get("view")
    tool_call = getattr(view, "is_tool_call", False)
    try:
        error = _as_ours(exc)
        if error is None:
            log.error("an API view failed", exc_info=exc)
            return None
        if isinstance(error, _NOTED):
            note_refusal(error, caller=getattr(view, "caller", None), tool_call=tool_call)
    except DatabaseError as problem:
        error = _unavailable(problem)
    if tool_call and isinstance(error, DeskUnavailable | OutcomeUnrecorded):
        caller, tool = getattr(view, "caller", None), getattr(view, "tool", "")
        note_unavailable(error, caller=caller, tool=tool)
    return error


def render(error: HandoffError, request: Request | None) -> Response:
    """`{error, code, details}`, with problem+json's members for a client that accepts them."""
    body: dict[str, Any] = {"error": error.sentence}
    if not isinstance(error, _ONLY_A_SENTENCE):
        body["code"] = error.code
    if error.details:
        body["details"] = error.details
    response = Response(body, status=error.status)
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        response["Retry-After"] = str(retry_after)
    if isinstance(error, NotAuthorised):
        response["WWW-Authenticate"] = "Bearer"
    if request is not None and "application/problem+json" in request.headers.get("accept", ""):
        title = http.HTTPStatus(error.status).phrase
        body |= {
            "type": "about:blank",
            "title": title,
            "status": error.status,
            "detail": error.sentence,
        }
        response.content_type = "application/problem+json"
    return response


def _as_ours(exc: Exception) -> HandoffError | None:
    if isinstance(exc, HandoffError):
        return exc
    if isinstance(exc, DatabaseError):
        return _unavailable(exc)
    if isinstance(exc, SuspiciousOperation | BadRequest):  # such as a query of 1,001 fields
        return Malformed("The request can't be read.")
    if isinstance(exc, Http404):
        exc = exceptions.NotFound()
    if isinstance(exc, exceptions.APIException):
        error = HandoffError(str(exc.detail))
        error.status = exc.status_code
        error.code = str(getattr(exc, "default_code", "error"))
        return error
    return None


def _unavailable(problem: DatabaseError) -> DeskUnavailable:
    """The refusal of a call that met an outage. A lost connection needs no traceback."""
    lost = isinstance(problem, OperationalError | InterfaceError)
    log.error("the database refuses: %s", problem, exc_info=None if lost else problem)
    error = DeskUnavailable()
    error.__cause__ = problem
    return error


def _fault(*, tool_call: bool) -> Response:
    answer = answers.desk_fault()
    if tool_call:
        view = ToolAnswer(text=answer.text, is_error=True, result=answer.result)
        return Response(view.body())
    return Response({"error": "The desk failed.", "code": "desk_fault"}, status=500)
