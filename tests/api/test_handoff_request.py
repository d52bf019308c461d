"""`handoff_request` through its real door: what is handed over, and what is refused."""

from typing import Any

import pytest

from audit.models import Event as AuditEvent
from handoff.models import Agent, Attempt, Channel, Conversation, Session
from tests import factories
from tests.api.conftest import Desk, refused
from tests.fakes.smtp import SmtpServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def email(agent: Agent, smtp: SmtpServer) -> Channel:
    return factories.email_channel(
        agent, smtp_url=smtp.url, estimated_response="within 1 business day"
    )


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)


def problems(answer: dict[str, Any]) -> dict[str, str]:
    listed = refused(answer, "invalid_arguments")["details"]["problems"]
    return {item["field"]: item["problem"] for item in listed}


def test_an_email_handoff_reaches_the_person_and_says_so(
    desk: Desk, email: Channel, conversation: Conversation, smtp: SmtpServer
) -> None:
    answer = desk.call("handoff_request", factories.arguments(email), conversation=conversation)

    assert answer["isError"] is False
    assert answer["text"].startswith(
        "Handed to Sales support by email; they were notified, and usually reply within 1 business "
        "day. Until this handoff is released the visitor's messages go to them, not to you. "
    )
    session = Session.objects.get()
    attempt = Attempt.objects.get()
    assert answer["result"] == {
        "ok": True,
        "action": "handoff_session_started",
        "channel_kind": "email",
        "channel_id": email.pk,
        "channel_label": "Sales support",
        "channel_message_id": attempt.provider_message_id,
        "estimated_response": "within 1 business day",
        "handoff_event_id": attempt.public_id,
        "handoff_session_id": session.public_id,
        "human_notified": True,
    }
    mail = smtp.wait_for_message()
    assert mail.recipients == ("sales@example.com",)
    assert attempt.provider_message_id == mail.message["Message-ID"]
    assert factories.EXPECTED_ACTION in mail.text
    assert f"/release {session.release_token}" in mail.text
    assert (session.status, attempt.status) == ("active", "accepted")
    assert list(
        AuditEvent.objects.filter(session=session.public_id)
        .order_by("id")
        .values_list("action", flat=True)
    ) == ["handoff.requested", "link.minted", "handoff.dispatched"]


def test_an_owner_inbox_handoff_needs_no_provider(
    desk: Desk, inbox: Channel, conversation: Conversation
) -> None:
    answer = desk.call("handoff_request", factories.arguments(inbox), conversation=conversation)

    assert answer["text"].startswith("Handed to Shop team by owner inbox; it is in their inbox. ")
    assert answer["result"]["human_notified"] is True
    assert answer["result"]["channel_message_id"] is None
    assert Session.objects.get().status == "active"


def test_a_detached_handoff_says_where_the_answer_will_be(desk: Desk, inbox: Channel) -> None:
    answer = desk.call("handoff_request", factories.arguments(inbox))

    assert answer["text"].endswith("Ask handoff_status for the answer.")
    assert "visitor" not in answer["text"]
    assert Session.objects.get().conversation is None


def test_detached_handoffs_may_be_many(desk: Desk, inbox: Channel) -> None:
    for _ in range(3):
        desk.call("handoff_request", factories.arguments(inbox))
    assert Session.objects.filter(status="active").count() == 3


def test_an_unknown_external_id_makes_the_conversation(desk: Desk, inbox: Channel) -> None:
    desk.post(
        "tool-calls",
        {
            "name": "handoff_request",
            "args": factories.arguments(inbox),
            "conversation": {"external_id": "visitor-77"},
        },
    )
    conversation = Session.objects.get().conversation
    assert conversation is not None
    assert conversation.external_id == "visitor-77"


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"summary": "x" * 19}, "summary", "must have 20 to 2000 characters; it has 19"),
        ({"summary": " " * 40}, "summary", None),
        ({"summary": "x" * 2001}, "summary", "must have 20 to 2000 characters; it has 2001"),
        ({"expected_action": "too short"}, "expected_action", None),
        ({"urgency": "urgent"}, "urgency", None),
        ({"contact_back_email": "not an address"}, "contact_back_email", None),
        ({"include_transcript": "yes"}, "include_transcript", None),
        ({"extra_context": {f"key{n}": "x" * 1024 for n in range(5)}}, "extra_context", None),
        ({"colour": "blue"}, "colour", None),
        ({"channel_id": "12"}, "channel_id", None),
        ({"channel_id": True}, "channel_id", None),
        (
            {"expected_return": [{"name": f"f{n}", "type": "string"} for n in range(21)]},
            "expected_return",
            None,
        ),
        (
            {
                "expected_return": [
                    {"name": "note", "type": "string"},
                    {"name": "NOTE", "type": "string"},
                ]
            },
            "expected_return.1.name",
            None,
        ),
        (
            {"expected_return": [{"name": "a", "type": "enum"}]},
            "expected_return.0.enum_values",
            None,
        ),
        ({"expected_return": [{"name": "1a", "type": "string"}]}, "expected_return.0.name", None),
        ({"expected_return": [{"name": "a", "type": "text"}]}, "expected_return.0.type", None),
    ],
)
def test_a_bad_argument_is_refused_by_name_and_nobody_is_asked(
    desk: Desk,
    email: Channel,
    smtp: SmtpServer,
    change: dict[str, Any],
    field: str,
    problem: str | None,
) -> None:
    found = problems(desk.call("handoff_request", factories.arguments(email, **change)))

    assert set(found) == {field}
    assert problem is None or found[field] == problem
    assert not Session.objects.exists()
    assert smtp.messages == []


def test_limits_count_after_trimming(desk: Desk, inbox: Channel) -> None:
    padded = factories.arguments(
        inbox, summary=f"  {'x' * 2000}  ", expected_action="\n1234567890 "
    )
    assert desk.call("handoff_request", padded)["isError"] is False
    assert Session.objects.get().summary == "x" * 2000


def test_every_problem_is_reported_at_once(desk: Desk, inbox: Channel) -> None:
    found = problems(
        desk.call(
            "handoff_request",
            {
                "channel_id": inbox.pk + 1,
                "summary": "short",
                "expected_action": "short",
                "urgency": "now",
                "colour": "blue",
                "expected_return": [{"name": "1", "type": "enum"}],
            },
        )
    )
    assert set(found) == {
        "channel_id",
        "summary",
        "expected_action",
        "urgency",
        "colour",
        "expected_return.0.name",
        "expected_return.0.enum_values",
    }


def test_a_null_optional_argument_is_an_absent_one(desk: Desk, inbox: Channel) -> None:
    args = factories.arguments(
        inbox, urgency=None, contact_back_email=None, extra_context=None, include_transcript=None
    )
    assert desk.call("handoff_request", args)["isError"] is False
    assert Session.objects.get().urgency == "normal"


def test_extra_context_may_be_a_list_of_pairs(desk: Desk, inbox: Channel) -> None:
    args = factories.arguments(inbox, extra_context=[{"key": "plan", "value": "gold"}])
    desk.call("handoff_request", args)
    assert Session.objects.get().extra_context == [["plan", "gold"]]


@pytest.mark.parametrize("which", ["unknown", "foreign", "disabled", "huge"])
def test_a_channel_that_may_not_be_used_gets_one_sentence(
    desk: Desk, inbox: Channel, which: str
) -> None:
    other = factories.inbox_channel(factories.AgentFactory.create(), label="Not yours")
    disabled = factories.inbox_channel(desk.agent, label="Off", enabled=False)
    channel_id = {
        "unknown": 999_999,
        "foreign": other.pk,
        "disabled": disabled.pk,
        "huge": 2**63 - 1,
    }[which]
    answer = desk.call("handoff_request", factories.arguments(inbox, channel_id=channel_id))

    result = refused(answer, "channel_not_available")
    assert result["details"] == {"channel_id": channel_id, "available": [inbox.pk]}
    assert answer["text"] == (
        f"Refused. Channel {channel_id} is not available to you. Available: "
        f"{inbox.pk}: Shop team (owner inbox). Nobody was asked."
    )
    assert not Session.objects.exists()


def test_an_agent_without_channels_is_told_so(desk: Desk) -> None:
    answer = desk.call(
        "handoff_request",
        {
            "channel_id": 1,
            "summary": factories.SUMMARY,
            "expected_action": factories.EXPECTED_ACTION,
        },
    )
    refused(answer, "no_channels")


def test_an_owner_inbox_needs_an_active_owner(desk: Desk, inbox: Channel) -> None:
    desk.agent.owners.update(is_active=False)
    refused(desk.call("handoff_request", factories.arguments(inbox)), "no_channels")


def test_the_contact_limit_protects_the_person(desk: Desk, agent: Agent) -> None:
    limited = factories.inbox_channel(agent, contact_limit_per_hour=2)
    for _ in range(2):
        assert desk.call("handoff_request", factories.arguments(limited))["isError"] is False
    answer = desk.call("handoff_request", factories.arguments(limited))

    assert refused(answer, "contact_limit")["details"]["limit_per_hour"] == 2
    assert Session.objects.count() == 2


def test_without_a_public_address_nobody_is_asked(
    desk: Desk, email: Channel, smtp: SmtpServer, settings: Any
) -> None:
    settings.PUBLIC_BASE_URL = ""
    refused(desk.call("handoff_request", factories.arguments(email)), "no_public_url")
    assert smtp.messages == []
    assert not Session.objects.exists()


def test_the_same_channel_again_answers_with_the_open_handoff(
    desk: Desk, email: Channel, conversation: Conversation, smtp: SmtpServer
) -> None:
    first = desk.call("handoff_request", factories.arguments(email), conversation=conversation)
    again = desk.call(
        "handoff_request",
        factories.arguments(email, summary="Something else is the matter now."),
        conversation=conversation,
    )
    assert again["result"] == {**first["result"], "already": True}
    assert len(smtp.messages) == 1


def test_another_channel_is_refused_and_the_open_one_named(
    desk: Desk, email: Channel, inbox: Channel, conversation: Conversation
) -> None:
    desk.call("handoff_request", factories.arguments(email), conversation=conversation)
    answer = desk.call("handoff_request", factories.arguments(inbox), conversation=conversation)

    details = refused(answer, "handoff_already_open")["details"]
    assert details["channel_label"] == "Sales support"
    assert Session.objects.count() == 1
