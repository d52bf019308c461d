"""What a recipient writes in a channel: whose handoff it is about, and what becomes of it."""

import pytest

from handoff.models import InboundEvent, Session
from tests.fakes.toy_chat import said
from tests.fakes.toy_desk import Toys, lines, thread_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_reply_in_the_thread_reaches_the_conversation(toys: Toys) -> None:
    conversation, session = toys.talk()
    assert toys.hear(said("It left on Monday.", thread=thread_of(session))) == "replied"
    assert lines(conversation) == [("person", "Mia", "It left on Monday.")]
    assert InboundEvent.objects.get().session == session
    assert Session.objects.get().joined_name == "Mia"
