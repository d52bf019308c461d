"""A handoff in a Discord channel from the request to the resume note, through the real doors."""

import dataclasses
import json
import uuid
from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from audit.models import Event as AuditEvent
from handoff.actions import couriers, pollers, reconcile
from handoff.actions.channels import change_channel, run_set_up, run_test
from handoff.actions.inbound_apply import apply_due
from handoff.models import Agent, Attempt, Channel, Conversation, InboundEvent, Session
from handoff.transports.discord_poll import NO_INTENT
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.discord import BOT_TOKEN, CHANNEL, OTHER_CHANNEL, WEBHOOK_URL, FakeDiscord
from tests.fakes.discord_answers import cloudflare, error, too_many
from tests.fakes.discord_calls import APPLICATION, GUILD, PUBLIC_KEY, interaction, signed
from tests.fakes.discord_markdown import quoted, read
from tests.fakes.providers import Delivered, Delivery, Providers, Taken
from tests.fakes.rude import Rude

pytestmark = pytest.mark.django_db(transaction=True)
BOT_SETTINGS = {
    "bot_token": BOT_TOKEN,
    "channel_id": CHANNEL,
    "application_id": APPLICATION,
    "public_key": PUBLIC_KEY,
    "guild_id": GUILD,
}


@dataclasses.dataclass
class Story:
    """A shop's agent, a visitor called Ana, and Mia, who reads #support."""

    desk: Desk
    channel: Channel
    conversation: Conversation
    discord: FakeDiscord
    providers: Providers

    def post(self, delivery: Delivery) -> Delivered:
        """Discord calls our interactions endpoint."""
        address = f"/hooks/discord/{self.channel.uuid}/"
        return self.providers.deliver(delivery, to=address, client=Client())

    def type(self, name: str, *, where: str, **options: str) -> str:
        """Mia types a slash command: what she alone is shown."""
        answer = self.post(self.discord.command(name, options, channel=where))
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        shown = answer.json()
        assert shown["type"] == 4
        assert shown["data"]["flags"] == 64
        assert shown["data"]["allowed_mentions"] == {"parse": []}
        return "\n".join(row.words for row in read(shown["data"]["content"]))

    def poll(self) -> Channel:
        """The desk looks into the threads, and what came is applied."""
        Channel.objects.update(poll_at="2026-01-01T00:00Z")
        pollers.look()
        assert pollers.wait(10)
        apply_due()
        return Channel.objects.get(pk=self.channel.pk)

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

    def chat(self) -> list[tuple[str, str]]:
        """Author and text of each line that the visitor's chat shows."""
        found = self.desk.get(f"conversations/{self.conversation.public_id}/messages").json()
        return [(row["author"], row["text"]) for row in found["data"]]

    def send_due(self) -> None:
        couriers.look()
        assert couriers.wait(10)

    def thread(self) -> str:
        """The thread of the newest handoff."""
        return self.discord.threads()[-1].id

    def session(self) -> Session:
        return Session.objects.filter(channel=self.channel).latest("pk")


def made(
    agent: Agent, providers: Providers, settings: Mapping[str, Any] = BOT_SETTINGS, **config: Any
) -> Story:
    out = StringIO()
    call_command(
        "new_channel", "--agent", agent.name, "--kind", "discord", "--label", "Shop on Discord",
        "--config", json.dumps({**settings, **config}), "--json", stdout=out,
    )  # fmt: skip
    answer = json.loads(out.getvalue())
    channel = Channel.objects.get(pk=answer["channel_id"])
    assert answer["webhook_url"].endswith(f"/hooks/discord/{channel.uuid}/")
    conversation = factories.conversation(agent, uuid.uuid4().hex, name="Ana")
    return Story(Desk(agent), channel, conversation, providers.fakes["discord"], providers)


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


def test_a_command_in_a_place_of_nobodys_is_told_so(story: Story) -> None:
    story.ask()
    nowhere = {"id": "8888888888888888888", "type": 0, "parent_id": CHANNEL}
    call = story.discord.command(
        "reply", {"text": "Hello?"}, channel=CHANNEL, channel_id=nowhere["id"]
    )
    body = {**json.loads(call.body), "channel": nowhere}
    answer = story.post(signed(body))
    assert answer.json()["data"]["content"] == "There is no handoff here."
    assert AuditEvent.objects.filter(action="inbound.unmatched", reason="unknown_account").exists()
    assert [line for line in story.chat() if line[0] == "person"] == []


def test_an_interaction_counts_once(story: Story) -> None:
    story.ask()
    call = story.discord.command("reply", {"text": "Once."}, channel=story.thread())
    assert {story.post(call).status for _ in range(3)} == {200}
    assert [line for line in story.chat() if line[0] == "person"] == [("person", "Once.")]
    assert AuditEvent.objects.filter(action="inbound.duplicate").count() >= 1


def test_the_door_answers_with_the_codes_that_discord_needs(story: Story) -> None:
    good = signed(interaction())
    for headers in (
        {},
        {**good.headers, "X-Signature-Ed25519": "00" * 64},
        {**good.headers, "X-Signature-Ed25519": "not hex"},
        {**good.headers, "X-Signature-Timestamp": "1"},
    ):
        answer = story.post(dataclasses.replace(good, headers=headers))
        assert (answer.status, answer.body) == (401, b"")
    assert story.post(signed(interaction(), at=1_796_040_000)).status in (200, 401)
    assert story.post(signed(b"{")).status == 400
    assert story.post(signed(interaction(type=3))).json()["type"] == 4
    assert story.post(signed(b" " * (1024 * 1024 + 1))).status == 413
    unknown = f"/hooks/discord/{uuid.uuid4()}/"
    assert story.providers.deliver(good, to=unknown, client=Client()).status == 404
    Channel.objects.update(enabled=False)
    assert story.post(signed(interaction())).json() == {"type": 1}


def test_an_outage_is_a_500_since_nothing_makes_discord_try_again(story: Story) -> None:
    story.ask()
    call = story.discord.command("reply", {"text": "Hello"}, channel=story.thread())
    table = InboundEvent._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            address = f"/hooks/discord/{story.channel.uuid}/"
            client = Client(raise_request_exception=False)
            answer = story.providers.deliver(call, to=address, client=client)
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    assert answer.status == 500
    assert story.post(call).status == 200
    assert story.chat()[-1] == ("person", "Hello")


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


def test_a_webhook_that_is_gone_is_never_called_again(providers: Providers) -> None:
    """Neither by a line nor by a handoff, however long ago it was; another webhook is."""
    story = made(factories.AgentFactory.create(), providers, {"webhook_url": WEBHOOK_URL})
    story.ask()
    story.discord.webhooks.clear()
    story.ana_says("Hello?")
    story.send_due()
    calls = len(providers.requests("discord"))
    for text in ("Anybody?", "Please."):
        story.ana_says(text)
        story.send_due()
    Channel.objects.update(unhealthy_since="2026-01-01T00:00Z")
    again = dataclasses.replace(
        story, conversation=factories.conversation(story.desk.agent, "visitor-2")
    )
    answer = again.ask()
    assert answer["result"]["code"] == "dispatch_failed"
    assert len(providers.requests("discord")) == calls
    channel = Channel.objects.get(pk=story.channel.pk)
    assert not channel.healthy
    assert "make a new one" in channel.last_error_hint

    anew = {"4444444444444444445": "another_token"}
    story.discord.webhooks.update(anew)
    [(webhook, token)] = anew.items()
    url = f"https://discord.com/api/webhooks/{webhook}/{token}"
    for config in ({"webhook_url": WEBHOOK_URL}, {"webhook_url": url}):
        Channel.objects.update(unhealthy_since="2026-01-01T00:00Z")
        change_channel(Channel.objects.get(pk=story.channel.pk), config=config, actor="owner:1")
        answer = again.ask()
    assert answer["result"]["ok"] is True
    assert len(providers.requests("discord")) == calls + 1
    assert Channel.objects.get(pk=story.channel.pk).healthy


@pytest.mark.parametrize(
    ("refusal", "status", "is_healthy"),
    [
        (error(401, 0, "401: Unauthorized"), "failed", False),
        (error(403, 50001, "Missing Access"), "failed", False),
        (error(404, 10003, "Unknown Channel"), "failed", False),
        (cloudflare(), "failed", True),
        (too_many(30), "failed", True),
    ],
)
def test_a_refusal_is_told_to_the_operator_and_not_to_the_agent(
    story: Story, refusal: Any, status: str, is_healthy: bool
) -> None:
    story.providers.script("discord", [refusal], path="/messages")
    answer = story.ask()
    assert answer["result"]["code"] == "dispatch_failed"
    for word in ("Discord refused", "401", "50001", "Missing Access", "Cloudflare"):
        assert word not in json.dumps(answer)
    assert story.session().status == status
    story.channel.refresh_from_db()
    assert story.channel.healthy is is_healthy
    assert story.channel.last_error_hint
    assert len(story.providers.requests("discord")) == 1


def test_a_desk_that_was_killed_finds_its_message_and_its_thread_again(story: Story) -> None:
    """The post was accepted, and nobody wrote that down: the same post again is no second one."""
    story.providers.script("discord", [Taken(Rude.RESET_BEFORE)], path="/messages")
    story.ask()
    Session.objects.update(status="dispatching")
    Attempt.objects.update(status="sending", finished_at=None, at="2026-01-01T00:00Z")
    with connection.cursor() as cursor:
        now = "now() - interval '60 seconds'"
        if connection.vendor == "sqlite":
            now = "strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds')"
        cursor.execute(f"UPDATE {Attempt._meta.db_table} SET at = {now}")
    reconcile.resolve_attempts()
    attempt = Attempt.objects.get()
    assert attempt.status == "accepted"
    [asked] = story.discord.in_channel(CHANNEL)
    assert attempt.thread_key == attempt.provider_message_id == asked["id"]
    assert story.session().status == "active"


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
