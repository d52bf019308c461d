"""A shop's desk with a Slack channel, and what its people do."""

import dataclasses
import json
import uuid
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.test import Client

from handoff.actions import couriers
from handoff.actions.inbound_apply import apply_due
from handoff.models import Agent, Channel, Conversation, InboundEvent, Session
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.providers import Delivered, Delivery, Providers
from tests.fakes.slack import BOT_TOKEN, SIGNING_SECRET, FakeSlack, Post


@dataclasses.dataclass
class Story:
    """A shop's agent, a visitor called Ana, and Mia, who reads #support."""

    desk: Desk
    channel: Channel
    conversation: Conversation
    slack: FakeSlack
    providers: Providers

    @property
    def address(self) -> str:
        return f"/hooks/slack/{self.channel.uuid}/"

    def post(self, delivery: Delivery) -> Delivered:
        return self.providers.deliver(delivery, to=self.address, client=Client())

    def hear(self, text: str, **message: Any) -> list[str]:
        """Mia writes, Slack posts it, and it is applied: what became of it."""
        return self.heard(self.slack.event(text, **message))

    def heard(self, event: dict[str, Any]) -> list[str]:
        before = set(InboundEvent.objects.values_list("pk", flat=True))
        [answer] = self.slack.say(self.providers, event, to=self.address, client=Client())
        assert (answer.status, answer.body) == (200, b"")
        apply_due()
        rows = InboundEvent.objects.exclude(pk__in=before).exclude(body="").order_by("pk")
        return list(rows.values_list("outcome", flat=True))

    def command(self, text: str, **fields: str) -> str:
        """What Slack shows to whoever typed the slash command."""
        answer = self.post(self.slack.slash(text, **fields))
        assert answer.status == 200
        shown = answer.json()
        assert shown.pop("response_type") == "ephemeral"
        [words] = shown.values()
        return str(words)

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

    def posts(self) -> list[Post]:
        """What stands in Slack, once all that is due was sent."""
        couriers.look()
        assert couriers.wait(10)
        return self.slack.posts

    def session(self) -> Session:
        return Session.objects.get()


def made(agent: Agent, slack: FakeSlack, providers: Providers, **config: Any) -> Story:
    settings = {
        "bot_token": BOT_TOKEN,
        "channel_id": "C0SUPPORT",
        "signing_secret": SIGNING_SECRET,
        **config,
    }
    out = StringIO()
    call_command(
        "new_channel", "--agent", agent.name, "--kind", "slack", "--label", "Shop on Slack",
        "--config", json.dumps(settings), "--json", stdout=out,
    )  # fmt: skip
    answer = json.loads(out.getvalue())
    channel = Channel.objects.get(pk=answer["channel_id"])
    assert answer["webhook_url"].endswith(f"/hooks/slack/{channel.uuid}/")
    conversation = factories.conversation(agent, uuid.uuid4().hex, name="Ana")
    return Story(Desk(agent), channel, conversation, slack, providers)
