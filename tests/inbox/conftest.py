"""An owner who is signed in, with an agent, a channel and a conversation."""

import dataclasses

import pytest
from django.contrib.auth.models import User
from django.test import Client

from handoff.actions.turns import post_turn
from handoff.contract.turns import TurnBody
from handoff.models import Agent, Channel, Conversation, Session
from tests import factories


@dataclasses.dataclass(frozen=True)
class Desk:
    """One owner's desk."""

    owner: User
    agent: Agent
    channel: Channel
    conversation: Conversation

    @property
    def page(self) -> str:
        return f"/inbox/{self.conversation.public_id}/"

    def requested(self, conversation: Conversation | None = None, **args: object) -> Session:
        return factories.requested(
            self.agent, self.channel, conversation or self.conversation, **args
        )

    def asked(self, name: str, **args: object) -> Session:
        """A handoff of another conversation, with the subscriber's name."""
        other = factories.conversation(self.agent, external_id=name, name=name)
        return self.requested(other, **args)

    def says(self, text: str, *, client_id: str) -> None:
        """A line of the subscriber."""
        post_turn(self.conversation, TurnBody(client_id=client_id, author="subscriber", text=text))


def new_desk(username: str) -> Desk:
    owner = factories.UserFactory.create(
        username=username, first_name=username.title(), last_name="Owner"
    )
    agent = factories.owned_agent(owner)
    return Desk(
        owner,
        agent,
        factories.inbox_channel(agent),
        factories.conversation(agent, name="Sam Visitor", email="sam@example.com"),
    )


@pytest.fixture
def desk(db: None) -> Desk:
    return new_desk("ada")


@pytest.fixture
def inbox(desk: Desk) -> Client:
    """A browser in which the owner of `desk` is signed in."""
    client = Client()
    client.force_login(desk.owner)
    return client
