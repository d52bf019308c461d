"""What is left of a reply once the mail that it answers is taken off."""

import time

import pytest

from handoff.contract.commands import read_release
from handoff.transports.email_html import text_of_html
from handoff.transports.email_quote import without_quotes
from tests.transports.reply_samples import GMAIL, HTML, OURS, OUTLOOK, QUOTED, TOKEN, WROTE

ANSWER = "It ships tomorrow.\n\nMia"


@pytest.mark.parametrize("wrote", WROTE.values(), ids=WROTE)
@pytest.mark.parametrize("quoted", [QUOTED, OURS], ids=["behind >", "as it is"])
def test_the_mail_below_a_line_that_says_who_wrote_is_taken_off(wrote: str, quoted: str) -> None:
    assert without_quotes(f"{ANSWER}\n\n{wrote}\n\n{quoted}\n") == ANSWER


@pytest.mark.parametrize("headers", OUTLOOK.values(), ids=OUTLOOK)
@pytest.mark.parametrize("rule", ["", "________________________________\n"])
def test_the_mail_below_a_block_of_headers_is_taken_off(headers: str, rule: str) -> None:
    assert without_quotes(f"{ANSWER}\n\n{rule}{headers}\n\n{OURS}\n") == ANSWER


@pytest.mark.parametrize(
    "separator",
    [
        "-----Original Message-----", "----- Ursprüngliche Nachricht -----",
        "-----Message d'origine-----", "-----Mensaje original-----", "-----Mensagem original-----",
        "-----Oprindelig meddelelse-----", "-----الرسالة الأصلية-----", "-----元のメッセージ-----",
    ],
)  # fmt: skip
def test_the_mail_below_a_separator_is_taken_off(separator: str) -> None:
    foreign = OURS.partition("\n")[2]
    assert without_quotes(f"{ANSWER}\n\n{separator}\n{foreign}\n") == ANSWER


def test_an_answer_below_the_quote_is_kept() -> None:
    assert without_quotes(f"{WROTE['en']}\n{QUOTED}\n\n{ANSWER}\n") == ANSWER
    assert without_quotes(f"{QUOTED}\n\n{ANSWER}") == ANSWER


def test_answers_between_the_lines_of_a_quote_are_kept() -> None:
    text = f"See below.\n\n{WROTE['de']}\n> When?\n\nTomorrow.\n\n> And how?\nBy train.\n{QUOTED}\n"
    assert without_quotes(text) == "See below.\n\nTomorrow.\n\nBy train."


def test_an_unknown_language_leaves_no_line_that_leads_over() -> None:
    wrote = "Ar Luan 30 Samh 2026 ag 10:00, scríobh Desk:"
    assert without_quotes(f"{ANSWER}\n\n{wrote}\n\n{QUOTED}") == ANSWER


def test_without_any_known_sign_the_marker_is_enough() -> None:
    assert without_quotes(f"{ANSWER}\n\n{OURS}") == ANSWER
    assert without_quotes(f"{ANSWER}\n{OURS.replace('-- reply', '— reply')}") == ANSWER


@pytest.mark.parametrize(
    "text",
    [
        QUOTED,
        f"{WROTE['en']}\n{QUOTED}",
        f"{WROTE['da']}\n{OURS}",
        f"{OUTLOOK['da']}\n\n{OURS}",
        OURS,
    ],
)
def test_only_our_own_mail_quoted_is_nothing_said(text: str) -> None:
    """What stands in it was written to the recipient: it must not get to the visitor."""
    assert without_quotes(text) == ""


def test_of_another_mail_in_which_nothing_is_new_all_is_kept() -> None:
    text = "> shipped yesterday\n> with DHL"
    assert without_quotes(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "She wrote: it ships at 10:30",
        "On Monday we wrote 3 times.\nNothing came.",
        "Please note:\n- to: the door\n- from: the window",
        "To: be or not\nSubject: to change",
        "Options:\n----\nA\nB",
        "Costs:\n1: 20 EUR\n2: 30 EUR",
        "De: acuerdo",
    ],
)
def test_what_only_looks_a_little_like_a_quote_is_kept(text: str) -> None:
    assert without_quotes(text) == text


def test_a_signature_is_taken_off_where_it_says_that_it_is_one() -> None:
    assert without_quotes(f"{ANSWER}\n-- \nMia Berg\n+49 30 1234") == ANSWER
    assert without_quotes(f"one\n--\ntwo\n\n{WROTE['en']}\n{QUOTED}") == "one\n--\ntwo"


@pytest.mark.parametrize("below", [*WROTE.values(), *OUTLOOK.values(), ""])
def test_our_own_release_line_never_releases(below: str) -> None:
    for quoted in (QUOTED, OURS):
        for above in ("", "\n\n", f"{ANSWER}\n\n"):
            command = read_release(without_quotes(f"{above}{below}\n\n{quoted}"))
            assert command is None


@pytest.mark.parametrize(
    "above",
    [
        f"/release {TOKEN} all done",
        f"\u200b\n\ufeff/release {TOKEN} all done",
        f"!release\u00a0{TOKEN} all done",
    ],
)
def test_a_release_line_that_was_typed_is_read(above: str) -> None:
    command = read_release(without_quotes(f"{above}\n\n{WROTE['de']}\n{QUOTED}"))
    assert command is not None
    assert (command.token, command.note, command.rest) == (TOKEN, "all done", "")


def test_gmail_html_is_read_as_what_was_typed() -> None:
    text = text_of_html(GMAIL)
    assert without_quotes(text) == "It ships tomorrow.\n\nMia & Jo"
    assert f"> /release {TOKEN}" in text


@pytest.mark.parametrize("html", HTML.values(), ids=HTML)
def test_html_of_other_mail_programs_is_read_as_what_was_typed(html: str) -> None:
    assert without_quotes(text_of_html(html)) == "Tomorrow."


def test_html_that_quotes_only_our_release_line_never_releases() -> None:
    text = without_quotes(text_of_html(f"<blockquote>/release {TOKEN}</blockquote><div><br></div>"))
    assert read_release(text) is None


@pytest.mark.parametrize("html", ["", " ", "<!", "<", "\x00", "<![CDATA[x]]>", "\ud800", "<p"])
def test_broken_html_is_some_text(html: str) -> None:
    assert isinstance(text_of_html(html), str)


def test_text_at_the_bottom_of_deep_html_is_read() -> None:
    assert text_of_html("<div>" * 200 + "Tomorrow." + "</div>" * 200) == "Tomorrow."


@pytest.mark.slow
def test_hostile_texts_take_no_more_time_than_their_length() -> None:
    """100,000 characters and 300,000 of HTML; Python's own HTML parser needs minutes for some."""
    texts = (
        "\n", "> \n", ":\n", "On a\n", "On a:\n", "From: a\n", "a@b ", "1:", "____\n", "-----\n",
        "-- ", "wrote:\n", "From:", "a@b.example 2026 wrote:\n", "*", " \n",
    )  # fmt: skip
    pages = (
        "<div>", "<blockquote>", "<a ", "<b>a", "<p><b>", "<!", "<!--", "<table>", "<td>a", "<br>",
        "<pre>\n", "&", "<b><i></b>", "<p class='gmail_quote'>a", "<a b='", "</",
    )  # fmt: skip
    slowest = 0.0
    for unit in texts:
        before = time.process_time()
        without_quotes((unit * 100_000)[:100_000])
        slowest = max(slowest, time.process_time() - before)
    for unit in pages:
        before = time.process_time()
        text_of_html((unit * 300_000)[:300_000])
        slowest = max(slowest, time.process_time() - before)
    shapes = len(texts) + len(pages)
    print(f"slowest of {shapes} hostile shapes: {slowest:.2f} s of processor time")  # noqa: T201
    assert slowest < 5
