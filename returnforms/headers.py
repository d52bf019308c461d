"""Headers of everything under `/r/`, errors included: the address is a secret, the page private."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch

CSP: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OWNER_VIEW: Final = "owner"
PLACE: Final = "/r/"


class ReturnFormHeaders:
    """Middleware: sets them after the views, so that a refusal or a crash has them too.

    Also after what was refused before a view was looked for, such as a host that is not served.

    An owner's signed-in form says `same-origin`: under `no-referrer` Chromium sends `Origin: null`,
    which the CSRF check refuses.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = request.resolver_match
        if not _is_ours(request, match):
            return response
        signed_in = match is not None and match.url_name == OWNER_VIEW
        response.headers["Content-Security-Policy"] = CSP
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "same-origin" if signed_in else "no-referrer"
        response.headers["X-Robots-Tag"] = "noindex"
        response.headers["X-Frame-Options"] = "DENY"
        return response


def _is_ours(request: HttpRequest, match: ResolverMatch | None) -> bool:
    if match is None:
        return request.path_info.startswith(PLACE)
    return match.app_name == "returnforms"
