"""The buttons Test channel and Register commands, against Discord's rules."""

import time

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.base import TestReport
from handoff.transports.discord import Discord
from tests.fakes.discord import BOT_TOKEN, CHANNEL, WEBHOOK_TOKEN, FakeDiscord
from tests.fakes.discord_calls import GUILD
from tests.fakes.discord_channels import FORUM
from tests.fakes.providers import Providers
from tests.transports.discord_samples import bot, webhook

HOOK = "https://desk.example.org/hooks/discord/1/"


@pytest.fixture
def discord(providers: Providers) -> FakeDiscord:
    fake: FakeDiscord = providers.fakes["discord"]
    fake.interactions_url = HOOK
    return fake


def report_of(transport: Discord) -> TestReport:
    report = transport.test(deadline=time.monotonic() + 5)
    for secret in (BOT_TOKEN, WEBHOOK_TOKEN, "127.0.0.1"):
        assert secret not in "\n".join(report.lines)
    return report


def registered(transport: Discord) -> TestReport:
    return transport.set_up("commands", hook_url=HOOK, deadline=time.monotonic() + 5)


def test_a_good_bot_is_named_with_its_channel_and_its_address(
    providers: Providers, discord: FakeDiscord
) -> None:
    report = report_of(bot())
    assert report == TestReport(
        works=True,
        lines=(
            "Logged in as Handoff.",
            "Sees the channel support.",
            f"Discord posts commands to {HOOK}.",
        ),
    )
    assert discord.messages == []
    assert [asked.path for asked in providers.requests("discord")] == [
        "/users/@me",
        f"/channels/{CHANNEL}",
        "/applications/@me",
    ]


def test_the_first_step_that_fails_says_why(discord: FakeDiscord) -> None:
    report = report_of(bot(bot_token="a.wrong-token"))
    assert not report.works
    assert report.lines[0].startswith("Stopped there: Discord refused with 401")
    assert "Reset Token" in report.lines[1]
    discord.channels[CHANNEL].is_seen = False
    report = report_of(bot())
    assert report.lines[0] == "Logged in as Handoff."
    assert "invite it" in report.lines[-1]
    discord.channels.clear()
    assert "copy the channel ID again" in report_of(bot()).lines[-1]


def test_settings_that_do_not_belong_together_are_found(discord: FakeDiscord) -> None:
    assert "application_id is not that of this bot" in report_of(bot(application_id="1")).lines[-1]
    assert "another server than guild_id" in report_of(bot(guild_id="1")).lines[-1]
    assert "public_key is not that of this bot" in report_of(bot(public_key="ab" * 32)).lines[-1]
    discord.channels[CHANNEL].type = FORUM
    assert "choose a text channel" in report_of(bot()).lines[-1]


def test_what_would_keep_replies_out_is_named(discord: FakeDiscord) -> None:
    discord.interactions_url = ""
    report = report_of(bot())
    assert report.works
    assert "no Interactions Endpoint URL yet" in report.lines[-1]
    assert "are not believed" in report_of(bot(public_key="")).lines[-1]
    report = report_of(bot(poll_replies=True))
    assert not report.works
    assert "Message Content Intent is off" in report.lines[-1]
    discord.shows_content = True
    assert report_of(bot(poll_replies=True)).works


def test_a_webhook_is_looked_at_and_not_used(providers: Providers, discord: FakeDiscord) -> None:
    report = report_of(webhook())
    assert report.works
    assert report.lines[0] == "The webhook “Support” is there."
    assert discord.messages == []
    discord.webhooks.clear()
    assert "never to be called again" in report_of(webhook()).lines[-1]
    assert {asked.method for asked in providers.requests("discord")} == {"GET"}


def test_commands_are_registered_one_by_one_so_that_others_stay(
    providers: Providers, discord: FakeDiscord
) -> None:
    discord.commands["poll"] = {"name": "poll"}
    for _ in range(2):
        assert registered(bot()) == TestReport(
            works=True,
            lines=("/reply is known in the server.", "/release is known in the server."),
        )
    assert set(discord.commands) == {"poll", "reply", "release"}
    [text] = discord.commands["reply"]["options"]
    assert (text["name"], text["type"], text["required"]) == ("text", 3, True)
    token, note = discord.commands["release"]["options"]
    assert (token["name"], note["name"]) == ("token", "note")
    assert not token["required"]
    assert {asked.method for asked in providers.requests("discord", path=GUILD)} == {"POST"}


def test_what_is_missing_for_commands_is_named(discord: FakeDiscord) -> None:
    report = registered(bot(application_id="", guild_id=""))
    assert report.lines == ("Enter application_id and guild_id first.",)
    assert not report.works
    assert not registered(webhook()).works
    report = registered(bot(public_key=""))
    assert not report.works
    assert "public_key" in report.lines[-1]
    with pytest.raises(TransportError) as caught:
        registered(bot(guild_id="1"))
    assert caught.value.kind is Kind.PERMISSION
    with pytest.raises(KeyError):
        bot().set_up("other", hook_url=HOOK, deadline=time.monotonic() + 5)
