"""Capabilities never reach a log."""

import logging

import pytest

from config.logs import Masked, mask

TOKEN = "hd_abcdefgh_" + "x" * 43
RELEASE = "h7abcdefgh234567ab"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("GET /r/abc123.signature/ 200", "GET /r/***/ 200"),
        ("POST /r/abc123.signature/opened 204", "POST /r/***/opened 204"),
        (f"Bearer {TOKEN}", "Bearer hd_***"),
        (f"they typed /release {RELEASE}", "they typed /release h7***"),
        ("/ws/chat?ticket=abc.def&last_event_id=4", "/ws/chat?ticket=***&last_event_id=4"),
        ("smtp+tls://user:pass@mail.example:587", "smtp+tls://***@mail.example:587"),
        ("a\x1b[31mred\x00", "a\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_what_opens_a_door_is_masked(text: str, kept: str) -> None:
    assert mask(text) == kept


def test_arguments_and_tracebacks_are_masked_too() -> None:
    try:
        raise ValueError(f"bad token {TOKEN}")
    except ValueError as error:
        record = logging.LogRecord(
            "desk", logging.ERROR, "x.py", 1, "call to %s", (TOKEN,), (ValueError, error, None)
        )
    assert Masked().filter(record)
    line = logging.Formatter().format(record)
    assert TOKEN not in line
    assert "hd_***" in line
    assert "ValueError: bad token hd_***" in line
