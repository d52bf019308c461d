"""The public address of the desk, checked when the settings are read."""

from urllib.parse import SplitResult, urlsplit

from django.core.exceptions import ImproperlyConfigured


def public_address(text: str) -> SplitResult:
    """The parts of PUBLIC_BASE_URL; empty ones for an empty text. Raises ImproperlyConfigured.

    Links are made by putting a path behind it, so it is a scheme, a host and perhaps a port.
    """
    try:
        parts = urlsplit(text)
        wrong = text and (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or parts.username is not None
            or bool(parts.path or parts.query or parts.fragment)
            or parts.port == 0
        )
    except ValueError:  # brackets without an IPv6 address, or a port that is none
        wrong = True
    if wrong:
        raise ImproperlyConfigured(
            "PUBLIC_BASE_URL must be the address people open, without a path or a login, such as "
            "https://desk.example.org"
        )
    return parts
