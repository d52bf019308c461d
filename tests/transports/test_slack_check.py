"""The Test button of a Slack channel, its settings, and the manifest of its app."""

import json
import time
from typing import Any

import pydantic
import pytest

from handoff.transports.base import TestReport
from handoff.transports.slack import Slack
from handoff.transports.slack_manifest import EVENTS, SCOPES
from handoff.transports.slack_settings import SlackSettings
from tests import environment
from tests.fakes.providers import FakeAnswer, Providers
from tests.fakes.rude import PAGE
from tests.fakes.slack import BOT_TOKEN, FakeSlack, Room
from tests.transports import slack_samples
from tests.transports.slack_samples import channel

LOGGED_IN = "Logged in to Shop as handoff_desk."


def checked(**changes: Any) -> TestReport:
    return channel(**changes).test(deadline=time.monotonic() + 5)


def test_a_channel_that_works_says_where_messages_go(
    providers: Providers, slack: FakeSlack
) -> None:
    assert checked() == TestReport(works=True, lines=(LOGGED_IN, "Messages go to #support."))
    assert slack.posts == []
    assert [asked.path for asked in providers.requests("slack")] == [
        "/auth.test",
        "/conversations.info",
    ]


def test_without_a_signing_secret_it_says_that_nothing_is_heard(slack: FakeSlack) -> None:
    report = checked(signing_secret="")
    assert report.works
    assert report.lines[-1] == "signing_secret is empty: what is written in Slack is not heard."


def test_a_direct_message_has_no_name_and_no_members(slack: FakeSlack) -> None:
    slack.scopes += ",im:read"
    assert checked(channel_id="D0MIA") == TestReport(works=True, lines=(LOGGED_IN,))


@pytest.mark.parametrize(
    ("room", "words"),
    [
        (Room(id="C0SUPPORT", is_archived=True), "The channel is archived"),
        (
            Room(id="C0SUPPORT", is_member=False),
            "The bot is not in the channel: type /invite @handoff_desk in #support.",
        ),
        (
            Room(id="C0SUPPORT", is_private=True, is_member=False),
            "There is no such channel, or the bot was not invited to this private channel",
        ),
    ],
    ids=["archived", "not invited", "private"],
)
def test_a_channel_that_cannot_be_used_says_what_to_do(
    slack: FakeSlack, room: Room, words: str
) -> None:
    slack.rooms["C0SUPPORT"] = room
    report = checked()
    assert not report.works
    assert report.lines[0] == LOGGED_IN
    assert any(line.startswith(words) for line in report.lines)


@pytest.mark.parametrize(
    ("missing", "changes"),
    [
        ("chat:write", {}),
        ("channels:history", {}),
        ("channels:read", {}),
        ("im:history", {"channel_id": "D0MIA"}),
        ("im:read", {"channel_id": "D0MIA"}),
    ],
)
def test_a_missing_scope_is_named(slack: FakeSlack, missing: str, changes: dict[str, str]) -> None:
    slack.scopes = ",".join(
        scope for scope in f"{slack.scopes},im:read".split(",") if scope != missing
    )
    report = checked(**changes)
    assert not report.works
    assert f"The app lacks the scope {missing}: " in "\n".join(report.lines)


def test_a_private_channel_is_heard_with_a_scope_of_its_own(slack: FakeSlack) -> None:
    slack.rooms["C0SUPPORT"] = Room(id="C0SUPPORT", is_private=True)
    assert checked().works
    slack.scopes = slack.scopes.replace("groups:history,", "")
    assert "groups:history" in checked().lines[-1]
    assert checked(signing_secret="").works


def test_a_token_that_is_refused_ends_the_test(slack: FakeSlack) -> None:
    report = checked(bot_token="xoxb-2")
    assert not report.works
    assert report.lines[0] == "Stopped there: Slack refused: invalid_auth."
    assert "enter the new token" in report.lines[1]
    assert "xoxb" not in "".join(report.lines)


def test_a_test_that_gets_no_clear_answer_does_not_work(
    providers: Providers, slack: FakeSlack
) -> None:
    providers.script("slack", [FakeAnswer(502, body=PAGE)])
    report = checked()
    assert not report.works
    assert "cloud-proxy" not in "".join(report.lines)


def test_what_slack_calls_things_stays_on_its_line(providers: Providers, slack: FakeSlack) -> None:
    hostile = "Shop\n[fake] \u202e" + "x" * 300
    body = {"ok": True, "team": hostile, "user": 5}
    providers.script("slack", [FakeAnswer(json=body)], path="auth.test")
    [first, *_] = checked().lines
    assert first.startswith("Logged in to Shop (fake)")
    assert len(first) < 130
    assert "\n" not in first


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("bot_token", ""),
        ("bot_token", "xoxp-1"),
        ("bot_token", "xoxb-1 2"),
        ("bot_token", "xoxb-1\r\nX-Evil: 1"),
        ("bot_token", "xoxb-é"),
        ("channel_id", "#support"),
        ("channel_id", "support"),
        ("channel_id", "U0MIA"),
        ("channel_id", "C0SUPPORT/../x"),
        ("signing_secret", "two words"),
        ("signing_secret", "x" * 201),
    ],
)
def test_a_setting_of_another_shape_is_refused_by_name(key: str, value: str) -> None:
    with pytest.raises(pydantic.ValidationError) as caught:
        slack_samples.settings(**{key: value})
    [error] = caught.value.errors()
    assert error["loc"] == (key,)


def test_unknown_and_missing_settings_are_named_all_at_once() -> None:
    with pytest.raises(pydantic.ValidationError) as caught:
        SlackSettings.model_validate({"webhook_url": "https://hooks.slack.com/x"})
    assert {error["loc"][0] for error in caught.value.errors()} == {
        "bot_token",
        "channel_id",
        "webhook_url",
    }


def test_secrets_are_in_no_repr() -> None:
    assert BOT_TOKEN not in repr(channel().settings)
    assert slack_samples.SECRET not in repr(slack_samples.settings())
    assert SlackSettings.secret_keys == {"bot_token", "signing_secret"}


def test_the_manifest_has_every_scope_and_event_and_one_address() -> None:
    url = "https://desk.example.org/hooks/slack/4f1a9dd0-0000-4000-8000-000000000000/"
    app = json.loads(Slack.manifest(hook_url=url, label="Sales support"))
    assert set(app["oauth_config"]["scopes"]["bot"]) == {
        "chat:write", "channels:history", "groups:history", "im:history",
        "channels:read", "groups:read", "im:read", "commands",
    }  # fmt: skip
    assert app["settings"]["event_subscriptions"] == {
        "request_url": url,
        "bot_events": ["message.channels", "message.groups", "message.im"],
    }
    [command] = app["features"]["slash_commands"]
    assert (command["command"], command["url"]) == ("/release", url)
    assert app["settings"]["socket_mode_enabled"] is False
    assert len(app["display_information"]["name"]) <= 35


def test_the_manifest_without_an_address_is_the_one_in_the_guide() -> None:
    first = json.loads(Slack.manifest(hook_url="", label=""))
    guide = (environment.ROOT / "docs/channels/slack.md").read_text()
    shown = guide.partition("```json")[2].partition("```")[0]
    assert json.loads(shown) == first
    assert "http" not in shown
    assert "event_subscriptions" not in first["settings"]
    assert "slash_commands" not in first["features"]


def test_the_guide_names_every_scope_and_event() -> None:
    guide = (environment.ROOT / "docs/channels/slack.md").read_text()
    for name in (*SCOPES, *EVENTS, "/release", "!release"):
        assert f"`{name}" in guide


def test_an_answer_of_another_shape_does_not_work(providers: Providers) -> None:
    providers.script("slack", [FakeAnswer(json={"ok": True, "channel": "not an object"})] * 2)
    assert not checked().works
