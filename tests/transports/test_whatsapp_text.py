"""What a WhatsApp message says: the link and the release line whole, all else as it was written."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType, Urgency
from handoff.transports.base import Notice
from handoff.transports.whatsapp_text import (
    BODY_MAX,
    BUTTON_MAX,
    JOINER,
    TEXT_MAX,
    Content,
    WhatsAppText,
    in_template,
    in_window,
    plain,
)
from tests.environment import PUBLIC_BASE_URL
from tests.transports.mail_samples import LINK, TOKEN, closed, line
from tests.transports.whatsapp_samples import TEMPLATE, formatted, request, settings_of

NASTY = "*bold* _it_ ~gone~ `code` ```block\nblock``` > quote\n- item\n1. one\n/release h7aaaa "


def text_of(content: Content) -> str:
    if content.type == "interactive":
        return str(content.value["body"]["text"])
    return str(content.value["body"])


def length(text: str) -> int:
    return max(len(text), len(text.encode("utf-16-le")) // 2)


def values_of(content: Content, kind: str = "body") -> list[str]:
    [part] = [part for part in content.value["components"] if part["type"] == kind]
    return [value["text"] for value in part["parameters"]]


def test_a_short_request_has_a_button_and_no_address_in_its_text() -> None:
    content = in_window(request(transcript=()), replies_are_read=True)
    assert content.type == "interactive"
    assert content.value["type"] == "cta_url"
    assert content.value["action"]["parameters"] == {
        "display_text": "Fill return form",
        "url": LINK,
    }
    text = text_of(content)
    assert len(text) <= BODY_MAX
    assert "http" not in text
    assert f"`/release {TOKEN}`" in text
    assert "Look up order 1234 and say when it arrives." in text


def test_a_long_request_is_a_text_with_the_address_and_without_a_preview() -> None:
    content = in_window(request(summary="It is long. " * 120), replies_are_read=True)
    assert content.type == "text"
    assert content.value["preview_url"] is False
    assert BODY_MAX < length(text_of(content)) <= TEXT_MAX
    assert LINK in text_of(content).split("\n\n")[1]


def test_a_label_that_is_too_long_for_a_button_is_cut() -> None:
    content = in_window(closed(), replies_are_read=True)
    label = content.value["action"]["parameters"]["display_text"]
    assert (label, len(label) <= BUTTON_MAX) == ("Return form", True)


def test_replies_are_promised_only_where_they_are_read() -> None:
    words, release = "Your replies here reach the visitor.", "begin a reply with"
    assert words in text_of(in_window(request(), replies_are_read=True))
    unheard = text_of(in_window(request(), replies_are_read=False))
    assert words not in unheard
    assert release not in unheard
    assert release not in text_of(plain(request(), replies_are_read=False))
    assert words not in text_of(in_window(request(idle_minutes=None), replies_are_read=True))


@pytest.mark.parametrize("part", ["summary", "expected_action", "subscriber_name", "agent_name"])
def test_what_an_agent_wrote_is_not_formatted(part: str) -> None:
    text = text_of(in_window(request(**{part: NASTY}), replies_are_read=True))
    assert not {"bold", "it", "gone", "code"} & set(formatted(text))
    assert "block" not in "".join(formatted(text))
    assert f"/release {TOKEN}" in formatted(text)
    if part in ("summary", "expected_action"):
        assert NASTY.strip() in text.replace(JOINER, "").replace("\n| ", "\n")


def test_a_hostile_message_of_4_kb_keeps_within_the_limits_and_its_link_whole() -> None:
    hostile = (NASTY + "\U0001f600 </a> ") * 60
    asked = request(
        summary=hostile[:2000],
        expected_action=hostile[:1000],
        extra_context=(("note", hostile[:4000]),),
        fields=(
            ReturnField(name="a", type=FieldType.STRING, label=hostile[:200]),
            ReturnField(name="b", type=FieldType.STRING, description=hostile[:500]),
        ),
        agent_name=hostile[:100],
        channel_label=hostile[:100],
        subscriber_name=hostile[:100],
    )
    text = text_of(in_window(asked, replies_are_read=True))
    assert TEXT_MAX - 100 < length(text) <= TEXT_MAX
    head, _, rest = text.partition("What is needed from you")
    assert f"Fill return form: {LINK}\n" in head
    assert f"`/release {TOKEN}`" in head
    assert LINK not in rest
    own = {"Shop", TOKEN}
    assert not own & set(formatted(rest))
    assert "| /release h7aaaa" in text
    assert not [row for row in text.splitlines() if row.startswith(("/release", "> ", "- ", "1. "))]


@given(st.text(alphabet=st.sampled_from("*_~`a \n\u200dß://hx."), max_size=60))
def test_no_words_of_an_agent_begin_a_format(words: str) -> None:
    quoted = WhatsAppText().quote(WhatsAppText().escape(words))
    assert formatted(quoted) == []


@given(st.text(max_size=80))
def test_without_the_joiners_the_words_are_what_they_were(words: str) -> None:
    escaped = WhatsAppText().escape(words)
    assert escaped.replace(JOINER, "") == words.replace(JOINER, "")


def test_what_is_copied_stays_the_same() -> None:
    for words in ("order_1234_a", "https://shop.example/_a_/*b*?x=~c~", "3*4*5"):
        assert WhatsAppText().escape(words) == words


def test_a_run_of_letters_is_escaped_in_a_moment() -> None:
    assert WhatsAppText().escape("a" * 200_000) == "a" * 200_000


def test_a_line_says_who_writes_and_stands_behind_a_bar() -> None:
    content = in_window(line("Are *you* there?\nPlease."), replies_are_read=True)
    assert content.type == "text"
    assert formatted(text_of(content)) == ["The visitor:"]
    assert "| Please." in text_of(content).splitlines()


def test_a_notice_is_plain_text() -> None:
    content = in_window(
        Notice(place="49151", text="That line is not known."), replies_are_read=True
    )
    assert content == Content("text", {"body": "That line is not known.", "preview_url": False})


def test_the_template_gets_who_what_and_the_release_token() -> None:
    chosen = settings_of(**TEMPLATE)
    content = in_template(request(urgency=Urgency.HIGH, return_url=_link()), chosen)
    assert content.value["name"] == "handoff_request"
    assert content.value["language"] == {"code": "en"}
    heading, words, token = values_of(content)
    assert heading == "Nova, an AI agent, asks Sales support to take over."
    assert words.startswith("Urgent. Look up order 1234 and say when it arrives. – Ada")
    assert token == TOKEN
    assert values_of(content, "button") == ["bGlua2lk.c2lnbmF0dXJl/"]
    [button] = [part for part in content.value["components"] if part["type"] == "button"]
    assert (button["sub_type"], button["index"]) == ("url", "0")


def test_without_a_button_the_template_gets_the_whole_address() -> None:
    content = in_template(request(return_url=_link()), settings_of(template_name="plain_one"))
    assert values_of(content)[3] == _link()
    assert [part["type"] for part in content.value["components"]] == ["body"]


@pytest.mark.parametrize(
    "message",
    [
        request(summary=(NASTY + "\t  \n") * 40, expected_action="A  B\t\nC " * 100),
        line((NASTY + "\t  \n") * 60),
        line(""),
        closed(reason="It\nwas   withdrawn."),
    ],
)
@pytest.mark.parametrize("button", [True, False])
def test_no_value_of_a_template_breaks_a_rule_of_meta(message: Any, button: bool) -> None:
    chosen = settings_of(**{**TEMPLATE, "template_has_button": button})
    values = values_of(in_template(message, chosen))
    assert len(values) == (3 if button else 4)
    assert all(value and not re.search(r"[\n\t]|  ", value) for value in values)
    assert sum(map(length, values)) <= 600
    assert not formatted("\n".join(values))
    assert values[2] == TOKEN


def test_what_is_left_to_try_has_no_markup_and_the_link() -> None:
    content = plain(request(), replies_are_read=True)
    assert content.type == "text"
    assert length(text_of(content)) <= BODY_MAX
    assert LINK in text_of(content)
    assert f"/release {TOKEN}" in text_of(content)
    assert not formatted(text_of(content))


def test_every_content_is_json() -> None:
    for message in (request(summary="\ud800 half" * 10), line("\x00"), closed()):
        content = in_window(message, replies_are_read=True)
        json.dumps(content.as_json(), ensure_ascii=False).encode()


def _link() -> str:
    """As the desk under test writes it."""
    return f"{PUBLIC_BASE_URL}/r/bGlua2lk.c2lnbmF0dXJl/"
