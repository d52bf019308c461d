"""Fills the database of a server with two owners and some handoffs; prints what the test needs.

Run in the server's environment: `python -m tests.browser.inbox_story`.
"""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from handoff.actions.turns import post_turn  # noqa: E402  (they need the settings)
from handoff.contract.turns import TurnBody  # noqa: E402
from handoff.models import Conversation, Message  # noqa: E402
from tests import factories  # noqa: E402

LONG = 450
"""More lines than two pages of the inbox have."""


def main() -> None:
    owner = factories.UserFactory.create(username="ada", first_name="Ada", last_name="Byron")
    agent = factories.owned_agent(owner, name="shop", display_name="Shop assistant")
    bea = factories.UserFactory.create(username="bea", first_name="Bea", last_name="Lovelace")
    agent.owners.add(bea)
    channel = factories.inbox_channel(agent)
    sam = factories.conversation(agent, external_id="sam", name="Sam", email="sam@example.com")
    post_turn(sam, TurnBody(client_id="1", author="subscriber", text="Where is\norder 1234?"))
    session = factories.requested(agent, channel, sam, urgency="high", extra_context={"a": "b"})
    sara = factories.conversation(agent, external_id="sara", name="سارة")
    post_turn(sara, TurnBody(client_id="1", author="subscriber", text="مرحبا، أين طلبي رقم 1234؟"))
    factories.requested(
        agent, channel, sara, expected_action="الرجاء البحث عن الطلب رقم 1234 وملء حالته."
    )
    done = factories.requested(agent, channel)
    factories.answer(done, factories.form(done))
    failing = factories.email_channel(agent, smtp_url="smtp://127.0.0.1:9")
    kim = factories.conversation(agent, external_id="kim", name="Kim")
    factories.requested(agent, failing, kim)
    talk = factories.conversation(agent, external_id="long", name="Lou")
    Message.objects.bulk_create(
        Message(conversation=talk, event_id=number, author="subscriber", text=f"Line {number}.")
        for number in range(1, LONG + 1)
    )
    Conversation.objects.filter(pk=talk.pk).update(last_event_id=LONG)
    factories.requested(agent, channel, talk, urgency="low")
    facts = {
        "token": factories.token_of(agent).text,
        "session": session.public_id,
        "sam": f"/inbox/{sam.public_id}/",
        "sara": f"/inbox/{sara.public_id}/",
        "kim": f"/inbox/{kim.public_id}/",
        "long": f"/inbox/{talk.public_id}/",
        "bea": str(bea.pk),
        "done": f"/inbox/h/{done.public_id}/",
        "messages": f"/api/v1/conversations/{sam.public_id}/messages",
    }
    sys.stdout.write(json.dumps(facts))


if __name__ == "__main__":
    main()
