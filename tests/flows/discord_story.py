"""The people of the Discord stories, and what each of them does."""

import dataclasses
import json
import uuid
from collections.abc import Mapping
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.test import Client

from handoff.actions import couriers, pollers
from handoff.actions.inbound_apply import apply_due
from handoff.models import Agent, Channel, Conversation, Session
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.discord import BOT_TOKEN, CHANNEL, FakeDiscord
from tests.fakes.discord_calls import APPLICATION, GUILD, PUBLIC_KEY
from tests.fakes.discord_markdown import read
from tests.fakes.providers import Delivered, Delivery, Providers

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
