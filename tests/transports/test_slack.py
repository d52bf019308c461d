"""Posts to Slack: their shape, their words and their thread."""

import dataclasses
from typing import Any

import pytest

from handoff.transports.base import Notice, Outgoing
from tests.fakes.providers import Providers
from tests.fakes.slack import BOT_TOKEN, FakeSlack
from tests.transports import slack_samples
from tests.transports.mail_samples import LINK, TOKEN, closed, line, request
from tests.transports.slack_samples import channel, posted, send


def test_a_request_is_posted_quietly_and_its_time_names_the_thread(
    providers: Providers, slack: FakeSlack
) -> None:
    receipt = send(request())
    [post], [asked] = slack.posts, posted(providers)
    assert receipt.provider_message_id == f"C0SUPPORT:{post.ts}"
    assert receipt.thread_key == post.ts
    assert asked.headers["authorization"] == f"Bearer {BOT_TOKEN}"
    assert asked.headers["content-type"] == "application/json; charset=utf-8"
    body = asked.json()
    assert (body["unfurl_links"], body["unfurl_media"]) == (False, False)
    assert (body["parse"], body["link_names"]) == ("none", False)
    assert "thread_ts" not in body
    assert {block["text"]["verbatim"] for block in body["blocks"]} == {True}
    assert post.links == {"Fill return form": LINK}
    assert post.notified == ()


def test_a_person_reads_what_is_needed_and_how_to_answer(slack: FakeSlack) -> None:
    send(request())
    [post] = slack.posts
    lines = post.shown.splitlines()
    assert lines[0] == "*Nova, an AI agent, asks Sales support to take over.*"
    assert "Fill return form" in lines[:4]
    assert "Reply in this thread to write to the visitor." in lines
    assert f"begin a reply with `!release {TOKEN}` and a note" in post.shown
    assert "| Look up order 1234 and say when it arrives." in lines
    assert "/release" not in post.shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"signing_secret": ""}, request()), ({}, request(idle_minutes=None))],
    ids=["nobody hears", "nobody is there"],
)
def test_a_reply_is_offered_only_where_a_visitor_would_read_it(
    slack: FakeSlack, changes: dict[str, Any], message: Outgoing
) -> None:
    send(message, **changes)
    [post] = slack.posts
    assert "Reply in this thread" not in post.shown
    assert f"`!release {TOKEN}`" in post.shown
    assert ("begin a reply with" in post.shown) is not bool(changes)


@pytest.mark.parametrize(
    "later",
    [
        line("Are you there?"),
        closed(reason="The visitor went back to the assistant."),
        request(number=2),
        Notice(place="C0SUPPORT", text="Released; thank you."),
    ],
    ids=["line", "closed", "request", "notice"],
)
def test_everything_after_the_first_post_stands_in_its_thread(
    slack: FakeSlack, later: Outgoing
) -> None:
    root = send(request()).thread_key
    receipt = send(dataclasses.replace(later, thread_key=root))
    assert [post.thread_ts for post in slack.posts] == [None, root]
    assert receipt.thread_key == root
    assert receipt.provider_message_id == f"C0SUPPORT:{slack.posts[1].ts}"


def test_a_line_shows_who_said_what(slack: FakeSlack) -> None:
    root = send(request()).thread_key
    send(line("Are you there?\nPlease.", thread_key=root))
    assert slack.posts[1].shown == "*The visitor:* Ada Lovelace\n| Are you there?\n| Please."


def test_a_notice_goes_where_its_reader_wrote(slack: FakeSlack) -> None:
    send(Notice(place="D0MIA", text="That release line is not recognised."))
    [post] = slack.posts
    assert (post.channel, post.shown) == ("D0MIA", "That release line is not recognised.")


def test_only_what_is_said_in_the_configured_channel_is_the_recipient_s() -> None:
    heard = slack_samples.heard(slack_samples.message())
    assert heard is not None
    assert channel().accepts(heard, recipients=frozenset())
    assert not channel(channel_id="C2").accepts(heard, recipients=frozenset())
