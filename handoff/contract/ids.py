"""Public ids: a prefix that says what it names, then 128 random bits in lower-case base32."""

import base64
import re
import secrets
from typing import Final

CONVERSATION: Final = "c_"
MESSAGE: Final = "m_"
FILE: Final = "f_"
SESSION: Final = "hs_"
ATTEMPT: Final = "he_"
WEBHOOK: Final = "wh_"
RELEASE_TOKEN: Final = re.compile(r"h7[a-z2-7]{16}")
_PUBLIC: Final = re.compile(r"(c|m|f|hs|he|wh)_[a-z2-7]{26}")


def _base32(size: int) -> str:
    return base64.b32encode(secrets.token_bytes(size)).decode("ascii").rstrip("=").lower()


def is_public(text: str) -> bool:
    """May this text be an id of ours? What isn't need not, and at times cannot, be looked for: a
    NUL in it is an error to PostgreSQL.
    """
    return _PUBLIC.fullmatch(text) is not None


def conversation_id() -> str:
    return CONVERSATION + _base32(16)


def message_id() -> str:
    return MESSAGE + _base32(16)


def file_id() -> str:
    return FILE + _base32(16)


def session_id() -> str:
    return SESSION + _base32(16)


def attempt_id() -> str:
    return ATTEMPT + _base32(16)


def webhook_id() -> str:
    return WEBHOOK + _base32(16)


def link_id() -> str:
    """128 random bits that a return link signs."""
    return _base32(16)


def release_token() -> str:
    """What a recipient types after `/release`: `h7` and 80 random bits (channels.md 1.4)."""
    return "h7" + _base32(10)
