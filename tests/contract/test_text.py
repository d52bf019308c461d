"""Text hygiene."""

import pytest

from handoff.contract.text import (
    TextProblem,
    as_name,
    clean,
    one_line,
    readable,
    scrub,
    visible,
)
from tests.contract.hostile import PIECES


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  ask \t", "ask"),
        ("a\r\nb\nc\td", "a\nb\nc\td"),
        ("e\u0301", "é"),
        ("👩\u200d💻 क\u200cष", "👩\u200d💻 क\u200cष"),
        ("\u00a0a\u3000", "a"),
        ("\u202eabc", "\u202eabc"),
        ("", ""),
    ],
)
def test_text_is_normalised_and_trimmed(typed: str, kept: str) -> None:
    assert clean(typed) == kept
    assert scrub(typed) == kept


@pytest.mark.parametrize(
    ("char", "reason"),
    [
        ("\x00", "holds a NUL character"),
        ("\x1b", "holds a control character (U+001B)"),
        ("\x0b", "holds a control character (U+000B)"),
        ("\r", "holds a control character (U+000D)"),
        ("\x7f", "holds a control character (U+007F)"),
        ("\x85", "holds a control character (U+0085)"),
        ("\ud800", "holds half of a surrogate pair (U+D800)"),
        ("\udfff", "holds half of a surrogate pair (U+DFFF)"),
        ("\ufffe", "holds U+FFFE, which is not a character"),
        ("\uffff", "holds U+FFFF, which is not a character"),
    ],
)
def test_what_breaks_stores_is_refused_by_name(char: str, reason: str) -> None:
    with pytest.raises(TextProblem) as caught:
        clean(f"before {char} after")
    assert caught.value.reason == reason


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0)])
def test_every_control_character_is_refused_but_tab_and_line_feed(code: int) -> None:
    char = chr(code)
    if char in "\t\n":
        assert clean(f"a{char}b") == f"a{char}b"
    else:
        with pytest.raises(TextProblem):
            clean(f"a{char}b")


@pytest.mark.parametrize("piece", PIECES)
def test_scrubbed_text_passes_the_border_and_can_be_stored(piece: str) -> None:
    kept = scrub(f"a{piece}b")
    assert clean(kept) == kept
    assert "\x00" not in kept
    kept.encode()


def test_a_raw_text_keeps_its_spaces() -> None:
    assert readable("  a\rb\r\nc\x00 ") == "  a\nb\nc\ufffd "


@pytest.mark.parametrize("piece", PIECES)
def test_a_single_line_is_one_line_without_brackets(piece: str) -> None:
    line = one_line(f"a{piece}b")
    assert len(line.splitlines()) == 1
    assert "[" not in line
    assert "]" not in line


def test_a_single_line_keeps_all_else_as_it_is() -> None:
    assert one_line(" Re: [a]\r\nb\u2028c\u200dd\ud800e  f. ") == "Re: (a)  b c d e  f."


def test_overrides_of_direction_are_shown_and_joiners_stay() -> None:
    assert visible("a\u202eb\u2069c\u200dd") == "a\\u202eb\\u2069c\u200dd"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  Mia \u2028 of\tSales\r\n", "Mia of Sales"),
        ("Mia\x00\x1b\ud800", "Mia\ufffd\ufffd\ufffd"),
        ("\u00a0\u3000", ""),
        ("👩\u200d💻 Mia", "👩\u200d💻 Mia"),
        ("Zoe\u0308", "Zoë"),
    ],
)
def test_a_name_of_somebody_s_own_stands_on_one_line(given: str, kept: str) -> None:
    assert as_name(given) == kept
