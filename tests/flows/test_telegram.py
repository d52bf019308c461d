"""A handoff in Telegram from the request to the resume note, through the real doors: by webhook,
and by polling.
"""

import dataclasses
import json
import uuid
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import couriers
from handoff.actions.inbound_apply import apply_due
from handoff.actions.pollers import Pollers
from handoff.models import Agent, Channel, Conversation, InboundEvent, Session
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.providers import FakeAnswer, Providers
from tests.fakes.telegram import BOT, BOT_TOKEN, GROUP, SUPERGROUP, FakeTelegram
from tests.fakes.telegram_chats import MIA, Person, Post

pytestmark = pytest.mark.django_db(transaction=True)
BO = Person(id=5151, first_name="Bo")


@dataclasses.dataclass
class Story:
    """A shop's agent, a visitor called Ana, and Mia, who reads Telegram."""

    desk: Desk
    channel: Channel
    made: dict[str, Any]
    """What `new_channel` printed."""
    conversation: Conversation
    telegram: FakeTelegram
    providers: Providers
    admin: Client

    @property
    def polls(self) -> bool:
        return bool(self.channel.opened_settings()["mode"] == "poll")

    def press(self, *path: str) -> str:
        """The page that a button of the channel leads to."""
        url = reverse(f"admin:handoff_channel_{path[0]}", args=[self.channel.pk, *path[1:]])
        page = self.admin.post(url)
        assert page.status_code == 200
        assert self.made["webhook_secret"] not in page.text
        return page.text

    def hear(self, text: str = "", **message: Any) -> list[str]:
        """Somebody writes, the desk gets to know it, and it is applied: what became of it."""
        self.telegram.write(text, **message)
        return self.heard()

    def heard(self) -> list[str]:
        before = set(InboundEvent.objects.values_list("pk", flat=True))
        if self.polls:
            self.poll()
        else:
            answers = self.telegram.deliver(self.providers, client=Client())
            assert [(answer.status, answer.body) for answer in answers] == [(200, b"")] * len(
                answers
            )
        apply_due()
        rows = InboundEvent.objects.exclude(pk__in=before).exclude(body="").order_by("pk")
        return list(rows.values_list("outcome", flat=True))

    def poll(self) -> None:
        """One look of the desk's pollers into each queue that is due."""
        pollers = Pollers(told=lambda looked: pollers.halt())
        assert pollers.look() == 1
        assert pollers.wait(10)

    def ask(self, **args: Any) -> dict[str, Any]:
        return self.desk.call(
            "handoff_request",
            factories.arguments(self.channel, **args),
            conversation=self.conversation,
        )

    def ana_says(self, text: str) -> dict[str, Any]:
        body = {"client_id": uuid.uuid4().hex, "author": "subscriber", "text": text}
        reply = self.desk.post(f"conversations/{self.conversation.public_id}/messages", body)
        assert reply.status_code in (200, 201)
        said: dict[str, Any] = reply.json()["message"]
        return said

    def chat(self) -> list[tuple[str, str, str]]:
        """Author, name and text of each line that the visitor's chat shows."""
        found = self.desk.get(f"conversations/{self.conversation.public_id}/messages").json()
        return [(row["author"], row["name"], row["text"]) for row in found["data"]]

    def posts(self) -> list[Post]:
        """What stands in Telegram, once all that is due was sent."""
        couriers.look()
        assert couriers.wait(10)
        return self.telegram.posts

    def session(self) -> Session:
        return Session.objects.get()

    def settings(self) -> dict[str, Any]:
        self.channel.refresh_from_db()
        return self.channel.opened_settings()


def made(agent: Agent, providers: Providers, **config: Any) -> Story:
    out = StringIO()
    given = {"bot_token": BOT_TOKEN, "chat_id": SUPERGROUP, **config}
    call_command(
        "new_channel", "--agent", agent.name, "--kind", "telegram", "--label", "Shop on Telegram",
        "--config", json.dumps(given), "--json", stdout=out,
    )  # fmt: skip
    printed = json.loads(out.getvalue())
    channel = Channel.objects.get(pk=printed["channel_id"])
    boss = User.objects.filter(is_superuser=True).first() or User.objects.create_superuser("boss")
    admin = Client()
    admin.force_login(boss)
    conversation = factories.conversation(agent, uuid.uuid4().hex, name="Ana")
    telegram = providers.fakes["telegram"]
    return Story(Desk(agent), channel, printed, conversation, telegram, providers, admin)


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


def test_what_was_not_taken_comes_again_and_counts_once(story: Story) -> None:
    story.ask()
    [asked] = story.posts()
    story.telegram.write("It left on Monday.", chat=SUPERGROUP, under=asked)
    [update] = story.telegram.waiting
    table = InboundEvent._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            answers = story.telegram.deliver(story.providers, client=Client())
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    assert [answer.status for answer in answers] == [503]
    assert story.telegram.waiting == [update]
    assert story.heard() == ["replied"]
    story.telegram.waiting.append(update)
    assert story.heard() == []
    assert [text for _, _, text in story.chat()].count("It left on Monday.") == 1


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


def test_a_group_that_moved_unseen_is_found_by_sending(agent: Agent, providers: Providers) -> None:
    story = made(agent, providers, chat_id=GROUP)
    story.press("set_up", "replies")
    story.telegram.upgrade()
    story.telegram.waiting.clear()
    assert story.ask()["result"]["channel_message_id"] == f"{SUPERGROUP}:2"
    assert story.settings()["chat_id"] == str(SUPERGROUP)
    assert story.hear("Yes.", chat=SUPERGROUP, under=story.posts()[0]) == ["replied"]


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


def test_a_blocked_bot_is_a_failure_that_says_what_to_do_to_the_admin_alone(
    agent: Agent, providers: Providers
) -> None:
    story = made(agent, providers, chat_id=MIA.id)
    story.telegram.rooms[MIA.id].refuses = "bot was blocked by the user"
    answer = story.ask()
    assert answer["isError"] is True
    assert answer["result"]["code"] == "dispatch_failed"
    assert "blocked" not in json.dumps(answer)
    story.channel.refresh_from_db()
    assert story.channel.healthy
    assert "unblock" in story.channel.last_error_hint
    failed = AuditEvent.objects.get(action="handoff.dispatch_failed")
    assert failed.failure == "Telegram refused with 403: Forbidden: bot was blocked by the user"
    assert failed.reason == "recipient_unreachable"


def test_a_refused_token_takes_the_channel_out_of_use_until_the_test_heals_it(
    story: Story,
) -> None:
    story.telegram.token = "7654321:AAE-another_token_of_the_same_bot_12345"
    assert story.ask()["result"]["details"]["kind"] == "auth"
    story.channel.refresh_from_db()
    assert not story.channel.healthy
    assert BOT_TOKEN not in json.dumps(list(AuditEvent.objects.values()), default=str)
    story.telegram.token = BOT_TOKEN
    story.press("test")
    story.channel.refresh_from_db()
    assert story.channel.healthy


def test_a_proxy_in_between_may_have_passed_it_on(story: Story) -> None:
    story.providers.script(
        "telegram", [FakeAnswer(502, body=b"<html>proxy-7.internal</html>")], path="sendMessage"
    )
    answer = story.ask()
    assert answer["result"]["code"] == "dispatch_unknown"
    assert "proxy-7" not in json.dumps(answer)
    assert story.session().status == "unknown"
    token = story.session().release_token
    assert story.hear(f"/release {token} It left on Monday.", chat=SUPERGROUP) == ["late"]


def test_a_webhook_in_the_way_of_polling_is_told_on_the_channel(
    agent: Agent, providers: Providers
) -> None:
    story = made(agent, providers, mode="poll")
    story.telegram.webhook.url = "https://elsewhere.example.net/hook"
    story.poll()
    story.channel.refresh_from_db()
    assert story.channel.healthy, "messages still go out"
    assert "Connect replies" in story.channel.poll_hint


def test_the_door_answers_with_the_codes_that_telegram_needs(story: Story) -> None:
    telegram = story.telegram
    address = f"/hooks/telegram/{story.channel.uuid}/"

    def status(body: bytes, secret: str | None = None, to: str = address) -> int:
        telegram.write("hello", chat=SUPERGROUP)
        delivery = telegram.delivery({}, secret=secret)
        answer = story.providers.deliver(
            dataclasses.replace(delivery, body=body), to=to, client=Client()
        )
        assert b"hello" not in answer.body
        return answer.status

    assert status(b"{}") == 200
    assert status(b"{") == 200
    assert status(b"{}", secret="") == 403
    assert status(b"{}", secret="wrong") == 403
    assert status(b"{", secret="wrong") == 403
    assert status(b"[" + b" " * 1_000_000 + b"]") == 200
    assert status(b"[" + b" " * (1024 * 1024) + b"]") == 413
    assert status(b"{}", to=f"/hooks/telegram/{uuid.uuid4()}/") == 404
    assert Client().get(address).status_code == 405
    Channel.objects.update(enabled=False)
    assert status(b"{}") == 200
    assert status(b"{}", secret="wrong") == 403
    refused = AuditEvent.objects.filter(action="inbound.refused")
    assert {"bad_secret", "unreadable", "too_large"} <= set(
        refused.values_list("reason", flat=True)
    )
