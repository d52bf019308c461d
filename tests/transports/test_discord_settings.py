"""The settings of a Discord channel: what is taken, and what is said of what is not."""

from typing import Any

import pydantic
import pytest

from handoff.contract.wording import problems_of
from handoff.transports.discord_settings import DiscordSettings

WEBHOOK = "https://discord.com/api/webhooks/123/aB-c_d"


def problems(given: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(pydantic.ValidationError) as caught:
        DiscordSettings.model_validate(given)
    return {item["field"]: item["problem"] for item in problems_of(caught.value)}


def test_a_bot_needs_a_token_and_a_channel() -> None:
    made = DiscordSettings.model_validate({"bot_token": "Bot a.b-c", "channel_id": "12"})
    assert (made.bot_token, made.channel_id, made.webhook) == ("a.b-c", "12", ("", ""))
    assert problems({"bot_token": "a.b"}) == {"channel_id": "is required with bot_token"}
    assert problems({"channel_id": "12"}) == {"channel_id": "needs bot_token, too"}
    assert problems({}) == {"webhook_url": "is required, or bot_token and channel_id in its place"}


def test_an_id_that_was_written_as_a_number_keeps_all_its_digits() -> None:
    made = DiscordSettings.model_validate(
        {"bot_token": "a.b", "channel_id": 1234567890123456789, "guild_id": 2**64 - 1}
    )
    assert (made.channel_id, made.guild_id) == ("1234567890123456789", "18446744073709551615")


@pytest.mark.parametrize(
    "url",
    [
        WEBHOOK,
        f"{WEBHOOK}/",
        "https://discordapp.com/api/webhooks/123/aB-c_d",
        "https://ptb.discord.com/api/v10/webhooks/123/aB-c_d",
        "https://canary.discord.com/api/webhooks/123/aB-c_d",
    ],
)
def test_of_a_webhook_only_id_and_token_are_kept_in_mind(url: str) -> None:
    assert DiscordSettings(webhook_url=url).webhook == ("123", "aB-c_d")


@pytest.mark.parametrize(
    "url",
    [
        "http://discord.com/api/webhooks/123/abc",
        "https://discord.com.evil.example/api/webhooks/123/abc",
        "https://evil.example/api/webhooks/123/abc",
        "https://discord.com@evil.example/api/webhooks/123/abc",
        "https://evil.example#discord.com/api/webhooks/123/abc",
        "https://evil.discord.com/api/webhooks/123/abc",
        "https://discord.com:8443/api/webhooks/123/abc",
        "https://discord.com/api/webhooks/123/abc/slack",
        "https://discord.com/api/webhooks/123/abc?thread_id=1",
        "https://discord.com/api/webhooks/123/..%2f..%2fusers",
        "https://discord.com/api/webhooks/12x/abc",
        "https://discord.com/api/webhooks/123/abc\n.evil.example",
        "https://169.254.169.254/api/webhooks/123/abc",
    ],
)
def test_no_other_host_and_no_other_path_can_be_named(url: str) -> None:
    assert problems({"webhook_url": url}) == {
        "webhook_url": "must look like https://discord.com/api/webhooks/123…/abc…"
    }


def test_a_bot_and_a_webhook_are_two_channels() -> None:
    both = {"bot_token": "a.b", "channel_id": "12", "webhook_url": WEBHOOK}
    assert problems(both) == {"webhook_url": "must be empty where a bot_token is given"}
    of_no_use = "is of no use with webhook_url: only a bot can be answered"
    given = {
        "webhook_url": WEBHOOK,
        "application_id": "1",
        "public_key": "ab" * 32,
        "guild_id": "1",
        "poll_replies": True,
    }
    assert problems(given) == dict.fromkeys(
        ("application_id", "public_key", "guild_id", "poll_replies"), of_no_use
    )


def test_every_problem_is_named_at_once() -> None:
    given = {
        "bot_token": "a b",
        "channel_id": "#support",
        "application_id": "x",
        "public_key": "ab",
        "guild_id": "-1",
        "poll_replies": "maybe",
        "colour": "red",
    }
    assert set(problems(given)) == set(given)


def test_no_secret_is_printed() -> None:
    for made in (
        DiscordSettings(bot_token="Sec.ret", channel_id="12"),
        DiscordSettings(webhook_url=WEBHOOK),
    ):
        assert "Sec.ret" not in repr(made)
        assert "aB-c_d" not in repr(made)
    assert DiscordSettings.secret_keys == {"bot_token", "webhook_url"}
