"""Signs and reads the ids in return links and socket tickets. Pure: actions insert the rows."""

import hashlib
import uuid
from typing import Final

from django.conf import settings
from django.core.signing import BadSignature, Signer

RETURN_SALT: Final = "handoff.return-link"
TICKET_SALT: Final = "handoff.socket-ticket"


def _signer(salt: str) -> Signer:
    return Signer(salt=salt, sep=".")


def _read(token: str, salt: str) -> str | None:
    try:
        return _signer(salt).unsign(token)
    except BadSignature:
        return None


def return_token(link_id: str) -> str:
    return _signer(RETURN_SALT).sign(link_id)


def read_return_token(token: str) -> str | None:
    """The link id, or None when no current or fallback key signed it for this purpose."""
    return _read(token, RETURN_SALT)


def return_url(link_id: str) -> str:
    """The address of the return form; the host is configuration and is not signed."""
    return f"{settings.PUBLIC_BASE_URL}/r/{return_token(link_id)}/"


def ticket_token(ticket_id: str) -> str:
    return _signer(TICKET_SALT).sign(ticket_id)


def read_ticket_token(token: str) -> str | None:
    return _read(token, TICKET_SALT)


def digest(text: str) -> str:
    """SHA-256 in hex: what is kept of a secret."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hook_url(kind: str, channel_uuid: uuid.UUID) -> str:
    """Where a provider posts what happens in a channel; "" without a public address."""
    base = settings.PUBLIC_BASE_URL
    return f"{base}/hooks/{kind}/{channel_uuid}/" if base else ""
