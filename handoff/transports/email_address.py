"""The address that a reply goes to: it names the handoff, and only this desk can make one."""

import base64
import hashlib
import hmac
import re
from typing import Final

from django.conf import settings
from django.utils.crypto import constant_time_compare

from handoff.contract import ids

BLANK: Final = "{token}"
"""What stands in a local part where the name of the handoff goes."""
LOCAL_PART: Final = f"reply+{BLANK}"
LOCAL_PART_MAX: Final = 64
"""RFC 5321, 4.5.3.1.1."""
NAME_LENGTH: Final = 43
_SALT: Final = b"handoff.reply-address"
_MESSAGE_SALT: Final = b"handoff.message-id"
_MAC_BYTES: Final = 10
_SIGNED: Final = re.compile(r"(?<![a-z0-9])([a-z2-7]{16,26})\.([a-z2-7]{16})(?![a-z0-9])")


def reply_address(session: str, *, local_part: str, domain: str) -> str:
    """Where answers about `session` (`hs_…`) go. `local_part` holds `{token}` once.

    Lower case only: some servers make it so on the way.
    """
    name = session.removeprefix(ids.SESSION)
    token = f"{name}.{_mac(session, settings.SECRET_KEY)}"
    return f"{local_part.replace(BLANK, token)}@{domain}"


def session_of(address: str) -> str:
    """The `hs_…` of an address that a current or fallback key signed, else ""."""
    for found in _SIGNED.finditer(address.rpartition("@")[0].lower()):
        session = ids.SESSION + found[1]
        keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
        if any(constant_time_compare(_mac(session, key), found[2]) for key in keys):
            return session
    return ""


def message_proof(session: str, number: int) -> str:
    """What makes the id of a mail known to nobody but who got it: visitors see the handoff's own,
    and whoever answers that mail, or reports it as bounced, counts as its recipient.
    """
    return _mac(f"{session}.{number}", settings.SECRET_KEY, salt=_MESSAGE_SALT)


def _mac(session: str, key: str | bytes, *, salt: bytes = _SALT) -> str:
    """80 bits: what fits into an address beside 128 bits of id, and cannot be guessed by mail."""
    secret = key if isinstance(key, bytes) else key.encode()
    own_key = hashlib.sha256(salt + b"." + secret).digest()
    digest = hmac.new(own_key, session.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest[:_MAC_BYTES]).decode("ascii").lower()
