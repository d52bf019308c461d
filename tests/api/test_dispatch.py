"""Dispatch through the real door: a mail server that fails, and calls that come twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from handoff.models import Agent, Attempt, Channel, Conversation, ReturnLink, Session
from tests import factories
from tests.api.conftest import Desk, refused
from tests.fakes.smtp import Mode, SmtpServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def email(agent: Agent, smtp: SmtpServer) -> Channel:
    return factories.email_channel(agent, smtp_url=smtp.url)


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (Mode.REFUSE_AT_CONNECT, "connect"),
        (Mode.DROP_BEFORE_DATA, "transient"),
    ],
)
def test_a_server_that_does_not_take_the_mail_fails_the_handoff(
    desk: Desk,
    agent: Agent,
    inbox: Channel,
    conversation: Conversation,
    mode: Mode,
    kind: str,
) -> None:
    with SmtpServer(mode=mode) as server:
        email = factories.email_channel(agent, smtp_url=server.url)
        answer = desk.call("handoff_request", factories.arguments(email), conversation=conversation)

    assert answer["isError"] is True
    assert answer["text"].startswith(
        "Nobody could be asked: the Sales support channel did not accept the message. "
        "Do not say that somebody is looking into it. "
    )
    details = answer["result"]["details"]
    attempt = Attempt.objects.get()
    assert details["handoff_event_id"] == attempt.public_id
    assert details["hint"] == f"Other channels you may try: {inbox.pk}: Shop team (owner inbox)."
    assert (attempt.status, attempt.failure_kind) == ("refused", kind)
    assert Session.objects.get().status == "failed"
    assert ReturnLink.objects.get().revoked_at is not None
    for inner_word in ("127.0.0.1", "SMTP", "smtp", "Exception", "refused", "socket"):
        assert inner_word not in str(answer)


def test_a_passing_failure_is_tried_once_more_within_the_call(
    desk: Desk, agent: Agent, conversation: Conversation
) -> None:
    with SmtpServer(mode=Mode.REFUSE_AT_CONNECT) as server:
        email = factories.email_channel(agent, smtp_url=server.url)
        desk.call("handoff_request", factories.arguments(email), conversation=conversation)
        assert server.connections == 2
    assert Attempt.objects.count() == 1


@pytest.mark.slow
def test_a_server_that_never_greets_is_left_at_the_deadline(
    desk: Desk, agent: Agent, conversation: Conversation, settings: Any
) -> None:
    settings.DISPATCH_SECONDS = 1.5
    with SmtpServer(mode=Mode.NEVER_GREET) as server:
        email = factories.email_channel(agent, smtp_url=server.url)
        answer = desk.call("handoff_request", factories.arguments(email), conversation=conversation)

    assert answer["text"].startswith("Nobody could be asked: ")
    assert Attempt.objects.get().failure_kind == "connect"


@pytest.mark.slow
def test_a_mail_that_may_have_arrived_is_unknown_and_its_link_works(
    desk: Desk, agent: Agent, inbox: Channel, conversation: Conversation, settings: Any
) -> None:
    settings.DISPATCH_SECONDS = 1.5
    with SmtpServer(mode=Mode.HANG_AFTER_DOT) as server:
        email = factories.email_channel(agent, smtp_url=server.url)
        answer = desk.call("handoff_request", factories.arguments(email), conversation=conversation)

    assert answer["text"].startswith(
        "It is not known whether Sales support was reached. Do not say that they were. "
    )
    assert answer["result"]["code"] == "dispatch_unknown"
    assert Session.objects.get().status == "unknown"
    assert ReturnLink.objects.get().revoked_at is None
    # An unknown session is not open: another channel may be tried.
    again = desk.call("handoff_request", factories.arguments(inbox), conversation=conversation)
    assert again["isError"] is False


def test_the_same_key_contacts_once(
    desk: Desk, email: Channel, conversation: Conversation, smtp: SmtpServer
) -> None:
    key = {"Idempotency-Key": "k-1"}
    first = desk.call(
        "handoff_request", factories.arguments(email), conversation=conversation, headers=key
    )
    again = desk.post(
        "tool-calls",
        {
            "name": "handoff_request",
            "args": factories.arguments(email),
            "conversation": conversation.public_id,
        },
        key,
    )
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == first
    assert len(smtp.messages) == 1

    other = desk.call(
        "handoff_request",
        factories.arguments(email, urgency="high"),
        conversation=conversation,
        headers=key,
    )
    refused(other, "idempotency_reused")


def test_a_repeat_is_answered_whatever_became_of_its_channel(
    desk: Desk, agent: Agent, conversation: Conversation
) -> None:
    channel = factories.inbox_channel(agent, contact_limit_per_hour=1)
    key = {"Idempotency-Key": "k-1"}
    args = factories.arguments(channel)
    first = desk.call("handoff_request", args, conversation=conversation, headers=key)
    assert desk.call("handoff_request", args, conversation=conversation, headers=key) == first
    open_again = desk.call("handoff_request", args, conversation=conversation)
    assert open_again["result"] == {**first["result"], "already": True}

    Channel.objects.update(enabled=False)
    assert desk.call("handoff_request", args, conversation=conversation, headers=key) == first


def test_a_null_optional_argument_makes_no_other_request(desk: Desk, inbox: Channel) -> None:
    key = {"Idempotency-Key": "k-1"}
    first = desk.call("handoff_request", factories.arguments(inbox), headers=key)
    nulls = factories.arguments(inbox, urgency=None, extra_context=None)
    again = desk.call("handoff_request", dict(reversed(nulls.items())), headers=key)
    assert again == first


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_twenty_identical_calls_at_once_contact_once(agent: Agent, smtp: SmtpServer) -> None:
    channel = factories.email_channel(agent, smtp_url=smtp.url)
    calls = [Desk(agent) for _ in range(20)]

    def call(desk: Desk) -> dict[str, Any]:
        try:
            key = {"Idempotency-Key": "k-1"}
            return desk.call("handoff_request", factories.arguments(channel), headers=key)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(call, calls))
    assert len(smtp.messages) == 1
    assert Session.objects.count() == 1
    done = {str(answer["result"]) for answer in answers if not answer["isError"]}
    waiting = {answer["result"]["code"] for answer in answers if answer["isError"]}
    assert len(done) == 1
    assert waiting <= {"still_running"}


def test_the_run_id_makes_a_detached_repeat_a_repeat(desk: Desk, inbox: Channel) -> None:
    first = desk.call("handoff_request", factories.arguments(inbox), run="run-1")
    again = desk.call("handoff_request", factories.arguments(inbox), run="run-1")
    other = desk.call("handoff_request", factories.arguments(inbox), run="run-2")

    assert again["result"] == first["result"]
    assert other["result"]["handoff_session_id"] != first["result"]["handoff_session_id"]


def test_a_failed_dispatch_does_not_ring_twice_for_one_key(
    desk: Desk, agent: Agent, conversation: Conversation
) -> None:
    with SmtpServer(mode=Mode.REFUSE_AT_CONNECT) as server:
        email = factories.email_channel(agent, smtp_url=server.url)
        answers = [
            desk.call(
                "handoff_request",
                factories.arguments(email),
                conversation=conversation,
                headers={"Idempotency-Key": "k"},
            )
            for _ in range(2)
        ]
    assert answers[0] == answers[1]
    assert Attempt.objects.count() == 1
