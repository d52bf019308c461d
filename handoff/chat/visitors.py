"""The demo's door: open in demo mode only, and a signed cookie says whose conversation it is."""

import functools
import secrets
from collections.abc import Callable
from typing import Concatenate, Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

COOKIE: Final = "handoff_demo"
_SALT: Final = "handoff.chat.visitor"
_SECONDS: Final = 30 * 24 * 3600
_PATH: Final = "/demo/"


def demo_only[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Without the demo such a page does not exist."""

    @functools.wraps(view)
    def gate(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not settings.DEMO:
            raise Http404
        return view(request, *args, **kwargs)

    return gate


def known(request: HttpRequest) -> str | None:
    """This browser's own name for its conversation, or None when it brings no good cookie."""
    found: str | None = request.get_signed_cookie(COOKIE, default=None, salt=_SALT)
    return found


def remember(response: HttpResponse, request: HttpRequest, visitor: str) -> None:
    """The browser keeps the name for 30 days."""
    response.set_signed_cookie(
        COOKIE,
        visitor,
        salt=_SALT,
        max_age=_SECONDS,
        path=_PATH,
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def new_visitor() -> str:
    return f"demo-{secrets.token_urlsafe(16)}"
