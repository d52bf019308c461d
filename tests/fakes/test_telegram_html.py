"""The fake reads Telegram's HTML as its server does (td/telegram/MessageEntity.cpp)."""

import pytest

from tests.fakes.telegram_html import ParseError, found_in, parse


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("\U0001f3df &lt;</", "Unexpected end tag at byte offset 9"),
        ("<i>a</i   ", "Unclosed end tag at byte offset 4"),
        ("<i>a</em   >", 'Unmatched end tag at byte offset 4, expected "</i>", found "</em>"'),
        ("<script>", 'Unsupported start tag "script" at byte offset 0'),
        ("1 < 2", 'Unsupported start tag "" at byte offset 2'),
        ("<b", "Unclosed start tag at byte offset 0"),
        (
            "<a href>x</a>",
            ('Expected equal sign in declaration of an attribute of the tag "a" at byte offset 0'),
        ),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
    ],
)
def test_what_is_wrong_is_said_in_its_words(source: str, words: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(source)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a &lt;b&gt; &amp;amp; &quot;&#39;&#x27;", "a <b> &amp; \"''"),
        ("&lt no semicolon", "< no semicolon"),
        ("&unknown; & &; &#0;", "&unknown; & &; &#0;"),
        ("<B>x</b> <i>y</>", "x y"),
    ],
)
def test_characters_are_read_as_they_are_meant(source: str, text: str) -> None:
    assert parse(source)[0] == text


def test_what_the_markup_says_is_counted_in_utf16_units() -> None:
    text, [quote, bold, link] = parse(
        '<blockquote>\U0001f3df <b>x</b></blockquote><a href="https://a.example/?b=1&amp;c">L</a>'
    )
    assert text == "\U0001f3df xL"
    assert (quote.offset, quote.length, quote.text) == (0, 4, "\U0001f3df x")
    assert (bold.offset, bold.length, bold.type) == (3, 1, "bold")
    assert (link.url, link.offset) == ("https://a.example/?b=1&c", 4)


def test_a_link_that_leads_nowhere_keeps_its_words_alone() -> None:
    assert parse('<a href="http://localhost:8000/r/x/">Form</a>') == ("Form", [])


def test_names_commands_and_addresses_are_found_outside_of_code() -> None:
    source = "@mia ada@mail.example /release@bot a/b https://x.example/y <code>@mia /x</code>"
    text, entities = parse(source)
    found = [(entity.type, entity.text) for entity in found_in(text, entities)]
    assert found == [
        ("mention", "@mia"),
        ("bot_command", "/release@bot"),
        ("url", "https://x.example/y"),
    ]
