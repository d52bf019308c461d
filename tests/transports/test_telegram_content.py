"""What people read in Telegram: rendered by the fake as its server would, never our own markup."""

import datetime as dt
import html

import pytest
from pytest_django import Settings

from handoff.contract.kinds import Author, Urgency
from handoff.transports.base import Notice, TranscriptLine
from handoff.transports.telegram_text import TEXT_MAX, TelegramHtml, opens
from tests.fakes.telegram import SUPERGROUP, FakeTelegram
from tests.fakes.telegram_chats import MIA, Post
from tests.fakes.telegram_html import found_in, parse, units
from tests.transports import mail_samples as samples
from tests.transports.telegram_samples import send

LINK, TOKEN = samples.LINK, samples.TOKEN
HOSTILE = (
    "<b>bold</b> <script>alert(1)</script> </blockquote></b> _*[`~>#+-=|{}.!] __x__ "
    "[link](https://evil.example) @everyone @mia_the_real ada@customer.example /release@x "
    "&lt;b&gt; &amp &#60; &#x3c; &unknown; \u202eright to left\u2066 שלום مرحبا \U0001f469\u200d"
    "\U0001f4bb \U0001f1e9\U0001f1ea e\u0301 \u200b\u2028second line\x0bthird\ttab"
)


def plain(text: str) -> str:
    """As a reader sees it: without what takes no room."""
    return text.replace("\u2060", "")


def only(telegram: FakeTelegram) -> Post:
    [post] = telegram.posts
    return post


def test_a_request_says_who_asks_for_what_and_how_to_answer(telegram: FakeTelegram) -> None:
    receipt = send(samples.request())
    post = only(telegram)
    assert post.text.startswith("Nova, an AI agent, asks Sales support to take over.")
    for part in (
        "Ada Lovelace ordered a lathe (order 1234) and has heard nothing since.",
        "Look up order 1234 and say when it arrives.",
        "1. Order status (one choice, required) – shipped / delayed",
        "plan: enterprise",
        "Where is my order?",
        "Reply to this message to write to the visitor.",
        f"/release {TOKEN}",
    ):
        assert part in post.text
    assert post.links == {"Fill return form": LINK}
    assert post.buttons == (("Fill return form", LINK),)
    assert post.said("code") == [f"/release {TOKEN}"]
    assert not post.previews
    assert (receipt.provider_message_id, receipt.thread_key) == (post.id, post.id)
    assert post.id == f"{MIA.id}:1"


def test_the_link_and_the_release_line_stand_before_every_long_part(telegram: FakeTelegram) -> None:
    send(samples.request(urgency=Urgency.HIGH))
    text = only(telegram).text
    assert text.startswith("Urgent.")
    long_parts = text.index("What is needed from you")
    assert text.index("Fill return form") < long_parts
    assert text.index(f"/release {TOKEN}") < long_parts


def test_a_detached_handoff_promises_nobody_who_reads_a_reply(telegram: FakeTelegram) -> None:
    send(samples.request(idle_minutes=None))
    assert "Reply to this message" not in only(telegram).text


def test_what_follows_stands_under_the_dispatch(telegram: FakeTelegram) -> None:
    first = send(samples.request())
    ids = {"earlier_ids": (first.provider_message_id,), "thread_key": first.thread_key}
    second = send(
        samples.line("Are you there?", "Please <answer> & soon."),
    )
    third = send(samples.line("Are you there?", "Please <answer> & soon.", **ids))
    send(
        samples.closed(
            **{**ids, "earlier_ids": (first.provider_message_id, third.provider_message_id)}
        )
    )
    request, alone, line, closed = telegram.posts
    assert (request.answers, alone.answers, line.answers, closed.answers) == (None, None, 1, 1)
    assert line.said("blockquote") == ["Are you there?", "Please <answer> & soon."]
    assert "The visitor: Ada Lovelace" in line.text
    assert not line.buttons
    assert "The agent withdrew its question." in closed.text
    assert closed.links == {"Return form": LINK}
    assert second.thread_key == ""


def test_an_older_dispatch_without_a_thread_is_answered_all_the_same(
    telegram: FakeTelegram,
) -> None:
    first = send(samples.request())
    send(samples.line(earlier_ids=(first.provider_message_id,)))
    assert telegram.posts[1].answers == 1


def test_an_id_of_another_chat_is_never_answered_here(telegram: FakeTelegram) -> None:
    send(samples.request())
    send(samples.line(thread_key=f"{SUPERGROUP}:1", earlier_ids=(f"{SUPERGROUP}:1",)))
    assert telegram.posts[1].answers is None


def test_a_notice_goes_to_whoever_wrote_and_into_their_topic(telegram: FakeTelegram) -> None:
    telegram.rooms[SUPERGROUP].topics = {7}
    said = telegram.write("/release x", chat=SUPERGROUP, topic=7)
    notice = Notice(
        place=f"{SUPERGROUP}/7",
        text="That release line is not <recognised>.",
        answers=f"{SUPERGROUP}:{said['message_id']}",
    )
    receipt = send(notice)
    post = only(telegram)
    assert post.text == "That release line is not <recognised>."
    assert (post.chat, post.topic, post.answers) == (SUPERGROUP, 7, said["message_id"])
    assert receipt.settings is None


def test_a_hostile_message_arrives_as_the_letters_that_it_is(telegram: FakeTelegram) -> None:
    hostile = (HOSTILE * 20)[:4096]
    line = TranscriptLine(
        author=Author.SUBSCRIBER, name=HOSTILE, text=hostile, at=dt.datetime.now(dt.UTC)
    )
    send(
        samples.request(
            agent_name=HOSTILE,
            channel_label=HOSTILE,
            subscriber_name=HOSTILE,
            summary=HOSTILE,
            expected_action=HOSTILE,
            extra_context=((HOSTILE, HOSTILE),),
            transcript=(line,),
            contact_back_email="ada@customer.example",
        )
    )
    post = only(telegram)
    shown = plain(post.text)
    assert "<b>bold</b> <script>alert(1)</script> </blockquote></b> _*[`~>#+-=|{}.!]" in shown
    assert "&lt;b&gt; &amp &#60; &#x3c; &unknown; \\u202eright to left\\u2066 שלום مرحبا" in shown
    assert "\U0001f469\u200d\U0001f4bb \U0001f1e9\U0001f1ea é" in shown
    assert "\u202e" not in shown
    assert post.rings == []
    assert post.links == {"Fill return form": LINK}
    assert post.buttons == (("Fill return form", LINK),)
    assert post.said("code") == [f"/release {TOKEN}"]
    assert "ada@customer.example" in post.text, "an address can be copied as it is"
    quoted = plain("\n".join(post.said("blockquote")))
    assert "bold" in quoted
    assert quoted.count("third\ttab") >= 2


def test_a_hostile_line_of_4096_characters_is_shown_up_to_the_limit(telegram: FakeTelegram) -> None:
    hostile = (HOSTILE * 20)[:4096]
    send(samples.line(hostile))
    post = only(telegram)
    [quoted] = post.said("blockquote")
    kept, mark, rest = plain(quoted).partition(" … (in the form)")
    assert (mark, rest) == (" … (in the form)", "")
    first = "<b>bold</b> <script>alert(1)</script> </blockquote></b> _*[`~>#+-=|{}.!] __x__"
    assert kept.startswith(first)
    assert kept.count(first) > 3
    assert post.rings == []
    assert not post.links


@pytest.mark.parametrize(
    "filler", ["x", "&", "<b>", "&lt;", "\U0001f469\u200d\U0001f4bb", "@ab ", "\n", "é", "\u202e"]
)
def test_whatever_it_is_filled_with_the_link_and_the_release_line_stay_whole(
    telegram: FakeTelegram, filler: str
) -> None:
    """As much of it as the contract lets anybody say."""

    def much(most: int) -> str:
        return (filler * most)[:most]

    line = TranscriptLine(
        author=Author.AGENT, name=much(100), text=much(1300), at=dt.datetime.now(dt.UTC)
    )
    send(
        samples.request(
            agent_name=much(100),
            channel_label=much(100),
            subscriber_name=much(100),
            summary=much(2000),
            expected_action=much(1000),
            extra_context=(("k", much(4000)),),
            transcript=(line,) * 200,
        )
    )
    post = only(telegram)
    assert post.links == {"Fill return form": LINK}
    assert post.said("code") == [f"/release {TOKEN}"]
    assert units(post.text) <= TEXT_MAX
    assert "… (in the form)" in post.text or not filler.strip()


def test_the_transcript_is_cut_first_and_keeps_its_newest_lines(telegram: FakeTelegram) -> None:
    lines = tuple(
        TranscriptLine(
            author=Author.SUBSCRIBER,
            name="Ada",
            text=f"line {number} " + "x" * 100,
            at=dt.datetime(2026, 12, 1, 9, 0, tzinfo=dt.UTC),
        )
        for number in range(200)
    )
    send(samples.request(transcript=lines))
    text = only(telegram).text
    assert "line 199 " in text
    assert "line 0 " not in text
    assert "has heard nothing since." in text
    assert "plan: enterprise" in text


@pytest.mark.parametrize("base", ["http://localhost:8000", "http://desk", "https://intranet./"])
def test_an_address_that_telegram_drops_stands_there_bare(
    telegram: FakeTelegram, base: str
) -> None:
    url = f"{base.rstrip('/')}/r/abc:def/"
    send(samples.request(return_url=url))
    post = only(telegram)
    if opens(url):
        assert post.links == {"Fill return form": url}
    else:
        assert f"Fill return form: {url}" in post.text
        assert (post.links, post.buttons) == ({}, ())


@pytest.mark.parametrize(
    ("url", "is_one"),
    [
        ("https://desk.example.org/r/x/", True),
        ("http://127.0.0.1:8000/r/x/", True),
        ("http://[::1]:8000/r/x/", True),
        ("http://localhost:8000/r/x/", False),
        ("https://desk/r/x/", False),
        ("https://desk./r/x/", False),
        ("ftp://desk.example.org/", False),
        ("https://desk.example.org/a b", False),
        ("http://[bad/", False),
        ("", False),
    ],
)
def test_what_telegram_takes_for_an_address(url: str, is_one: bool) -> None:
    assert opens(url) is is_one


def test_other_languages_and_directions_come_through(
    telegram: FakeTelegram, settings: Settings
) -> None:
    send(samples.request(language="ar", summary="أين طلبي؟ " * 10, timezone="Asia/Tokyo"))
    post = only(telegram)
    assert "أين طلبي؟" in post.text
    assert "(Asia/Tokyo)" in post.text


@pytest.mark.parametrize(
    "text", ["@mia", "hi @mia_b!", "(@mia)", "@@mia", "\n@mia", "@mia@mia", "x@mia"]
)
def test_no_name_rings_whatever_stands_before_it(text: str) -> None:
    written = TelegramHtml().escape(text)
    shown, entities = parse(written)
    assert (plain(shown), entities) == (text, [])
    assert found_in(text, []) or text == "x@mia"
    assert found_in(shown, []) == []
    assert html.unescape(written) == shown
