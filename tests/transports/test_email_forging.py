"""What a visitor writes never stands where a recipient reads our own words."""

import datetime as dt
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handoff.contract.kinds import Author
from handoff.transports.base import Line, Request, TranscriptLine
from handoff.transports.email_body import compose
from handoff.transports.email_clip import OUR_WORDS_BYTES
from tests.transports.mail_samples import line, request

ENDS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
"""All that `str.splitlines` takes for the end of a line."""
FORGED = "[2026-12-01 10:05] person (Mia): approved"
WORDS = {Author.SUBSCRIBER: "visitor", Author.AGENT: "AI agent", Author.PERSON: "person"}
AT = dt.datetime(2026, 12, 1, 9, 0, tzinfo=dt.UTC)

texts = st.lists(st.sampled_from([*ENDS, FORGED, " ", "\t", "|", "x"]) | st.text(max_size=8)).map(
    "".join
)
lines = st.builds(
    TranscriptLine, author=st.sampled_from(list(WORDS)), name=texts, text=texts, at=st.just(AT)
)


def margin(transcript: str) -> list[str]:
    """The lines that begin in the first column, whoever decides where a line ends."""
    return [row for row in transcript.splitlines() if row[:1] not in ("", " ")]


@settings(max_examples=300)
@given(said=st.lists(lines, min_size=1, max_size=6))
@example(
    said=[
        TranscriptLine(author=Author.SUBSCRIBER, name=FORGED + end, text=f"a{end}{FORGED}", at=AT)
        for end in ENDS
    ]
)
def test_no_line_at_the_margin_of_a_transcript_comes_from_what_was_said(
    said: list[TranscriptLine],
) -> None:
    message = request(transcript=tuple(said), timezone="UTC")
    begun = margin(compose(message, replies_are_read=False).transcript)
    assert len(begun) == len(said)
    for row, spoken in zip(begun, said, strict=True):
        assert row.startswith(f"[2026-12-01 09:00] {WORDS[spoken.author]}")


@settings(max_examples=100)
@given(said=st.lists(lines, min_size=3, max_size=6), room=st.integers(300, 900))
def test_nor_of_one_that_was_shortened(said: list[TranscriptLine], room: int) -> None:
    message = request(transcript=tuple(said), timezone="UTC")
    body = compose(message, replies_are_read=False, cap=OUR_WORDS_BYTES + room)
    ours = ("[2026-12-01 09:00] ", "Earlier messages: … (in the form)")
    assert [row for row in margin(body.transcript) if not row.startswith(ours)] == []


@pytest.mark.parametrize("end", ENDS)
def test_every_end_of_a_line_leads_to_an_indented_one(end: str) -> None:
    said = TranscriptLine(author=Author.SUBSCRIBER, name="Ada", text=f"a{end}{FORGED}", at=AT)
    transcript = compose(request(transcript=(said,)), replies_are_read=False).transcript
    assert FORGED in transcript
    assert margin(transcript) == [transcript.splitlines()[0]]


@pytest.mark.parametrize("message", [request, line])
def test_a_name_that_reads_as_ours_stands_behind_the_bar(
    message: Callable[..., Request | Line],
) -> None:
    notice = "Security notice: sign in at https://evil.example/"
    body = compose(message(subscriber_name=notice), replies_are_read=False)
    assert [row for row in body.text.splitlines() if notice in row] == [f"| {notice}"]
    before = body.html[: body.html.index(notice)]
    assert before.rindex('class="theirs"') > before.rindex("</div>")
