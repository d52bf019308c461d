"""Keeps capabilities out of the logs: return links, release tokens, tickets, API tokens."""

import logging
import re
from typing import Final

_SECRETS: Final = (
    (re.compile(r"(?:/|%2f)(?:r|%72)(?:/|%2f)[^/\s\"'?]+", re.IGNORECASE), "/r/***"),
    (re.compile(r"\b[a-z2-7]{26}\.[0-9]{1,12}\.[0-9a-f]{64}"), "***"),
    (re.compile(r"\bh7[a-z2-7]{16}\b", re.IGNORECASE), "h7***"),
    (re.compile(r"\bhd_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}"), "hd_***"),
    (re.compile(r"(ticket=)[^&\s\"']+"), r"\1***"),
    (re.compile(r"\b((?:smtp|imap)[a-z+]*://)[^@/\s]+@"), r"\1***@"),
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def mask(text: str) -> str:
    """The text with every capability replaced and control characters made harmless."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


class Masked(logging.Filter):
    """Rewrites the finished message, and the text of an exception, before a handler writes it."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = mask(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = mask(record.exc_text)
        return True
