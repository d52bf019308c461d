"""Signs and reads the ids in return links and socket tickets. Pure: actions insert the rows."""

import hashlib
import re
import uuid
from typing import Final

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.utils.crypto import constant_time_compare, salted_hmac

from handoff.contract import ids

RETURN_SALT: Final = "handoff.return-link"
TICKET_SALT: Final = "handoff.socket-ticket"
FILE_SALT: Final = "handoff.file"
_FILE_TOKEN: Final = re.compile(r"([a-z2-7]{26})\.([0-9]{1,12})\.([0-9a-f]{64})")


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


def file_url(file_id: str, *, until: int) -> str:
    """Where a file may be fetched until a second of the epoch; nothing in it has to be escaped."""
    said = f"{file_id.removeprefix(ids.FILE)}.{until}"
    return f"{settings.PUBLIC_BASE_URL}/files/{said}.{_file_proof(said, settings.SECRET_KEY)}/"


def read_file_token(token: str) -> tuple[str, int] | None:
    """The id of a file and until when; None when no current or fallback key signed the two."""
    found = _FILE_TOKEN.fullmatch(token)
    if found is None:
        return None
    said = f"{found[1]}.{found[2]}"
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    if not any(constant_time_compare(found[3], _file_proof(said, key)) for key in keys):
        return None
    return ids.FILE + found[1], int(found[2])


def _file_proof(said: str, key: str) -> str:
    return salted_hmac(FILE_SALT, said, secret=key, algorithm="sha256").hexdigest()


def digest(text: str) -> str:
    """SHA-256 in hex: what is kept of a secret."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hook_url(kind: str, channel_uuid: uuid.UUID) -> str:
    """Where a provider posts what happens in a channel; "" without a public address."""
    base = settings.PUBLIC_BASE_URL
    return f"{base}/hooks/{kind}/{channel_uuid}/" if base else ""
