"""The doors of the return form. GET and HEAD read; a POST calls one action."""

import contextlib
import dataclasses
import logging
import secrets
from typing import cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, QueryDict, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import get_language
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from handoff.actions import addresses, answer, throttle
from handoff.errors import TooFast
from handoff.models import ReturnLink
from handoff.selectors import returnpages
from handoff.selectors.returnpages import ReturnPage, Stage
from returnforms import pages
from returnforms.form import Checked, Posted, blank, check, read, to_send
from returnforms.outage import survived
from returnforms.pages import Place

log = logging.getLogger(__name__)
SENT_COOKIE = "sent"
SENT_SALT = "returnforms.sent"
SENT_SECONDS = 30 * 24 * 3600
_HAS_FORM = frozenset({Stage.OPEN, Stage.CLOSED})


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@survived
def return_form(request: HttpRequest, token: str) -> HttpResponse:
    """The form behind a signed link: whoever holds the link may answer, with no cookie."""
    found = returnpages.find(token)
    if found is None:
        return _unknown(request)
    link, page = found
    place = Place(path=request.path.rstrip("/"))
    if request.method != "POST":
        return _shown(request, page, place)
    entered = _entered(request, page, place)
    if isinstance(entered, HttpResponse):
        return entered
    by_person = page.stage in _HAS_FORM and not entered.checked.untouched
    try:
        answer.note_posted(link, by_person=by_person)
    except TooFast as too_fast:
        return pages.too_fast(
            request, too_fast.retry_after, page=page, posted=entered.posted, place=place
        )
    if not _may_go(page, entered):
        return _not_sent(request, page, entered, place)
    return _send(request, link, entered, place, actor="recipient")


@csrf_exempt
@require_POST
def opened(request: HttpRequest, token: str) -> HttpResponse:
    """A person's browser says that the form is on a screen or being typed in; the script asks it
    at the first touch, key or scroll, never on loading.
    """
    found = returnpages.find(token)
    if found is None:
        return _unknown(request)
    link, page = found
    if page.stage in _HAS_FORM:
        with contextlib.suppress(TooFast):  # told often enough
            throttle.take_beacon(link)
            answer.note_opened(link)
    return HttpResponse(status=204)


@survived
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def owner_form(request: HttpRequest, session_id: str) -> HttpResponse:
    """The same form for a signed-in owner of the agent, behind CSRF."""
    user = cast("AbstractUser", request.user)  # login_required leaves nobody else
    user_pk = user.pk
    page = returnpages.owned(session_id, user_pk=user_pk)
    if page is None:
        return _unknown(request)
    place = Place(path=request.path.rstrip("/"), signed_in=True, known_name=_name(user))
    if request.method != "POST":
        return _shown(request, page, place)
    entered = _entered(request, page, place)
    if isinstance(entered, HttpResponse):
        return entered
    if not _may_go(page, entered):
        return _not_sent(request, page, entered, place)
    link = answer.owner_link(page.session_pk, user_pk=user_pk)
    return _send(request, link, entered, place, actor=f"owner:{user_pk}")


@csrf_exempt
def nothing(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Every other address under `/r/`: the same page as for a link with a wrong signature."""
    return _unknown(request)


def _unknown(request: HttpRequest) -> HttpResponse:
    """The one page for all that is no link of ours, as long as its address does not try many."""
    address = addresses.hashed(
        request.META.get("REMOTE_ADDR", ""), request.headers.get("x-forwarded-for", "")
    )
    try:
        throttle.take_lost(address)
    except TooFast as too_fast:
        return pages.too_fast(request, too_fast.retry_after)
    except DatabaseError:
        log.warning("a lost link could not be counted")
    return pages.unknown(request)


def _name(user: AbstractUser) -> str:
    return user.get_full_name() or user.get_username()


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Entered:
    posted: Posted
    checked: Checked


def _entered(request: HttpRequest, page: ReturnPage, place: Place) -> _Entered | HttpResponse:
    """The posted form; or the answer, when it cannot be read or was taken before."""
    try:
        post: QueryDict = request.POST
    except (SuspiciousOperation, BadRequest, MultiPartParserError, UnreadablePostError):
        return pages.unreadable(request)
    posted = read(post)
    sent = returnpages.sent(page.session_pk, submission_id=posted.submission_id)
    if sent is not None and page.stage is not Stage.REVOKED:
        return _remembered(pages.received(request, page, sent), posted.submission_id, place)
    locale = get_language() or settings.LANGUAGE_CODE
    checked = check(page.fields, posted, locale=locale, known_name=place.known_name)
    return _Entered(posted=posted, checked=checked)


def _may_go(page: ReturnPage, entered: _Entered) -> bool:
    posted, checked = entered.posted, entered.checked
    if checked.untouched:
        return page.stage in _HAS_FORM and posted.confirmed
    if page.stage is Stage.ANSWERED:
        return True
    return page.stage in _HAS_FORM and (posted.send_anyway or not checked.has_problems)


def _shown(request: HttpRequest, page: ReturnPage, place: Place) -> HttpResponse:
    """What GET answers: to the browser that sent entries, those; to others, the page."""
    submission_id = request.get_signed_cookie(
        SENT_COOKIE, "", salt=SENT_SALT + place.path, max_age=SENT_SECONDS
    )
    if submission_id and page.stage is not Stage.REVOKED:
        sent = returnpages.sent(page.session_pk, submission_id=submission_id)
        if sent is not None:
            return pages.received(request, page, sent)
    if page.stage in _HAS_FORM:
        empty = blank(render_id=secrets.token_urlsafe(16), answered_by=place.known_name)
        return pages.form(request, page, empty, place=place)
    return pages.ended(request, page)


def _not_sent(
    request: HttpRequest, page: ReturnPage, entered: _Entered, place: Place
) -> HttpResponse:
    if page.stage in _HAS_FORM:
        return pages.form(request, page, entered.posted, place=place, checked=entered.checked)
    return pages.ended(request, page, posted=entered.posted)


def _send(
    request: HttpRequest, link: ReturnLink, entered: _Entered, place: Place, *, actor: str
) -> HttpResponse:
    """Call the action, then show what became of it, from the rows as they are now."""
    entries = to_send(entered.posted, entered.checked)
    answer.answer_form(link, entries, actor=actor)
    page = returnpages.behind(link)
    sent = returnpages.sent(link.session_id, submission_id=entries.submission_id)
    if sent is None:
        return pages.ended(request, page, posted=entered.posted)
    return _remembered(pages.received(request, page, sent), entries.submission_id, place)


def _remembered(response: HttpResponse, submission_id: str, place: Place) -> HttpResponse:
    """Lets this browser, and no other, see its entries again at the same address."""
    response.set_signed_cookie(
        SENT_COOKIE,
        submission_id,
        salt=SENT_SALT + place.path,
        max_age=SENT_SECONDS,
        path=place.path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response
