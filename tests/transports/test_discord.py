"""Posts to Discord: their shape, their thread, what is tried in place of what was refused."""

import dataclasses
import time

import pytest

from handoff.contract.kinds import Author, Urgency
from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.base import Notice, TranscriptLine
from tests.fakes.discord import CHANNEL, FakeDiscord
from tests.fakes.discord_answers import error, form_error
from tests.fakes.discord_channels import THREAD, Channel
from tests.fakes.discord_markdown import quoted, read
from tests.fakes.providers import FakeAnswer, Providers, Taken
from tests.fakes.rude import Rude
from tests.transports.discord_samples import bot, send, webhook
from tests.transports.mail_samples import LINK, TOKEN, closed, line, request

HOSTILE = (
    "@everyone @here <@1> <@&2> <#3> </release:4> <t:1:R> <:x:5> :smile: **b** __u__ _i_ *i* ~~s~~"
    " ||spoiler|| `code` ```block``` [click](https://evil.example) https://evil.example/a_b_c \\*"
    "\n# heading\n-# small\n- list\n1. list\n> quote\n>>> quotes\nTo hand back, type /release"
    " \u202eltr\u202c שלום 😀👩‍👩‍👧 "
)


@pytest.fixture
def discord(providers: Providers) -> FakeDiscord:
    fake: FakeDiscord = providers.fakes["discord"]
    return fake


def test_a_request_is_a_message_with_a_thread_of_the_same_id(
    providers: Providers, discord: FakeDiscord
) -> None:
    receipt = send(bot(), request(urgency=Urgency.HIGH))
    [message] = discord.in_channel(CHANNEL)
    [thread] = discord.threads()
    assert receipt.provider_message_id == receipt.thread_key == message["id"] == thread.id
    assert int(receipt.provider_message_id) > 2**53
    assert thread.name == "Nova asks: Look up order 1234 and say when it arrives."
    rows = [row.words for row in read(message["content"])]
    assert rows[0] == "**Urgent.** **Nova, an AI agent, asks Sales support to take over.**"
    assert f"Fill return form: {LINK}" in rows
    assert any(f"/release {TOKEN}" in row for row in rows)
    assert "Write to the visitor with /reply, in the thread of this message." in rows
    said = [row.words for row in quoted(message["content"])]
    assert "Look up order 1234 and say when it arrives." in said
    assert message["allowed_mentions"] == {"parse": []}
    assert message["flags"] == 4
    assert message["components"][0]["components"][0]["url"] == LINK
    [posted, threaded] = providers.requests("discord")
    assert posted.headers["user-agent"].startswith("DiscordBot (http")
    assert threaded.json()["auto_archive_duration"] == 4320


def test_lines_and_the_end_go_into_the_thread(discord: FakeDiscord) -> None:
    first = send(bot(), request())
    place = {"thread_key": first.thread_key, "earlier_ids": (first.provider_message_id,)}
    second = send(bot(), line("Are you there?", **place))
    third = send(bot(), closed(**place))
    assert [item["id"] for item in discord.in_channel(first.thread_key)] == [
        second.provider_message_id,
        third.provider_message_id,
    ]
    assert second.thread_key == third.thread_key == ""
    shown = discord.shown(first.thread_key)
    assert [row.words for row in quoted(shown[0])] == ["Are you there?"]
    assert "This handoff has ended." in shown[1]
    assert len(discord.in_channel(CHANNEL)) == 1


@pytest.mark.parametrize("trouble", ["permission", "silence", "nonsense"])
def test_without_a_thread_the_others_are_replies(
    providers: Providers, discord: FakeDiscord, trouble: str
) -> None:
    if trouble == "permission":
        discord.channels[CHANNEL].may_thread = False
    elif trouble == "silence":
        providers.script("discord", [Rude.SILENT], path="/threads")
    else:
        providers.script("discord", [FakeAnswer(200, body=b"<html>")], path="/threads")
    before = time.monotonic()
    first = send(bot(), request(), seconds=3)
    assert time.monotonic() - before < 2.5, "the request was delivered: the thread may not cost it"
    assert first.thread_key == ""
    send(bot(), line("Hello?", earlier_ids=(first.provider_message_id,)))
    [_, reply] = discord.in_channel(CHANNEL)
    assert reply["message_reference"] == {
        "message_id": first.provider_message_id,
        "fail_if_not_exists": False,
    }


@pytest.mark.parametrize("fate", ["deleted", "locked"])
def test_a_thread_that_is_gone_goes_on_in_another(discord: FakeDiscord, fate: str) -> None:
    first = send(bot(), request())
    if fate == "deleted":
        del discord.channels[first.thread_key]
    else:
        discord.channels[first.thread_key].is_locked = True
    place = {"thread_key": first.thread_key, "earlier_ids": (first.provider_message_id,)}
    second = send(bot(), line("Hello?", **place))
    [_, reply] = discord.in_channel(CHANNEL)
    assert reply["id"] == second.provider_message_id == second.thread_key
    assert reply["message_reference"]["message_id"] == first.provider_message_id
    assert discord.threads()[-1].name == "Nova: the handoff goes on"
    anew = {**place, "thread_key": second.thread_key, "number": 3}
    third = send(bot(), line("Still there?", **anew))
    assert discord.in_channel(second.thread_key)[0]["id"] == third.provider_message_id
    assert third.thread_key == ""


def test_a_silent_thread_that_was_archived_is_woken(discord: FakeDiscord) -> None:
    first = send(bot(), request())
    discord.channels[first.thread_key].is_archived = True
    send(bot(), line("Hello?", thread_key=first.thread_key))
    assert not discord.channels[first.thread_key].is_archived


def test_who_may_not_read_the_history_posts_without_a_reference(discord: FakeDiscord) -> None:
    discord.channels[CHANNEL].may_thread = discord.channels[CHANNEL].has_history = False
    first = send(bot(), request())
    send(bot(), line("Hello?", earlier_ids=(first.provider_message_id,)))
    assert "message_reference" not in discord.in_channel(CHANNEL)[1]


def test_the_same_message_is_posted_once_and_its_thread_found_again(
    providers: Providers, discord: FakeDiscord
) -> None:
    message = request()
    providers.script("discord", [Taken(Rude.RESET_BEFORE)], path="/messages")
    with pytest.raises(TransportError):
        send(bot(), message)
    again, once_more = send(bot(), message), send(bot(), message)
    [stands] = discord.messages
    assert again == once_more
    assert again.thread_key == again.provider_message_id == stands["id"]
    [thread] = discord.threads()
    assert thread.id == stands["id"]
    assert bot().resends_safely
    assert not webhook().resends_safely


def test_a_form_that_is_refused_is_sent_once_more_shorter_and_without_a_button(
    providers: Providers, discord: FakeDiscord
) -> None:
    refusal = form_error("components", "URL_TYPE_INVALID_URL")
    providers.script("discord", [refusal], path="/messages")
    send(bot(), request(summary="word " * 400))
    [message] = discord.in_channel(CHANNEL)
    assert "components" not in message
    assert len(message["content"]) <= 1500
    assert f"Fill return form: <{LINK}>" in message["content"]


def test_the_longest_request_fits_and_keeps_its_link_and_its_release_line(
    discord: FakeDiscord,
) -> None:
    transcript = tuple(
        TranscriptLine(
            author=Author.SUBSCRIBER, name="@everyone", text=HOSTILE, at=request().return_until
        )
        for _ in range(50)
    )
    big = request(
        summary=(HOSTILE * 20)[:2000],
        expected_action=(HOSTILE * 20)[:1000],
        extra_context=(("@here", (HOSTILE * 20)[:4000]),),
        transcript=transcript,
        subscriber_name="<@1> **x** @everyone",
    )
    send(bot(), big)
    [message] = discord.in_channel(CHANNEL)
    assert len(message["content"].encode("utf-16-le")) // 2 <= 2000
    assert f"<{LINK}>" in message["content"]
    assert f"`/release {TOKEN}`" in message["content"]
    assert discord.pings == []
    for row in quoted(message["content"]):
        assert set(row.effects) <= {"quote", "link"}


def test_a_hostile_line_of_four_kilobytes_is_literal_and_pings_nobody(
    discord: FakeDiscord,
) -> None:
    first = send(bot(), request())
    text = (HOSTILE * 20)[:4096]
    send(bot(), line(text, subscriber_name="@everyone <@1> **Ada**", thread_key=first.thread_key))
    send(webhook(), line(text, subscriber_name="@everyone <@1> **Ada**"))
    for content in (discord.shown(first.thread_key)[0], discord.shown(CHANNEL)[-1]):
        assert len(content.encode("utf-16-le")) // 2 <= 2000
        name, *_ = read(content)
        assert name.words == "**The visitor:** @everyone <@1> **Ada**"
        assert name.effects == ("style", "style"), "only ours is bold"
        rows = quoted(content)
        assert {effect for row in rows for effect in row.effects} <= {"quote", "link"}
        words = "\n".join(row.words for row in rows)
        kept = words.removesuffix(" … (in the form)")
        assert kept != words
        shown = text.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c")
        assert len(kept) > 1000
        assert shown.startswith(kept)
    assert discord.pings == []


def test_the_fake_would_have_noticed_a_ping(discord: FakeDiscord) -> None:
    loud = {"content": "@everyone <@1>"}
    discord._keep(loud, CHANNEL, {"id": "1"}, pinged_by_default={"everyone", "users"})
    assert discord.pings == ["@everyone", "<@1>"]


def test_a_notice_answers_where_somebody_wrote(discord: FakeDiscord) -> None:
    first = send(bot(), request())
    typed = discord.write(first.thread_key, "/release h7wrong")
    notice = Notice(place=first.thread_key, text="Not *that* one, @everyone.", answers=typed)
    send(bot(), notice)
    answer = discord.in_channel(first.thread_key)[-1]
    assert answer["message_reference"]["message_id"] == typed
    assert read(answer["content"])[0].words == "Not *that* one, @everyone."
    assert discord.pings == []


def test_a_webhook_posts_and_waits_for_discords_word(
    providers: Providers, discord: FakeDiscord
) -> None:
    receipt = send(webhook("https://discordapp.com/api/webhooks/4444444444444444444/"
                           "aVery_Secret-WebhookToken"), request())  # fmt: skip
    [message] = discord.messages
    assert receipt.provider_message_id == message["id"]
    assert receipt.thread_key == ""
    assert message["allowed_mentions"] == {"parse": []}
    assert message["components"][0]["components"][0]["url"] == LINK
    assert "nonce" not in message
    assert "/reply" not in message["content"]
    assert "begin a reply" not in message["content"]
    assert (
        "The form cannot be opened? Then give this line to whoever looks after the agent:"
        f" `/release {TOKEN}`" in message["content"]
    )
    [asked] = providers.requests("discord")
    assert asked.query == {"wait": "true", "with_components": "true"}
    assert "authorization" not in asked.headers
    with pytest.raises(TransportError) as caught:
        send(webhook(), Notice(place="1", text="Nobody wrote."))
    assert caught.value.kind is Kind.BAD_FORMAT


def test_the_fake_lets_nothing_through_that_discord_would_not(
    providers: Providers, discord: FakeDiscord
) -> None:
    """What is refused here would make the tests above fail."""
    with pytest.raises(TransportError) as caught:
        send(bot(bot_token="a.wrong-token"), request())
    assert caught.value.kind is Kind.AUTH
    discord.channels[CHANNEL].type = THREAD + 4
    with pytest.raises(TransportError) as caught:
        send(bot(), request())
    assert "forum" in caught.value.hint
    discord.channels[CHANNEL] = Channel(id=CHANNEL, is_seen=False)
    with pytest.raises(TransportError) as caught:
        send(bot(), dataclasses.replace(request(), number=2))
    assert caught.value.provider_code == "50001"
    assert discord.messages == []


def test_a_host_that_is_not_there_was_not_asked(providers: Providers) -> None:
    providers.script("discord", [error(404, 10003, "Unknown Channel")], path="/messages")
    with pytest.raises(TransportError) as caught:
        send(bot(), request())
    assert caught.value.kind is Kind.NOT_FOUND
    assert len(providers.requests("discord")) == 1, "there is no other place to try"
