"""A desk with a toy channel: a plugin of pytest with the fixture `toys`."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from handoff.actions import notices
from handoff.actions.channels import create_channel
from handoff.actions.inbound_apply import apply_due
from handoff.actions.relay import deliver_due
from handoff.actions.turns import post_turn
from handoff.contract.turns import TurnBody
from handoff.models import Agent, Channel, Conversation, InboundEvent, Message, Session
from tests import factories
from tests.fakes import toy, toy_chat
from tests.fakes.providers import Delivered, Providers
from tests.fakes.toy_chat import FakeToy, Posted


@dataclasses.dataclass
class Toys:
    """An agent, its channel to the room `support`, and the toy's server."""

    agent: Agent
    channel: Channel
    chat: FakeToy
    providers: Providers
    client: Client = dataclasses.field(default_factory=Client)

    def ask(self, conversation: Conversation | None = None, **more: Any) -> Session:
        """A handoff that reached the room."""
        channel = more.pop("channel", self.channel)
        return factories.requested(self.agent, channel, conversation, **more)

    def talk(self, external_id: str = "visitor-1", **more: Any) -> tuple[Conversation, Session]:
        """One of a conversation with Ana."""
        conversation = factories.conversation(self.agent, external_id, name="Ana")
        return conversation, self.ask(conversation, **more)

    def post(
        self, *events: dict[str, Any], channel: Channel | None = None, **how: Any
    ) -> Delivered:
        """The toy calls our webhook; nothing is applied yet."""
        delivery = toy_chat.signed(*events, **how)
        return self.providers.deliver(
            delivery, to=address(channel or self.channel), client=self.client
        )

    def hear(self, *events: dict[str, Any], channel: Channel | None = None) -> str:
        """The toy posts events, and they are applied; what became of the last."""
        answer = self.post(*events, channel=channel)
        assert (answer.status, answer.body) == (200, b"")
        apply_due()
        return InboundEvent.objects.exclude(body="").latest("pk").outcome

    def sent(self) -> list[Posted]:
        """What is in the rooms, once all that is due was sent."""
        deliver_due()
        while (owed := notices.claim()) is not None:
            notices.send(owed)
        return self.chat.posts

    def told(self) -> list[str]:
        """The sentences that people got who wrote to us."""
        return [post.text for post in self.sent() if post.is_notice]


def address(channel: Channel) -> str:
    return f"/hooks/{channel.kind}/{channel.uuid}/"


def toy_channel(
    agent: Agent,
    *,
    kind: str = "toy",
    label: str = "Support room",
    secret: str = toy_chat.SECRET,
    **config: Any,
) -> Channel:
    """A channel to the room `support`; without `secret` the desk makes one of its own."""
    settings = {"room": "support", "api_key": toy_chat.KEY, "hook_secret": secret, **config}
    return create_channel(agent, kind=kind, label=label, config=settings, actor="test")


def thread_of(session: Session) -> str:
    """The thread that the dispatch opened."""
    return session.attempts.get(number=1).thread_key


def lines(conversation: Conversation) -> list[tuple[str, str, str]]:
    """Author, name and text of what people said."""
    said = Message.objects.filter(conversation=conversation).exclude(author="system")
    return list(said.order_by("event_id").values_list("author", "name", "text"))


def write(conversation: Conversation, text: str) -> None:
    """The visitor writes a line."""
    post_turn(conversation, TurnBody(client_id=text, author="subscriber", text=text))


@pytest.fixture
def toys(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch, agent: Agent
) -> Iterator[Toys]:
    chat = FakeToy()
    settings.TRANSPORTS = {"toy": "tests.fakes.toy.Toy"}
    with Providers(others={"toy": chat}) as providers:
        monkeypatch.setattr(toy, "BASE", providers.base("toy"))
        yield Toys(agent, toy_channel(agent), chat, providers)
    assert providers.problems == []


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create()
