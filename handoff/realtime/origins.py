"""Which pages may call: by the Origin that a browser sends with a socket or a cross-site POST."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from channels.security.websocket import OriginValidator
from django.conf import settings


def may_call(origin: str, origins: Sequence[str]) -> bool:
    """Whether a page is ours or one of `origins`.

    By Channels' own rules: a pattern with a scheme is an origin, one without is a host. A client
    that is no browser sends none, and has no visitor's cookies to abuse.
    """
    if not origin:
        return True
    try:
        allowed = OriginValidator(None, [*origins, *settings.ALLOWED_HOSTS])
        return bool(allowed.valid_origin(urlsplit(origin)))
    except ValueError:  # not an address
        return False
