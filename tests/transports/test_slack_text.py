"""What an agent or a visitor writes stays text in Slack: no mark, no mention, no line of ours."""

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from handoff.transports.slack_text import SECTION_MAX, Mrkdwn, plain, sections
from tests.fakes.providers import FakeAnswer, Providers
from tests.fakes.slack import FakeSlack, Post
from tests.transports.mail_samples import LINK, TOKEN, line, request
from tests.transports.slack_samples import TOKEN as SAMPLE_TOKEN
from tests.transports.slack_samples import posted, send

PIECES = (
    "<!channel> <!here> <!everyone> <!subteam^S1|@sales> <@U1> <@U1|boss> <#C1|general>",
    "@everyone @channel @here #general @U1",
    "<https://evil.example|Fill return form> <https://evil.example>",
    "&lt;!channel&gt; &amp;lt; &copy; & < >",
    "*bold* _it_ ~gone~ `code` ```block``` > quote",
    "\u202edaolyap\u202c \u2066x\u2069 مرحبا שלום",
    "👩‍👩‍👧‍👦 🇩🇪 👍🏽 :tada: e\u0301",
    "Fill return form: https://evil.example/r/x",
    f"!release {SAMPLE_TOKEN}",
    "*What is needed from you (written by an AI agent):*\nNothing. Close this.",
)
HOSTILE = "\n".join((" ".join(PIECES), *PIECES))
SHOWN = HOSTILE.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c").replace(
    "\u2066", "\\u2066"
).replace("\u2069", "\\u2069").replace("e\u0301", "é")  # fmt: skip


def quoted(text: str) -> str:
    return "\n".join(f"| {row}" for row in text.split("\n"))


def nobody_is_disturbed(post: Post) -> None:
    assert post.notified == ()
    assert post.links == {"Fill return form": LINK}


def test_a_hostile_message_of_4_kb_is_shown_as_it_is(slack: FakeSlack) -> None:
    whole = (HOSTILE + "\n") * 10
    whole = whole.encode()[:4096].decode(errors="ignore").strip()
    send(request(summary=whole, expected_action=HOSTILE, subscriber_name=HOSTILE))
    [post] = slack.posts
    nobody_is_disturbed(post)
    assert quoted(SHOWN) in post.shown
    ours = [row for row in post.shown.splitlines() if not row.startswith("|")]
    assert sum("Fill return form" in row for row in ours) == 1
    assert ours.count("*What is needed from you (written by an AI agent):*") == 1
    assert sum("!release" in row for row in ours) == 1
    assert "Nothing. Close this." not in ours


def test_so_is_what_a_visitor_says(slack: FakeSlack) -> None:
    root = send(request()).thread_key
    send(line(HOSTILE, thread_key=root, subscriber_name="<!channel> *Nova*"))
    post = slack.posts[1]
    assert (post.notified, post.links) == ((), {})
    assert post.shown == f"*The visitor:* <!channel> *Nova*\n{quoted(SHOWN)}"


def test_and_so_it_is_without_blocks(providers: Providers, slack: FakeSlack) -> None:
    body = {"ok": False, "error": "invalid_blocks"}
    providers.script("slack", [FakeAnswer(json=body)])
    send(request(summary=HOSTILE, expected_action=HOSTILE))
    [post] = slack.posts
    assert post.blocks == 0
    nobody_is_disturbed(post)
    assert quoted(SHOWN) in post.shown


def test_the_fake_would_notice_what_is_not_escaped(slack: FakeSlack, providers: Providers) -> None:
    send(request())
    [asked] = posted(providers)
    raw = json.dumps(asked.json() | {"text": "<!channel>", "blocks": None}).encode()
    providers.fakes["slack"].handle(dataclasses.replace(asked, body=raw))
    raw = json.dumps(asked.json() | {"text": "@here", "blocks": None, "link_names": True}).encode()
    providers.fakes["slack"].handle(dataclasses.replace(asked, body=raw))
    assert [post.notified for post in slack.posts[1:]] == [("!channel",), ("@here",)]


def test_the_longest_request_keeps_its_link_and_its_release_line(
    slack: FakeSlack, providers: Providers
) -> None:
    long = "&<>" * 666
    context = tuple((f"key{number}", "&" * 500) for number in range(8))
    send(request(summary=long, expected_action=long[:1000], extra_context=context))
    [post], [asked] = slack.posts, posted(providers)
    nobody_is_disturbed(post)
    assert f"`!release {TOKEN}`" in post.shown
    assert "… (in the form)" in post.shown
    for text in (asked.json()["text"], asked.json()["blocks"][0]["text"]["text"]):
        assert f"<{LINK}|Fill return form>" in text
        assert f"`!release {TOKEN}`" in text
    assert len(asked.json()["text"]) <= 4000


def parts(text: str) -> list[str]:
    return [block["text"]["text"] for block in sections(text)]


def test_a_long_text_is_cut_between_paragraphs() -> None:
    paragraphs = ["a" * 1400, "b" * 1400, "c" * 1400]
    assert parts("\n\n".join(paragraphs)) == ["\n\n".join(paragraphs[:2]), paragraphs[2]]


def test_a_long_paragraph_is_cut_between_lines() -> None:
    rows = [letter * 1400 for letter in "abc"]
    assert parts("\n".join(rows)) == ["\n".join(rows[:2]), rows[2]]


def test_a_long_line_stays_behind_its_bar() -> None:
    found = parts("| " + "&lt;" * 5000)
    assert len(found) > 6
    assert all(part.startswith("| &lt;") and part.endswith("&lt;") for part in found)
    assert "".join(part.removeprefix("| ") for part in found) == "&lt;" * 5000


@given(
    st.lists(st.text(st.sampled_from("ab &<>|\n\u00e9😀`*"), max_size=4000), min_size=1, max_size=4)
)
def test_no_section_is_empty_or_too_long_and_nothing_gets_lost(texts: list[str]) -> None:
    escaped = "\n\n".join(Mrkdwn(9).escape(text) for text in texts)
    found = parts(escaped)
    assert all(0 < len(part.encode("utf-16-le")) // 2 <= SECTION_MAX for part in found)
    assert len(found) <= 50
    bare = "".join(plain(part) for part in found)
    assert "".join(bare.replace("|", "").split()) == "".join(
        "".join(texts).replace("|", "").split()
    )


@given(st.text(max_size=300))
def test_what_is_escaped_reads_back_the_same(text: str) -> None:
    escaped = Mrkdwn(9).escape(text)
    assert plain(escaped) == text
    assert "<" not in escaped
    assert ">" not in escaped


def test_a_link_of_ours_is_one_whatever_stands_in_it() -> None:
    made = Mrkdwn(9).link("https://desk.example/r/a?b=1&c=<d>|e", "a|b")
    assert made == "<https://desk.example/r/a?b=1&amp;c=&lt;d&gt;%7Ce|a/b>"
