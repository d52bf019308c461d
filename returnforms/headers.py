"""Headers of everything under `/r/`, errors included: the address is a secret, the page private."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponseBase

CSP: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OWNER_VIEW: Final = "owner"


class ReturnFormHeaders:
    """Middleware: sets them after the views, so that a refusal or a crash has them too.

    An owner's signed-in form says `same-origin`: under `no-referrer` Chromium sends `Origin: null`,
    which the CSRF check refuses.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = request.resolver_match
        if match is None or match.app_name != "returnforms":
            return response
        signed_in = match.url_name == OWNER_VIEW
        response.headers["Content-Security-Policy"] = CSP
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "same-origin" if signed_in else "no-referrer"
        response.headers["X-Robots-Tag"] = "noindex"
        response.headers["X-Frame-Options"] = "DENY"
        return response
