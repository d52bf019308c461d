"""`/api/v1/openapi.json` and `/api/v1/docs`: the same for everybody, with or without a token."""

import functools
import hashlib

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from handoff.api.reference import document_text, reference


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The document for programs."""
    text = document_text()
    tag = f'"{hashlib.sha256(text).hexdigest()[:32]}"'
    headers = {"ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(text, content_type="application/json", headers=headers)


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The document for people."""
    address = settings.PUBLIC_BASE_URL or request.build_absolute_uri("/").rstrip("/")
    return HttpResponse(_page(address, get_language()))


@functools.lru_cache(maxsize=8)
def _page(address: str, language: str) -> str:
    """Made once for an address and a language: everybody may ask, and it takes a while."""
    return render_to_string("api/reference.html", {"reference": reference(), "address": address})
