"""Secrets at rest: JSON objects sealed with MultiFernet; the first key seals, all of them open."""

import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(Exception):
    """No configured key opens this text: the credentials have to be entered again."""


def _box() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])


def seal(value: dict[str, Any]) -> str:
    return _box().encrypt(json.dumps(value, ensure_ascii=False).encode()).decode("ascii")


def unseal(text: str) -> dict[str, Any]:
    """The sealed object; raises Unreadable when the keys are lost or the text was altered."""
    if not text:
        return {}
    try:
        value = json.loads(_box().decrypt(text.encode("ascii")))
    except (InvalidToken, ValueError) as error:
        raise Unreadable from error
    if not isinstance(value, dict):
        raise Unreadable
    return value


def reseal(text: str) -> str:
    """The same object under the first key; raises Unreadable."""
    try:
        return _box().rotate(text.encode("ascii")).decode("ascii")
    except InvalidToken as error:
        raise Unreadable from error
