"""A subscriber's lines during a bypass reach the recipient in order, once, or are named as lost."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.models.functions import Now
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff import push
from handoff.actions import endings
from handoff.actions.relay import BACKOFF_SECONDS, TRIES, deliver_due
from handoff.actions.turns import post_turn
from handoff.contract.turns import TurnBody
from handoff.models import Agent, Channel, Conversation, Delivery, Event, Session
from handoff.selectors import payloads
from tests import factories
from tests.fakes.smtp import Mode, SmtpServer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _each_line_at_once(settings: Settings) -> None:
    settings.COLLECT_SECONDS = 0


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create()


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    return factories.conversation(agent, name="Ana")


def say(conversation: Conversation, client_id: str, text: str) -> str:
    body = TurnBody(client_id=client_id, author="subscriber", text=text)
    return post_turn(conversation, body).message.public_id


def point_at(channel: Channel, server: SmtpServer) -> None:
    channel.keep_settings({**channel.opened_settings(), "smtp_url": server.url})
    channel.save()


def let_time_pass() -> None:
    """Everything that waits for another try is due."""
    Delivery.objects.filter(status="due").update(next_attempt_at=Now() - dt.timedelta(seconds=1))


def test_lines_follow_the_request_by_mail_in_order_and_in_its_thread(
    agent: Agent, conversation: Conversation
) -> None:
    with SmtpServer() as smtp:
        session = factories.requested(
            agent, factories.email_channel(agent, smtp_url=smtp.url), conversation
        )
        for number in range(3):
            say(conversation, str(number), f"line {number}")
            assert deliver_due() == 1
        assert deliver_due() == 0
        request, *lines = smtp.messages
    assert len(lines) == 3
    for number, mail in enumerate(lines):
        assert f"line {number}" in mail.text
        assert request.message["Message-ID"] in mail.message["References"]
    assert list(
        Event.objects.filter(session=session, type="message.routed").values_list(
            "message__text", flat=True
        )
    ) == ["line 0", "line 1", "line 2"]
    assert AuditEvent.objects.filter(action="message.relayed").count() == 3


def let_the_sender_be_killed(*, tries: int) -> None:
    """The row as a process leaves it that was killed while it sent, for the `tries`th time."""
    Delivery.objects.update(attempts=tries, lease_until=Now() - dt.timedelta(seconds=1))


def test_a_line_whose_sender_was_killed_is_sent_again_under_the_same_id(
    agent: Agent, conversation: Conversation
) -> None:
    with SmtpServer() as smtp:
        factories.requested(agent, factories.email_channel(agent, smtp_url=smtp.url), conversation)
        say(conversation, "1", "first")
        deliver_due()
        Delivery.objects.update(status="due", finished_at=None, provider_message_id="")
        let_the_sender_be_killed(tries=1)
        assert deliver_due() == 1
        _, killed, again = smtp.messages
    assert killed.message["Message-ID"] == again.message["Message-ID"]


@pytest.mark.django_db(transaction=True)
def test_what_was_sent_is_written_down_once_the_database_has_time_and_not_sent_again(
    agent: Agent, conversation: Conversation
) -> None:
    busy = iter([True, True])

    def refuse(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if "provider_message_id" in sql and sql.startswith("UPDATE") and next(busy, False):
            raise OperationalError("canceling statement due to lock timeout")
        return execute(sql, params, many, context)

    with SmtpServer() as smtp:
        factories.requested(agent, factories.email_channel(agent, smtp_url=smtp.url), conversation)
        say(conversation, "1", "first")
        with connection.execute_wrapper(refuse):
            assert deliver_due() == 1
        assert next(busy, None) is None
        assert deliver_due() == 0
        assert len(smtp.messages) == 2
    assert Delivery.objects.get().status == "done"


def test_a_line_whose_sender_is_killed_each_time_is_given_up(
    agent: Agent, conversation: Conversation
) -> None:
    with SmtpServer() as smtp:
        session = factories.requested(
            agent, factories.email_channel(agent, smtp_url=smtp.url), conversation
        )
        named = say(conversation, "1", "first")
        let_the_sender_be_killed(tries=TRIES)
        say(conversation, "2", "second")
        assert deliver_due() == 2
        assert ["second" in mail.text for mail in smtp.messages] == [False, True]
    assert list(Delivery.objects.values_list("status", flat=True)) == ["failed", "done"]
    endings.cancel(session, reason="", actor="test")
    session.refresh_from_db()
    assert payloads.handoff(session).undelivered == [named]


def test_a_failing_head_waits_and_nothing_overtakes_it(
    agent: Agent, conversation: Conversation
) -> None:
    with SmtpServer() as smtp:
        channel = factories.email_channel(agent, smtp_url=smtp.url)
        factories.requested(agent, channel, conversation)
    with SmtpServer(mode=Mode.REFUSE_AT_CONNECT) as broken:
        point_at(channel, broken)
        say(conversation, "1", "first")
        say(conversation, "2", "second")
        assert deliver_due() == 1
        assert deliver_due() == 0
    with SmtpServer() as smtp:
        point_at(channel, smtp)
        let_time_pass()
        assert deliver_due() == 1
        [mail] = smtp.messages
    assert mail.text.index("first") < mail.text.index("second")
    assert list(Delivery.objects.values_list("status", "attempts")) == [("done", 2), ("done", 2)]


def test_after_five_tries_the_line_is_named_as_undelivered_and_the_next_goes_on(
    agent: Agent, conversation: Conversation
) -> None:
    assert len(BACKOFF_SECONDS) == TRIES - 1
    with SmtpServer() as smtp:
        channel = factories.email_channel(agent, smtp_url=smtp.url)
        session = factories.requested(agent, channel, conversation)
    with SmtpServer(mode=Mode.REFUSE_AT_CONNECT) as broken:
        point_at(channel, broken)
        lost = say(conversation, "1", "first")
        for _ in range(TRIES):
            assert deliver_due() == 1
            let_time_pass()
        assert deliver_due() == 0
    assert Event.objects.filter(session=session, type="message.relay_failed").count() == 1
    assert AuditEvent.objects.filter(action="message.relay_failed").count() == 1
    endings.back_to_bot(conversation.pk)
    ended = payloads.sessions().get(pk=session.pk)
    assert payloads.handoff(ended).undelivered == [lost]


@pytest.mark.slow
def test_a_line_that_may_have_arrived_is_not_sent_again(
    agent: Agent, conversation: Conversation
) -> None:
    with SmtpServer() as smtp:
        channel = factories.email_channel(agent, smtp_url=smtp.url)
        factories.requested(agent, channel, conversation)
    with SmtpServer(mode=Mode.DROP_AFTER_DOT) as broken:
        point_at(channel, broken)
        say(conversation, "1", "first")
        assert deliver_due() == 1
        let_time_pass()
        assert deliver_due() == 0
    row = Delivery.objects.get()
    assert (row.status, row.failure_kind) == ("failed", "unknown_outcome")


def test_a_line_still_waiting_at_the_release_is_dropped_and_named(
    agent: Agent, conversation: Conversation
) -> None:
    with SmtpServer() as smtp:
        channel = factories.email_channel(agent, smtp_url=smtp.url)
        session = factories.requested(agent, channel, conversation)
        waiting = say(conversation, "1", "anybody there?")
        endings.back_to_bot(conversation.pk)
        deliver_due()
        texts = [mail.text for mail in smtp.messages]
    assert not any("anybody there?" in text for text in texts)
    ended = payloads.sessions().get(pk=session.pk)
    assert payloads.handoff(ended).undelivered == [waiting]
    assert "The visitor went back to the assistant." in texts[-1]


def test_a_leased_row_is_left_to_whoever_sends_it(agent: Agent, conversation: Conversation) -> None:
    with SmtpServer() as smtp:
        factories.requested(agent, factories.email_channel(agent, smtp_url=smtp.url), conversation)
        say(conversation, "1", "first")
        Delivery.objects.update(lease_until=Now() + dt.timedelta(seconds=30))
        assert deliver_due() == 0
        Delivery.objects.update(lease_until=Now() - dt.timedelta(seconds=1))
        assert deliver_due() == 1


def test_the_owner_inbox_needs_no_relay(agent: Agent, conversation: Conversation) -> None:
    session = factories.requested(agent, factories.inbox_channel(agent), conversation)
    say(conversation, "1", "hello")
    assert not Delivery.objects.exists()
    assert Event.objects.filter(session=session, type="message.routed").count() == 1
    assert Session.objects.get().status == "active"


def test_a_process_that_stops_claims_no_further_delivery(
    agent: Agent, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SmtpServer() as smtp:
        factories.requested(agent, factories.email_channel(agent, smtp_url=smtp.url), conversation)
        say(conversation, "1", "Hello?")
        with monkeypatch.context() as stopping:
            stopping.setattr(push, "stopping", True)
            assert deliver_due() == 0
        assert not Delivery.objects.exclude(lease_until=None).exists()
        assert deliver_due() == 1
