"""A handoff in a Discord channel from the request to the resume note, through the real doors."""

import pytest

from handoff.actions.channels import run_set_up, run_test
from handoff.models import Attempt, InboundEvent
from handoff.transports.discord_poll import NO_INTENT
from tests import factories
from tests.fakes.discord import CHANNEL, OTHER_CHANNEL, WEBHOOK_URL
from tests.fakes.discord_calls import interaction, signed
from tests.fakes.discord_markdown import quoted, read
from tests.fakes.providers import Providers
from tests.flows.discord_story import Story, made

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def story(providers: Providers) -> Story:
    return made(factories.AgentFactory.create(), providers)


def test_the_whole_story(story: Story) -> None:
    pong = story.post(signed(interaction()))
    assert (pong.status, pong.json()) == (200, {"type": 1})

    result = story.ask()["result"]
    session, thread = story.session(), story.thread()
    [asked] = story.discord.in_channel(CHANNEL)
    assert result["channel_kind"] == "discord"
    assert result["human_notified"] is True
    assert result["channel_message_id"] == asked["id"] == thread
    assert Attempt.objects.get().thread_key == thread
    shown = [row.words for row in read(asked["content"])]
    assert "an AI agent, asks Shop on Discord to take over." in shown[0]
    link = asked["components"][0]["components"][0]["url"]
    assert f"/r/{factories.link_of(session).link_id}." in link
    assert f"Fill return form: {link}" in shown
    assert any(f"/release {session.release_token}" in row for row in shown)
    assert "Look up order 1234 and fill in its status." in shown

    words = story.type("reply", where=thread, text="It left <@5> & is on its *way* 😀")
    assert words == "Passed on to the visitor."
    assert story.chat()[-1] == ("person", "It left @5 & is on its *way* 😀")

    said = story.ana_says("Thanks @everyone!\nAnd **when** does it arrive?")
    assert said["routed_to"] == "recipient"
    story.send_due()
    [line] = story.discord.in_channel(thread)
    assert read(line["content"])[0].words == "**The visitor:** Ana"
    assert [row.words for row in quoted(line["content"])] == [
        "Thanks @everyone!",
        "And **when** does it arrive?",
    ]

    words = story.type("release", where=thread, note="It arrives *tomorrow*")
    assert words == "Released. The assistant has been told."
    session = story.session()
    assert (session.release, session.message) == ("token", "It arrives *tomorrow*")
    assert session.answered_by == "Mia"
    author, note = story.chat()[-1]
    assert author == "system"
    assert note.startswith("[Bot resumed — ")
    assert "It arrives *tomorrow*" in note.splitlines()[0]
    assert story.ana_says("Thank you!")["routed_to"] == "agent"
    story.send_due()
    assert len(story.discord.messages) == 2, "only whoever typed a command is told"
    assert story.discord.pings == []


def test_outside_of_the_thread_a_release_needs_the_token(story: Story) -> None:
    story.ask()
    token = story.session().release_token
    refused = "That release line is not recognised. Nothing was released or passed on."
    assert story.type("release", where=CHANNEL) == refused
    assert story.type("release", where=CHANNEL, token="h7" + "a" * 16) == refused
    assert story.type("release", where=CHANNEL, token="all is well", note="x") == refused
    assert story.session().status == "active"
    words = story.type("release", where=CHANNEL, token=token, note="Done")
    assert words == "Released. The assistant has been told."
    assert story.session().message == "Done"


def test_a_reply_in_the_open_channel_means_the_one_open_handoff_or_asks_which(
    story: Story, providers: Providers
) -> None:
    story.ask()
    assert story.type("reply", where=CHANNEL, text="On it.") == "Passed on to the visitor."
    second = made(story.desk.agent, providers)
    second.ask()
    words = story.type("reply", where=CHANNEL, text="Which?")
    assert words.startswith("More than one handoff is open here")
    assert second.chat() == []


def test_channels_of_one_app_share_an_address(story: Story, providers: Providers) -> None:
    sales = made(factories.AgentFactory.create(), providers, channel_id=OTHER_CHANNEL)
    sales.ask()
    words = story.type("reply", where=sales.thread(), text="Sold!")
    assert words == "Passed on to the visitor."
    assert sales.chat()[-1] == ("person", "Sold!")
    assert InboundEvent.objects.get().channel == sales.channel
    other_key = "ab" * 32
    foreign = made(factories.AgentFactory.create(), providers, public_key=other_key)
    call = story.discord.command("reply", {"text": "Hm"}, channel=sales.thread())
    assert foreign.post(call).status == 401


def test_without_a_thread_lines_are_replies_and_the_token_releases(story: Story) -> None:
    story.discord.channels[CHANNEL].may_thread = False
    result = story.ask()["result"]
    story.ana_says("Are you there?")
    story.send_due()
    [asked, line] = story.discord.in_channel(CHANNEL)
    assert result["channel_message_id"] == asked["id"]
    assert line["message_reference"]["message_id"] == asked["id"]
    assert story.type("reply", where=CHANNEL, text="Yes!") == "Passed on to the visitor."
    token = story.session().release_token
    story.type("release", where=CHANNEL, token=token)
    assert story.session().release == "token"


def test_a_thread_that_was_deleted_goes_on_in_another(story: Story) -> None:
    story.ask()
    gone = story.thread()
    del story.discord.channels[gone]
    for text in ("Are you there?", "Hello?"):
        story.ana_says(text)
        story.send_due()
    anew = story.thread()
    assert anew != gone
    assert [quoted(shown)[0].words for shown in story.discord.shown(anew)] == ["Hello?"]
    assert story.type("reply", where=anew, text="Yes!") == "Passed on to the visitor."
    assert story.type("release", where=anew) == "Released. The assistant has been told."


def test_a_webhook_asks_and_the_form_answers(providers: Providers) -> None:
    story = made(factories.AgentFactory.create(), providers, {"webhook_url": WEBHOOK_URL})
    result = story.ask()["result"]
    [asked] = story.discord.messages
    assert result["channel_message_id"] == asked["id"]
    assert "begin a reply" not in asked["content"]
    story.ana_says("Hello?")
    story.send_due()
    assert len(story.discord.messages) == 2
    assert {asked.query["wait"] for asked in providers.requests("discord")} == {"true"}
    call = story.discord.command("release", {}, channel=CHANNEL)
    assert story.post(call).status == 401, "a webhook has no commands"
    session = story.session()
    factories.answer(session, factories.form(session))
    assert story.session().release == "form"


@pytest.fixture
def polled(providers: Providers) -> Story:
    return made(
        factories.AgentFactory.create(), providers, public_key="", application_id="", guild_id="",
        poll_replies=True,
    )  # fmt: skip


def test_a_thread_that_is_polled_is_the_conversation(polled: Story) -> None:
    polled.discord.shows_content = True
    polled.ask()
    thread = polled.thread()
    [asked] = polled.discord.in_channel(CHANNEL)
    assert "What you write in the thread of this message goes to the visitor." in asked["content"]
    polled.discord.write(thread, "It left on Monday.")
    polled.poll()
    assert polled.chat()[-1] == ("person", "It left on Monday.")
    polled.ana_says("And when does it arrive?")
    polled.send_due()
    polled.poll()
    assert [line for line in polled.chat() if line[0] == "person"] == [
        ("person", "It left on Monday.")
    ], "neither our own lines nor what was read before count"
    polled.discord.write(thread, "!release h7" + "a" * 16)
    polled.poll()
    polled.send_due()
    told = polled.discord.in_channel(thread)[-1]
    assert "That release line is not recognised." in told["content"]
    polled.discord.write(thread, "/release\nIt arrives tomorrow")
    channel = polled.poll()
    session = polled.session()
    assert (session.release, session.message) == ("token", "It arrives tomorrow")
    assert channel.poll_hint == ""
    assert channel.last_inbound_at is not None


def test_two_agents_share_a_room_that_is_read_once_and_each_hears_its_thread(
    providers: Providers,
) -> None:
    story, other = (
        made(factories.AgentFactory.create(), providers, poll_replies=True) for _ in range(2)
    )
    story.discord.shows_content = True
    threads = []
    for one in (story, other):
        one.ask()
        threads.append(one.thread())
    for thread, text in zip(threads, ("For Ana.", "For the other."), strict=True):
        story.discord.write(thread, text)
    story.poll()
    assert story.chat()[-1] == ("person", "For Ana.")
    assert other.chat()[-1] == ("person", "For the other.")
    for thread in threads:
        assert len(providers.requests("discord", path=f"/channels/{thread}/messages")) == 1


def test_words_that_discord_hides_are_a_hint_for_the_admin(polled: Story) -> None:
    polled.ask()
    polled.discord.write(polled.thread(), "Can you read this?")
    assert polled.poll().poll_hint == NO_INTENT
    assert [line for line in polled.chat() if line[0] == "person"] == []
    polled.discord.shows_content = True
    assert polled.poll().poll_hint == ""
    assert polled.chat()[-1] == ("person", "Can you read this?")


def test_the_buttons_of_the_admin(story: Story) -> None:
    report = run_set_up(story.channel, "commands", actor="owner:1")
    assert report.works
    assert set(story.discord.commands) == {"reply", "release"}
    story.discord.interactions_url = f"https://desk.example.org/hooks/discord/{story.channel.uuid}/"
    report = run_test(story.channel, actor="owner:1")
    assert report.works, report.lines
    assert story.discord.messages == []
