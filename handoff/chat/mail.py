"""The demo's mailbox pages: what the recipients would find in theirs."""

from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.csp import CSP, build_policy
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csp import csp_override
from django.views.decorators.http import require_safe

from handoff.chat import letters
from handoff.chat.visitors import demo_only
from handoff.outbound.mail_url import MailServer, parse_mail_url

_MAIL_CSP: Final[dict[str, list[str]]] = {
    "sandbox": ["allow-popups", "allow-popups-to-escape-sandbox"],
    "default-src": [CSP.NONE],
    "style-src": [CSP.UNSAFE_INLINE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.NONE],
    "frame-ancestors": [CSP.SELF],
}
"""A mail as a mail program shows it: its own styles, an origin of its own, no script, no request.
Its links open outside, as they do there.
"""


@demo_only
@require_safe
@never_cache
def mailbox(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "chat/mailbox.html",
        {"here": "mail", "server": _server(), "letters": letters.newest(settings.MAIL_DIR)},
    )


@demo_only
@require_safe
@never_cache
def letter(request: HttpRequest, name: str) -> HttpResponse:
    found = _letter(name)
    pieces = letters.pieces(found.text, base=settings.PUBLIC_BASE_URL)
    link = next((piece.href for piece in pieces if piece.href), "")
    response = render(
        request, "chat/letter.html", {"letter": found, "pieces": pieces, "link": link}
    )
    with_frame = {**settings.SECURE_CSP, "frame-src": [CSP.SELF]}
    response.headers[CSP.HEADER_ENFORCE] = build_policy(with_frame)
    return response


@demo_only
@require_safe
@never_cache
@xframe_options_sameorigin
@csp_override(_MAIL_CSP)
def html_part(request: HttpRequest, name: str) -> HttpResponse:
    """The HTML of a letter, to be shown in a frame."""
    found = _letter(name)
    if not found.html:
        raise Http404
    # inside a frame a link would open in that frame, which the form's page refuses
    return HttpResponse(found.html.replace("<head>", '<head><base target="_blank">', 1))


def _letter(name: str) -> letters.Letter:
    found = letters.read(settings.MAIL_DIR, name)
    if found is None:
        raise Http404
    return found


def _server() -> str:
    """The mail server that the mail goes to, without its login; empty for this mailbox."""
    if not settings.EMAIL_URL:
        return ""
    try:
        via = parse_mail_url(settings.EMAIL_URL)
    except ValueError:
        return "EMAIL_URL"
    return f"{via.host}:{via.port}" if isinstance(via, MailServer) else "EMAIL_URL"
