"""A shop on Telegram: its agent, its channel, its people, and what they say and read."""

import dataclasses
import json
import uuid
from io import StringIO
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from handoff.actions import couriers
from handoff.actions.inbound_apply import apply_due
from handoff.actions.pollers import Pollers
from handoff.models import Agent, Channel, Conversation, InboundEvent, Session
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.providers import Providers
from tests.fakes.telegram import BOT_TOKEN, SUPERGROUP, FakeTelegram
from tests.fakes.telegram_chats import Post


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
