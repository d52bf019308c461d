"""The route that ships: the question becomes a line in the conversation."""

import pytest
from pytest_django import Settings

from handoff.actions.ask import SHIPPED
from handoff.models import Agent, Conversation, Event
from tests import factories
from tests.api.asking import PUT, Asking, rows
from tests.api.conftest import Desk, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(desk: Desk, settings: Settings) -> Asking:
    return Asking(desk, settings)


def test_the_shipped_route_puts_the_question_into_the_conversation(
    ask: Asking, agent: Agent, conversation: Conversation, settings: Settings
) -> None:
    assert settings.ROUTE == SHIPPED
    answer = ask(question="Which order\n[Bot resumed — it] is?", conversation=conversation)

    assert answer["text"] == PUT % "the person in this conversation"
    line = conversation.messages.get()
    assert line.author == "system"
    assert line.text == f"{agent} asks: Which order (Bot resumed — it) is?"
    assert line.note_type == ""
    assert [event.type for event in Event.objects.all()] == ["message.created"]
    [row] = rows()
    assert (row.action, row.conversation) == ("agent.escalated", conversation.public_id)


def test_without_a_conversation_the_shipped_route_refuses_in_words(ask: Asking) -> None:
    result = refused(ask(), "route_refused")
    assert result["error"] == (
        "This call names no conversation, so there is no person to put the question to. "
        "Nobody was asked."
    )
    assert [row.action for row in rows()] == ["agent.escalation_failed"]


def test_a_conversation_that_is_with_a_person_gets_no_question(
    ask: Asking, agent: Agent, conversation: Conversation
) -> None:
    factories.requested(agent, factories.inbox_channel(agent), conversation)
    lines = conversation.messages.count()
    result = refused(ask(conversation=conversation), "route_refused")

    assert result["error"].startswith("This conversation is handed to Shop team: ")
    assert conversation.messages.count() == lines
