"""What of Slack's events and commands is a person's word, and in which words."""

import datetime as dt
import json
from typing import Any

import pytest

from handoff.contract.commands import read_release
from handoff.transports.inbound import Said
from tests.transports.slack_samples import (
    BOT,
    CHANNEL,
    ROOT,
    TOKEN,
    heard,
    message,
    received,
    slash,
)


def test_a_reply_in_the_thread_is_what_a_person_said() -> None:
    assert heard(message()) == Said(
        keys=("Ev0001", f"{CHANNEL}:1796039990.000200"),
        account=CHANNEL,
        at=dt.datetime(2026, 11, 30, 11, 59, 50, tzinfo=dt.UTC),
        sender_id="U1",
        text="It is on its way.",
        place=CHANNEL,
        message_id=f"{CHANNEL}:1796039990.000200",
        replies_to=(f"{CHANNEL}:{ROOT}",),
        thread_key=ROOT,
    )


def test_a_message_under_another_event_id_keeps_its_second_key() -> None:
    first, again = heard(message()), heard(message(), event_id="Ev0002")
    assert first is not None
    assert again is not None
    assert set(first.keys) & set(again.keys) == {f"{CHANNEL}:1796039990.000200"}


@pytest.mark.parametrize(
    "changes",
    [
        {"subtype": "message_changed", "message": {"text": "edited"}, "user": None},
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "message_replied"},
        {"subtype": "bot_message", "bot_id": "B1", "user": None},
        {"subtype": "channel_join"},
        {"subtype": "assistant_app_thread"},
        {"bot_id": "B1"},
        {"bot_profile": {"id": "B1"}},
        {"user": BOT},
        {"hidden": True},
        {"thread_ts": None},
        {"parent_user_id": "U2"},
        {"type": "reaction_added"},
        {"type": "app_mention"},
        {"user": None},
        {"ts": 1796039990.0002},
        {"ts": "1796039990"},
        {"channel": None},
        {"channel": "C" * 5000},
        {"text": {"not": "a text"}},
    ],
    ids=str,
)
def test_what_no_person_said_in_a_thread_is_acknowledged_and_dropped(
    changes: dict[str, Any],
) -> None:
    assert heard(message(**changes)) is None


def test_what_slack_leaves_open_costs_nobody_their_reply() -> None:
    names = ("subtype", "bot_id", "bot_profile", "files", "hidden", "parent_user_id")
    event = message() | dict.fromkeys((*names, "channel_type"))
    said = heard(event, authorizations=None)
    assert said is not None
    assert said.text == "It is on its way."
    assert heard(message(), authorizations=[{"user_id": None, "is_bot": None}]) is not None


@pytest.mark.parametrize("subtype", ["thread_broadcast", "file_share"])
def test_a_reply_that_the_channel_sees_too_or_with_a_file_counts(subtype: str) -> None:
    said = heard(message(subtype=subtype, files=[{"id": "F1"}, {"id": "F2"}]))
    assert said is not None
    assert (said.text, said.attachments) == ("It is on its way.", 2)


def test_a_whole_release_line_counts_in_the_open_channel_too() -> None:
    said = heard(message(thread_ts=None, text=f"!release {TOKEN} all done"))
    assert said is not None
    assert (said.thread_key, said.replies_to, said.only_one) == ("", (), False)
    assert heard(message(parent_user_id="U2", text=f"!release {TOKEN} all done")) is not None
    for changes in ({"thread_ts": None}, {"parent_user_id": "U2"}):
        assert heard(message(text="!release the new version today", **changes)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"authorizations": [{"user_id": "U2", "is_bot": False}]},
        {"authorizations": []},
    ],
)
def test_a_thread_is_nobody_else_s_where_slack_does_not_say_who_we_are(
    changes: dict[str, Any],
) -> None:
    assert heard(message(parent_user_id="U3"), **changes) is not None
    assert heard(message(parent_user_id=BOT)) is not None


def test_a_message_to_the_bot_alone_may_mean_the_one_open_handoff() -> None:
    said = heard(message(thread_ts=None, channel="D1", channel_type="im"))
    assert said is not None
    assert (said.only_one, said.account, said.place) == (True, "D1", "D1")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("5 &lt; 6 &amp;&amp; 7 &gt; 6", "5 < 6 && 7 > 6"),
        ("typed as &amp;lt;b&amp;gt;", "typed as &lt;b&gt;"),
        ("ask <@U2> or <@U3|mia>", "ask @U2 or @mia"),
        ("see <#C1|general> and <#C2>", "see #general and #C2"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@sales> <!subteam^S1>", "@sales @subteam"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("<https://carrier.example/t?a=1&amp;b=2>", "https://carrier.example/t?a=1&b=2"),
        ("<http://carrier.example|carrier.example>", "carrier.example"),
        ("<https://evil.example|your bank>", "your bank (https://evil.example)"),
        (
            "<https://evil.example|https://bank.example>",
            "https://bank.example (https://evil.example)",
        ),
        ("<mailto:mia@shop.example|mia@shop.example>", "mia@shop.example"),
        ("<tel:+4915123456|+4915123456>", "+4915123456"),
        (f"<@{BOT}> it is lost", "it is lost"),
        (f"<@{BOT}|desk>: it is lost", "it is lost"),
        (f"ask <@{BOT}>", f"ask @{BOT}"),
        ("<>", ""),
        ("a\r\nb\u202ec", "a\nb\u202ec"),
    ],
)
def test_marks_of_slack_are_read_once_into_words(sent: str, shown: str) -> None:
    said = heard(message(text=sent))
    assert said is not None
    assert said.text == shown


def test_a_release_line_is_read_whatever_slack_put_around_it() -> None:
    for typed in (
        f"!release {TOKEN} sent &amp; done",
        f"`!release {TOKEN} sent &amp; done`",
        f"<@{BOT}> release {TOKEN} sent &amp; done",
        f"&gt; quoted\n\u00a0!Release\u00a0{TOKEN.upper()} sent &amp; done",
    ):
        said = heard(message(text=typed))
        assert said is not None
        command = read_release(said.text)
        assert command is not None
        assert (command.token, command.note) == (TOKEN, "sent & done")


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (TOKEN, (TOKEN, "")),
        (f"{TOKEN} all done", (TOKEN, "all done")),
        (f"release {TOKEN} all done", (TOKEN, "all done")),
        (f"/release {TOKEN}", (TOKEN, "")),
        (f"  !RELEASE  {TOKEN.upper()}, a &lt; b", (TOKEN, "a < b")),
        ("", ("", "")),
        ("release", ("", "")),
        ("the kraken", ("", "")),
        ("releasenotes", ("", "")),
    ],
)
@pytest.mark.parametrize("name", ["/release", "/handoff", "/entlassen"])
def test_a_slash_command_of_whatever_name_is_a_release_line(
    typed: str, command: tuple[str, str], name: str
) -> None:
    got = received(slash(typed, command=name))
    assert (got.answer.status, got.at_once) == (200, True)
    assert json.loads(got.answer.body)["text"].startswith("Nothing more was done")
    [said] = got.events
    assert isinstance(said, Said)
    found = read_release(said.text)
    assert found is not None
    assert (found.token, found.note) == command
    assert said.keys == ("13345224609.738474920.8088930838d88f008e0",)
    assert (said.account, said.place, said.thread_key) == (CHANNEL, CHANNEL, "")
    assert (said.sender_id, said.sender_name) == ("U1", "mia")


def test_a_slash_command_without_a_trigger_is_known_by_its_signature() -> None:
    first, again = (received(slash(TOKEN, trigger_id="")).events for _ in range(2))
    other = received(slash(f"{TOKEN} x", trigger_id="")).events
    assert first[0].keys == again[0].keys
    assert first[0].keys != other[0].keys
