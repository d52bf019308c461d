"""`record()`, the only writer of the audit trail."""

import re
from collections.abc import Mapping
from typing import Final

from audit.models import Event

TEXT_MAX: Final = 400
_UNSAFE: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
_SECRETS: Final = (
    (re.compile(r"/r/[^/\s\"'?]+"), "/r/***"),
    (re.compile(r"\bh7[a-z2-7]{16}\b", re.IGNORECASE), "h7***"),
    (re.compile(r"\bhd_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{8,}"), "hd_***"),
    (re.compile(r"://[^/@\s]+@"), "://***@"),
    (re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+"), "***@***"),
)

Detail = str | int | float | bool | None | list[str] | list[int]


def redact(text: str) -> str:
    """At most 400 characters on one line, without addresses, tokens or control characters."""
    text = _UNSAFE.sub(" ", text)
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text.strip()[:TEXT_MAX]


def record(
    action: str,
    *,
    actor: str = "",
    agent: str = "",
    other_agent: str = "",
    token: str = "",
    tool: str = "",
    conversation: str = "",
    session: str = "",
    attempt: str = "",
    channel: int | None = None,
    reason: str = "",
    failure: str = "",
    details: Mapping[str, Detail] | None = None,
) -> Event:
    """Write one event inside the caller's transaction, so that fact and trail commit together.

    `reason` is our own sentence or code; `failure` is what somebody else said, redacted.
    `details` holds ids, codes, counts and sizes, never a value, a transcript or an address.
    """
    return Event.objects.create(
        action=action,
        actor=actor[:64],
        agent=agent[:64],
        other_agent=other_agent[:64],
        token=token[:16],
        tool=redact(tool)[:64],
        conversation=conversation[:40],
        session=session[:40],
        attempt=attempt[:40],
        channel=channel,
        reason=redact(reason),
        failure=redact(failure),
        details={
            key: redact(value) if isinstance(value, str) else value
            for key, value in (details or {}).items()
        },
    )
