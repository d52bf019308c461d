"""The size cap: what is shortened first, and what never is."""

import datetime as dt
from typing import Any

import pytest

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import Author, FieldType
from handoff.transports.base import TranscriptLine
from handoff.transports.email_body import compose
from handoff.transports.email_clip import CLIP_ORDER, OUR_WORDS_BYTES, TEXT_BYTES, Parts, parts_of
from tests.transports.mail_samples import LINK, TOKEN, request

MARK = "… (in the form)"
LONG: dict[str, Any] = {
    "summary": "summary " * 250,
    "expected_action": "action " * 140,
    "fields": (
        ReturnField(
            name="a",
            type=FieldType.ENUM,
            enum_values=tuple(f"choice{n} {'x' * 150}" for n in range(40)),
        ),
    ),
    "extra_context": (("context", "context " * 400),),
    "transcript": tuple(
        TranscriptLine(
            author=Author.SUBSCRIBER,
            name="Ada",
            text=f"message {number} {'ü' * 500}",
            at=dt.datetime(2026, 12, 1, 9, 0, tzinfo=dt.UTC),
        )
        for number in range(200)
    ),
}


def shortened(parts: Parts) -> list[str]:
    """The names of the parts that carry the mark: the transcript above its lines, others below."""
    return [name for name in CLIP_ORDER if MARK in getattr(parts, name)]


def test_a_long_request_stays_under_the_cap_and_loses_only_old_messages() -> None:
    body = compose(request(**LONG), replies_are_read=False)
    assert len((body.text + body.transcript).encode()) <= TEXT_BYTES
    assert shortened(parts_of(request(**LONG))) == ["transcript"]
    rows = body.transcript.splitlines()
    assert "message 199 " in rows[-1]
    assert rows[0] == f"Earlier messages: {MARK}"
    assert "message 0 " not in body.transcript


@pytest.mark.parametrize(("room", "count"), [(11_000, 2), (8_000, 3), (2_500, 4), (600, 5)])
def test_parts_are_shortened_in_order_and_the_way_to_answer_never(room: int, count: int) -> None:
    cap = room + OUR_WORDS_BYTES
    assert shortened(parts_of(request(**LONG), cap=cap)) == list(CLIP_ORDER[:count])
    body = compose(request(**LONG), replies_are_read=False, cap=cap)
    assert len((body.text + body.transcript).encode()) <= cap
    assert body.text.count(MARK) == count - 1
    assert LINK in body.text
    assert LINK in body.html
    assert f"/release {TOKEN}" in body.text


def test_a_short_request_is_not_touched() -> None:
    body = compose(request(), replies_are_read=False)
    assert MARK not in body.text + body.html + body.transcript
