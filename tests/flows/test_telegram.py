"""A handoff in Telegram from the request to the resume note, through the real doors: by webhook,
and by polling.
"""

import json

import pytest
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.models import Agent, Session
from tests import factories
from tests.fakes.providers import Providers
from tests.fakes.telegram import BOT, GROUP, SUPERGROUP, FakeTelegram
from tests.fakes.telegram_chats import MIA, Person
from tests.flows.telegram_story import Story, made

pytestmark = pytest.mark.django_db(transaction=True)
BO = Person(id=5151, first_name="Bo")


@pytest.fixture(autouse=True)
def _public_address(settings: Settings) -> None:
    settings.PUBLIC_BASE_URL = "https://desk.example.org"


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create(display_name="Shop bot")


@pytest.fixture
def story(agent: Agent, providers: Providers) -> Story:
    """By webhook, connected."""
    found = made(agent, providers)
    found.press("set_up", "replies")
    return found


@pytest.mark.parametrize("mode", ["webhook", "poll"])
def test_the_whole_story(agent: Agent, providers: Providers, mode: str) -> None:
    story = made(agent, providers, mode=mode)
    telegram = story.telegram
    assert len(story.made["webhook_secret"]) == 43
    hook = f"https://desk.example.org/hooks/telegram/{story.channel.uuid}/"
    assert story.made["webhook_url"] == hook

    if mode == "poll":
        telegram.webhook.url = "https://elsewhere.example.net/hook"
    assert "Connect replies" in story.press("test")
    story.press("set_up", "replies")
    assert telegram.webhook.url == ("" if mode == "poll" else hook)
    expected = "" if mode == "poll" else story.made["webhook_secret"]
    assert telegram.webhook.secret_token == expected
    page = story.press("test")
    assert "@handoff_desk_bot" in page
    assert "Support crew" in page
    assert "Connect replies" not in page
    assert telegram.posts == []

    result = story.ask()["result"]
    [asked] = story.posts()
    session = story.session()
    assert result["channel_kind"] == "telegram"
    assert result["channel_message_id"] == asked.id
    assert result["human_notified"] is True
    assert asked.chat == SUPERGROUP
    assert asked.text.startswith("Shop bot, an AI agent, asks Shop on Telegram to take over.")
    assert "Reply to this message to write to the visitor." in asked.text
    assert factories.SUMMARY in asked.said("blockquote")
    assert factories.EXPECTED_ACTION in asked.said("blockquote")
    assert asked.said("code") == [f"/release {session.release_token}"]
    [(label, link)] = asked.links.items()
    assert link.startswith(f"https://desk.example.org/r/{factories.link_of(session).link_id}")
    assert asked.buttons == ((label, link),) == (("Fill return form", link),)
    assert not asked.previews
    assert (asked.rings, asked.answers) == ([], None)

    assert story.hear("Good morning! It left on Monday. 😀", chat=SUPERGROUP, under=asked) == [
        "replied"
    ]
    assert story.chat()[-1] == ("person", "Mia", "Good morning! It left on Monday. 😀")

    assert (
        story.ana_says("And when does it <b>arrive</b> & where? @mia")["routed_to"] == "recipient"
    )
    line = story.posts()[-1]
    said = [text.replace("\u2060", "") for text in line.said("blockquote")]
    assert said == ["And when does it <b>arrive</b> & where? @mia"]
    assert line.text.startswith("The visitor: Ana")
    assert (line.answers, line.rings, line.said("bold")) == (asked.number, [], ["The visitor:"])
    assert story.hear("Tomorrow.", chat=SUPERGROUP, under=line, by=BO) == ["replied"]
    assert story.chat()[-1] == ("person", "Bo", "Tomorrow.")

    release = f"/release@{BOT.username} {session.release_token} Shipped on Monday."
    assert story.hear(release, chat=SUPERGROUP) == ["released"]
    session = story.session()
    assert (session.status, session.release) == ("released", "token")
    assert session.message == "Shipped on Monday."
    author, _, note = story.chat()[-1]
    assert author == "system"
    assert note.startswith(
        "[Bot resumed — the recipient (Shop on Telegram) has handed control back."
    )
    assert "Shipped on Monday." in note.splitlines()[0]
    told = story.posts()[-1]
    assert told.text == "Released. The assistant has been told."
    assert told.answers == telegram.rooms[SUPERGROUP].last - 1
    assert story.ana_says("Thanks!")["routed_to"] == "agent"
    assert len(telegram.posts) == 3
    assert story.settings()["bot_username"] == BOT.username
    assert session.release_token not in json.dumps(
        list(AuditEvent.objects.values("details")), default=str
    )


def test_in_the_chat_with_the_bot_a_plain_message_is_enough(
    agent: Agent, providers: Providers
) -> None:
    story = made(agent, providers, chat_id=MIA.id)
    story.press("set_up", "replies")
    assert story.hear("/start") == []
    story.ask()
    assert story.posts()[0].chat == MIA.id
    assert story.hear("It left on Monday.") == ["replied"]
    assert story.hear("/help") == []
    assert story.hear(photo=[{"file_id": "x"}], caption="The parcel") == ["replied"]
    assert story.chat()[-1] == ("person", "Mia", "The parcel")
    assert story.posts()[-1].text == "Files are not passed on, only text."


def test_with_two_open_the_person_is_asked_which(agent: Agent, providers: Providers) -> None:
    story = made(agent, providers, chat_id=MIA.id)
    story.press("set_up", "replies")
    story.ask()
    other = factories.conversation(agent, "visitor-2", name="Ben")
    story.desk.call("handoff_request", factories.arguments(story.channel), conversation=other)
    assert story.hear("It left on Monday.") == ["which"]
    _, second, asked_which = story.posts()
    assert asked_which.text.startswith("More than one handoff is open here")
    assert story.hear("It left.", under=second) == ["replied"]
    assert Session.objects.exclude(joined_name="").get().conversation == other


def test_a_release_in_the_thread_needs_no_token_and_an_edit_releases_nothing(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    edited = story.telegram.write("hm", chat=SUPERGROUP, by=BO)
    story.telegram.update(edited_message={**edited, "text": "/release", "edit_date": 1})
    assert story.heard() == []
    assert story.session().status == "active"
    assert story.hear("/release", chat=SUPERGROUP, under=asked) == ["released"]


def test_what_another_bot_is_told_releases_nothing(story: Story) -> None:
    story.ask()
    story.telegram.reads_all = True
    token = story.session().release_token
    assert story.hear(f"/release@OtherBot {token}", chat=SUPERGROUP) == []
    assert story.session().status == "active"
    assert story.hear(f"/release {token}", chat=SUPERGROUP) == ["released"]


def test_a_wrong_release_line_is_told_so_and_is_not_passed_on(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    wrong = story.hear("/release h7aaaaaaaaaaaaaaaa", chat=SUPERGROUP, under=asked)
    assert wrong == ["not_recognised"]
    assert story.posts()[-1].text.startswith("That release line is not recognised.")
    assert story.chat() == []


def test_with_privacy_colleagues_talk_among_themselves(story: Story) -> None:
    story.ask()
    story.telegram.write("Lunch?", chat=SUPERGROUP)
    assert story.heard() == []


def test_another_chat_of_the_bot_is_not_listened_to(story: Story) -> None:
    story.ask()
    token = story.session().release_token
    assert story.hear(f"/release {token}") == []
    assert story.session().status == "active"
    assert AuditEvent.objects.filter(action="inbound.unmatched", reason="unknown_account").exists()


def test_a_topic_is_a_place_of_its_own(agent: Agent, providers: Providers) -> None:
    telegram: FakeTelegram = providers.fakes["telegram"]
    telegram.rooms[SUPERGROUP].topics = {7, 8}
    story = made(agent, providers, topic_id=7)
    story.press("set_up", "replies")
    telegram.reads_all = True
    story.ask()
    [asked] = story.posts()
    assert asked.topic == 7
    assert story.hear("It left on Monday.", chat=SUPERGROUP, topic=8) == ["unmatched"]
    assert story.hear("It left on Monday.", chat=SUPERGROUP, topic=7) == ["replied"]
    assert story.hear("/release x", chat=SUPERGROUP, topic=7) == ["not_recognised"]
    assert story.posts()[-1].topic == 7
    telegram.rooms[SUPERGROUP].topics = {8}
    story.ana_says("Are you there?")
    assert story.posts()[-1].topic is None
    assert "topic_id" not in story.settings()
    assert story.hear("Yes.", chat=SUPERGROUP, under=story.posts()[-1]) == ["replied"]


def test_a_group_that_becomes_a_supergroup_goes_on(agent: Agent, providers: Providers) -> None:
    story = made(agent, providers, chat_id=GROUP)
    story.press("set_up", "replies")
    story.ask()
    [asked] = story.posts()
    assert asked.chat == GROUP
    story.telegram.upgrade()
    assert story.heard() == ["moved"]
    assert story.settings()["chat_id"] == str(SUPERGROUP)
    assert AuditEvent.objects.filter(action="channel.migrated").exists()
    story.ana_says("Are you there?")
    line = story.posts()[-1]
    assert (line.chat, line.answers) == (SUPERGROUP, None)
    assert len(story.providers.requests("telegram", path="sendMessage")) == 2
    assert story.hear("Yes.", chat=SUPERGROUP, under=line) == ["replied"]


@pytest.mark.parametrize("mode", ["webhook", "poll"])
def test_two_channels_of_one_bot_hear_each_its_own(
    agent: Agent, providers: Providers, mode: str
) -> None:
    story = made(agent, providers, mode=mode)
    other = made(factories.AgentFactory.create(), providers, chat_id=MIA.id, mode=mode)
    story.press("set_up", "replies")
    story.ask()
    other.ask()
    first, second = story.posts()
    assert (first.chat, second.chat) == (SUPERGROUP, MIA.id)
    assert story.hear("For Ana.", chat=SUPERGROUP, under=first) == ["replied"]
    assert other.hear("For the other.") == ["replied"]
    assert [text for _, _, text in story.chat()] == ["For Ana."]
    assert [text for _, _, text in other.chat()] == ["For the other."]
