"""Discord's markdown: whatever somebody wrote is shown as they wrote it."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff.transports.base import Notice, Outgoing
from handoff.transports.discord_post import answering
from handoff.transports.discord_text import (
    BUTTON_URL_MAX,
    Markdown,
    button,
    nonce,
    readable,
    thread_name,
)
from tests.fakes.discord_markdown import read
from tests.transports.discord_samples import settings
from tests.transports.mail_samples import LINK, closed, line, request

PIECES = [
    "https://", "http://a.b/", "@everyone", "@here", "<@1>", "<@&2>", "<#3>", "</release:4>",
    "<t:1:R>", "<:x:5>", "<a:x:6>", ":smile:", "[x](https://evil.example)", "**", "__", "~~", "||",
    "```", "`", "# ", "-# ", "- ", "1. ", "> ", ">>> ", "\\", "\n", " ", "word", "é", "😀",
    "_", "*",
]  # fmt: skip


def assert_literal(text: str) -> None:
    rows = read(Markdown().quote(Markdown().escape(text)))
    assert "\n".join(row.words for row in rows) == text
    assert {effect for row in rows for effect in row.effects} <= {"quote", "link"}


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=12))
def test_no_words_of_anybody_become_markup_or_a_mention(pieces: list[str]) -> None:
    assert_literal("".join(pieces).replace("\r", ""))


@pytest.mark.parametrize(
    "text",
    [
        "See https://shop.example/order_1234/track_me.",
        "https://a.b/?q=1&r=%20#top, and (http://c.d/e_f)",
        "https://a.b<@1>",
        "https://_x_ https://a.b/*bold*",
        "a https://a.b/[x](https://evil.example)",
        "xhttps://not_a_link_",
        "12:30:45 and C:\\temp\\*",
        "  # no heading\n12. no list\n+ none\n-# none",
    ],
)
def test_addresses_stay_whole_or_stay_letters(text: str) -> None:
    assert_literal(text)


def test_an_address_can_be_clicked_unless_its_letters_are_markup() -> None:
    assert Markdown().escape("https://a.b/c_d?e=f") == "https://a.b/c_d?e=f"
    assert Markdown().escape("https://a.b/*c*") == "https\\://a.b/\\*c\\*"


def test_text_made_to_take_long_takes_no_time() -> None:
    for hostile in ("https://[" * 20_000, ":a" * 50_000, "\n " * 50_000, "1" * 100_000):
        assert len(Markdown().escape(hostile)) >= len(hostile)


def test_a_thread_is_named_in_one_row_of_at_most_a_hundred_characters() -> None:
    named = thread_name(request(agent_name="Nova", expected_action="Look up\norder 1234."))
    assert named == "Nova asks: Look up order 1234."
    for hostile in ("😀" * 1000, "\u202eevil " * 200, "x"):
        name = thread_name(request(agent_name="A" * 100, expected_action=hostile))
        assert 1 <= len(name.encode("utf-16-le")) // 2 <= 100
        assert "\u202e" not in name


def test_a_nonce_is_short_and_belongs_to_one_message() -> None:
    first = request(session="hs_" + "a" * 26, number=1)
    assert nonce(first) == nonce(dataclasses.replace(first, summary="Other words, same message."))
    others: list[Outgoing] = [
        request(session="hs_" + "a" * 26, number=2),
        request(session="hs_" + "b" * 26, number=1),
        Notice(place="1", text="Released.", answers="2"),
        Notice(place="1", text="Released.", answers="3"),
    ]
    every = {nonce(first), *map(nonce, others)}
    assert len(every) == 5
    assert {len(one) for one in every} == {25}


def test_a_button_stands_where_discord_takes_it() -> None:
    [row] = button(request())
    assert row == {
        "type": 1,
        "components": [{"type": 2, "style": 5, "label": "Fill return form", "url": LINK}],
    }
    assert button(closed())[0]["components"][0]["label"] == "Return form"
    assert button(line("Hello?")) == []
    assert button(request(return_url="http://localhost:8000/r/x/")) == []
    assert button(request(return_url="https://a.b/" + "x" * BUTTON_URL_MAX)) == []


def test_what_is_promised_is_what_the_settings_hear() -> None:
    def promised(**changes: object) -> str:
        return answering(request(), settings(**changes))

    assert promised() == "Write to the visitor with /reply, in the thread of this message."
    polled = "What you write in the thread of this message goes to the visitor."
    assert promised(poll_replies=True) == polled
    assert promised(public_key="") == ""
    assert answering(request(idle_minutes=None), settings()) == ""


def test_what_people_type_is_read_with_names_in_place_of_ids() -> None:
    names = {"7": "Ana"}
    typed = "<@7> or <@!8>: see <#9> <:party:10> <a:wave:11> <@&12> <b> 1 < 2"
    assert readable(typed, names) == "@Ana or @8: see #9 :party: :wave: @12 <b> 1 < 2"
