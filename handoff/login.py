"""Signing in, the same for the owner inbox and the admin: every try is counted before its password
is checked.
"""

import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.utils.translation import ngettext

from handoff.actions import logins
from handoff.actions.logins import Try
from handoff.errors import TooFast

SECONDS_IN_WORDS: Final = 90

if TYPE_CHECKING:
    Base = AuthenticationForm
else:
    Base = object


class Counted(Base):
    """Mixed into a form that checks a password."""

    retry_after = 0
    """Seconds until the next try is worth it; 0 when this one was looked at."""

    def clean(self) -> dict[str, Any]:
        username, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if username is None or not password:  # no password is checked, so there is no try
            return super().clean()
        tried = self._try(username)
        try:
            logins.begin(tried)
        except TooFast as error:
            self.retry_after = error.retry_after
            raise ValidationError(_wait(error.retry_after), code=error.code) from error
        try:
            cleaned = super().clean()
        except ValidationError:
            known = self.get_user() is not None
            logins.note_failed(tried, reason="not_allowed" if known else "wrong_password")
            raise
        logins.note_success(tried)
        return cleaned

    def _try(self, username: str) -> Try:
        request = self.request
        return Try(
            username=username,
            remote=request.META.get("REMOTE_ADDR", "") if request else "",
            forwarded=request.headers.get("x-forwarded-for", "") if request else "",
        )


class InboxLoginForm(Counted, AuthenticationForm):
    """For owners."""


class AdminLoginForm(Counted, AdminAuthenticationForm):
    """For staff."""


class InboxLogin(LoginView):
    """The page on which owners sign in."""

    template_name = "inbox/login.html"
    authentication_form = InboxLoginForm
    redirect_authenticated_user = True

    def form_invalid(self, form: Any) -> HttpResponse:
        return too_fast(super().form_invalid(form), form)


def too_fast(response: HttpResponse, form: Any) -> HttpResponse:
    """The page with the form, as 429 with `Retry-After` when its try was one too many."""
    seconds = getattr(form, "retry_after", 0)
    if seconds:
        response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        response.headers["Retry-After"] = str(seconds)
    return response


def _wait(seconds: int) -> str:
    if seconds <= SECONDS_IN_WORDS:
        return ngettext(
            "Too many tries to sign in. Try again in %(count)d second.",
            "Too many tries to sign in. Try again in %(count)d seconds.",
            seconds,
        ) % {"count": seconds}
    minutes = math.ceil(seconds / 60)
    return ngettext(
        "Too many tries to sign in. Try again in %(count)d minute.",
        "Too many tries to sign in. Try again in %(count)d minutes.",
        minutes,
    ) % {"count": minutes}
