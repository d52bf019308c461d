"""Idempotency keys: the same call, the same key."""

import hashlib
import json
from typing import Final

LONGEST: Final = 255


def sendable(key: str) -> str:
    """The key itself where a header can hold it, else its digest."""
    if 0 < len(key) <= LONGEST and key.isascii() and key.isprintable() and key == key.strip():
        return key
    return _digest(key)


def of_call(*parts: object) -> str:
    """A key for a call that a framework names, such as by its thread, its id and its arguments."""
    return _digest(json.dumps(parts, sort_keys=True, default=str))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
