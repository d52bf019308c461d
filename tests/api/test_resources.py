"""The REST resources: conversations, turns, pages, tickets."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from handoff.actions.endings import back_to_bot
from handoff.actions.tickets import redeem
from handoff.models import Agent, Channel, Conversation, Ticket
from tests import factories
from tests.api.conftest import Desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)


def turn(client_id: str, text: str, author: str = "subscriber") -> dict[str, object]:
    return {"client_id": client_id, "author": author, "text": text}


def test_me_names_the_agent_and_its_limits(desk: Desk) -> None:
    body = desk.get("me").json()
    assert body["agent"] == {"name": desk.agent.name, "display_name": str(desk.agent)}
    assert body["limits"]["call_bytes"] == 262144


def test_channels_are_listed_without_addresses(desk: Desk, agent: Agent, inbox: Channel) -> None:
    off = factories.email_channel(agent, enabled=False)
    body = desk.get("channels").json()
    assert body == {
        "data": [
            {
                "id": inbox.pk,
                "kind": "owner_inbox",
                "label": "Shop team",
                "available": True,
                "estimated_response": "",
            },
            {
                "id": off.pk,
                "kind": "email",
                "label": "Sales support",
                "available": False,
                "estimated_response": "",
            },
        ]
    }


def test_a_conversation_is_made_once_and_changed_after(desk: Desk) -> None:
    body = {"external_id": "v-1", "subscriber": {"name": "Ana", "email": "ana@example.com"}}
    first = desk.post("conversations", body)
    again = desk.post("conversations", {"external_id": "v-1", "subscriber": {"name": "Ana B."}})

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == {
        "id": first.json()["id"],
        "external_id": "v-1",
        "subscriber": {"name": "Ana B.", "email": "ana@example.com", "locale": ""},
        "handoff": None,
    }
    assert desk.get(f"conversations/{first.json()['id']}").json() == again.json()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"external_id": ""},
        {"external_id": "x" * 201},
        {"external_id": "v", "subscriber": {"email": "a@b@c"}},
        {"external_id": "v", "colour": "blue"},
    ],
)
def test_a_bad_conversation_is_refused_with_every_problem(
    desk: Desk, body: dict[str, object]
) -> None:
    response = desk.post("conversations", body)
    assert response.status_code == 400
    assert response.json()["code"] == "invalid_arguments"
    assert response.json()["details"]["problems"]
    assert not Conversation.objects.exists()


def test_a_turn_goes_to_the_agent_while_nobody_else_has_it(
    desk: Desk, conversation: Conversation
) -> None:
    path = f"conversations/{conversation.public_id}/messages"
    response = desk.post(path, turn("1", "  Hello\r\nthere "))

    assert response.status_code == 201
    body = response.json()
    assert set(body) == {"message", "bypass", "handoff", "context"}
    assert body["bypass"] is False
    assert body["message"]["text"] == "Hello\nthere"
    assert body["message"]["routed_to"] == "agent"
    assert body["message"]["name"] == "Ana"


def test_during_a_bypass_the_subscriber_reaches_the_recipient_and_the_agent_is_superseded(
    desk: Desk, agent: Agent, inbox: Channel, conversation: Conversation
) -> None:
    session = factories.requested(agent, inbox, conversation)
    path = f"conversations/{conversation.public_id}/messages"
    said = desk.post(path, turn("1", "Are you there?")).json()
    late = desk.post(path, turn("2", "I am only a bot.", author="agent"))

    assert said["bypass"] is True
    assert said["message"]["routed_to"] == "recipient"
    assert said["handoff"]["id"] == session.public_id
    assert late.status_code == 200
    assert late.json()["code"] == "superseded"
    assert late.json()["message"]["routed_to"] is None

    back_to_bot(conversation.pk)
    retried = desk.post(path, turn("1", "Are you there?")).json()
    assert retried["message"] == said["message"]
    assert retried["bypass"] is True
    assert desk.post(path, turn("2", "I am only a bot.", author="agent")).status_code == 200
    again = desk.post(path, turn("3", "Hello bot")).json()
    assert again["message"]["routed_to"] == "agent"
    assert (
        again["context"][0]["text"] == "[Bot resumed — the visitor asked to be back with the bot.]"
    )


def test_a_client_id_with_other_words_is_refused(desk: Desk, conversation: Conversation) -> None:
    path = f"conversations/{conversation.public_id}/messages"
    desk.post(path, turn("1", "Hello"))
    response = desk.post(path, turn("1", "Good bye"))
    assert response.status_code == 409
    assert response.json()["details"]["problems"][0]["field"] == "client_id"
    assert conversation.messages.count() == 1


def test_a_note_is_context_until_it_is_acknowledged(
    desk: Desk, agent: Agent, inbox: Channel, conversation: Conversation
) -> None:
    session = factories.requested(agent, inbox, conversation)
    back_to_bot(conversation.pk)
    path = f"conversations/{conversation.public_id}/messages"
    note = desk.post(path, turn("1", "Hi")).json()["context"][0]

    assert note == {
        "event_id": note["event_id"],
        "type": "handoff.released",
        "handoff": session.public_id,
        "text": "[Bot resumed — the visitor asked to be back with the bot.]",
        "values": {},
        "missing": [],
        "invalid": [],
        "unknown": {},
    }
    answer = desk.post(path, turn("2", "Hi!", author="agent") | {"ack_event_id": note["event_id"]})
    assert answer.json()["context"] == []


def test_messages_and_events_are_paged_without_gaps(desk: Desk, conversation: Conversation) -> None:
    path = f"conversations/{conversation.public_id}/messages"
    for number in range(7):
        desk.post(path, turn(str(number), f"line {number}"))
    for resource in (path, "events"):
        found, after, has_more = [], 0, True
        while has_more:
            page = desk.get(resource, {"after": after, "limit": 3}).json()
            assert set(page) == {"data", "next_after", "has_more"}
            found += page["data"]
            after, has_more = page["next_after"], page["has_more"]
        assert len(found) == 7
        assert desk.get(resource, {"after": after}).json()["data"] == []
    events = desk.get("events").json()["data"]
    assert [event["id"] for event in events] == [1, 2, 3, 4, 5, 6, 7]
    assert events[0]["data"]["message"]["text"] == "line 0"


@pytest.mark.parametrize("query", [{"after": -1}, {"after": "x"}, {"limit": 0}, {"limit": 201}])
def test_a_bad_page_is_refused(desk: Desk, query: dict[str, object]) -> None:
    response = desk.get("events", query)
    assert response.status_code == 400
    assert response.json()["details"]["problems"][0]["field"] == next(iter(query))


def test_handoffs_are_filtered_by_status_and_conversation(
    desk: Desk, agent: Agent, inbox: Channel, conversation: Conversation
) -> None:
    attached = factories.requested(agent, inbox, conversation)
    detached = factories.requested(agent, inbox)
    back_to_bot(conversation.pk)

    def ids(**query: str) -> list[str]:
        return [item["id"] for item in desk.get("handoffs", query).json()["data"]]

    assert ids() == [attached.public_id, detached.public_id]
    assert ids(status="active") == [detached.public_id]
    assert ids(conversation=conversation.public_id) == [attached.public_id]
    assert desk.get("handoffs", {"status": "open"}).status_code == 400
    assert desk.get(f"handoffs/{attached.public_id}").json()["status"] == "released"


def test_the_handoffs_page_costs_a_fixed_number_of_queries(
    desk: Desk, agent: Agent, inbox: Channel
) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert desk.get("handoffs").status_code == 200
        return len(queries)

    factories.requested(agent, inbox)
    cost()  # the first use of a token in an hour is written down
    few = cost()
    for _ in range(5):
        factories.requested(agent, inbox)
    assert cost() == few


def test_a_ticket_opens_one_conversation_once(desk: Desk, conversation: Conversation) -> None:
    response = desk.post(f"conversations/{conversation.public_id}/tickets", {"role": "subscriber"})
    assert response.status_code == 201
    body = response.json()
    assert body["url"] == f"ws://desk.example.org/ws/chat?ticket={body['ticket']}"
    grant = redeem(body["ticket"])
    assert grant is not None
    assert (grant.conversation, grant.role) == (conversation.public_id, "subscriber")
    assert redeem(body["ticket"]) is None
    assert redeem(body["ticket"][:-1]) is None
    assert redeem("nonsense") is None


def test_a_ticket_expires(desk: Desk, conversation: Conversation) -> None:
    path = f"conversations/{conversation.public_id}/tickets"
    body = desk.post(path, {"role": "agent"}).json()
    Ticket.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert redeem(body["ticket"]) is None


def test_another_agents_resources_are_out_of_reach(desk: Desk) -> None:
    stranger = factories.AgentFactory.create()
    theirs = factories.conversation(stranger, "theirs")
    session = factories.requested(stranger, factories.inbox_channel(stranger))
    for path in (
        f"conversations/{theirs.public_id}",
        f"conversations/{theirs.public_id}/messages",
        f"handoffs/{session.public_id}",
    ):
        response = desk.get(path)
        assert response.status_code == 403
        assert response.json() == {"error": "That token is not for this Bot."}
    for path in ("conversations/c_none", "handoffs/hs_none"):
        assert desk.get(path).status_code == 404
    assert desk.get("events").json()["data"] == []


def test_a_wrong_method_is_a_sentence_in_json(desk: Desk) -> None:
    response = desk.get("tool-calls")
    assert response.status_code == 405
    assert set(response.json()) == {"error", "code"}


def test_problem_json_is_spoken_to_whoever_accepts_it(desk: Desk) -> None:
    response = desk.get("handoffs/hs_none", headers={"accept": "application/problem+json"})
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json() == {
        "error": "There is no such handoff.",
        "code": "not_found",
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "There is no such handoff.",
    }
