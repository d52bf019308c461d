"""Headers of everything under `/api/`: no answer of it is for a cache."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponseBase

PLACE: Final = "/api/"


class ApiHeaders:
    """Middleware: outside the views, so that a refusal or a crash has them too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path_info.startswith(PLACE):
            response.headers.setdefault("Cache-Control", "no-store")
        return response
