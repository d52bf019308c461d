"""A file as it leaves the desk: to be saved, never to be shown by a browser in our name."""

from typing import Any, Final

from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse

from handoff.errors import HandoffError, NotAuthorised, NotYours
from handoff.models import File
from handoff.selectors import files

CSP: Final = "sandbox; default-src 'none'; frame-ancestors 'none'"
HEADERS: Final = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": CSP,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


def download(row: File) -> FileResponse:
    """Its content as an attachment; raises NotFound when the storage lost it."""
    response = FileResponse(
        files.opened(row), as_attachment=True, filename=row.name, content_type=row.type
    )
    for name, value in HEADERS.items():
        response[name] = value
    response["Content-Length"] = str(row.size)
    return response


def refusal(error: HandoffError) -> JsonResponse:
    """In words that a widget can show."""
    body: dict[str, Any] = {"error": error.sentence}
    if not isinstance(error, NotAuthorised | NotYours):
        body["code"] = error.code
    response = JsonResponse(body, status=error.status)
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        response["Retry-After"] = str(retry_after)
    return response


def shared[R: HttpResponse](response: R, request: HttpRequest, *, may_read: bool) -> R:
    """Readable for the page that called, when its origin may call."""
    response["Cache-Control"] = "no-store"
    response["Vary"] = "Origin"
    origin = request.headers.get("origin", "")
    if may_read and origin:
        response["Access-Control-Allow-Origin"] = origin
    return response
