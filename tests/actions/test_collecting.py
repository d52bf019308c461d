"""Many lines of a visitor make few mails, and each line keeps its own fate and its own trail."""

import datetime as dt

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import endings, outbox
from handoff.actions.outbox import COLLECTED_LINES
from handoff.actions.relay import TRIES, deliver, deliver_due
from handoff.actions.turns import post_turn
from handoff.contract.turns import TurnBody
from handoff.models import Agent, Channel, Delivery, Event, Message, Session
from handoff.selectors import payloads
from tests import factories
from tests.fakes.smtp import Mode, Received, SmtpServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create()


@pytest.fixture
def channel(agent: Agent, smtp: SmtpServer) -> Channel:
    return factories.email_channel(agent, smtp_url=smtp.url)


@pytest.fixture
def session(agent: Agent, channel: Channel, settings: Settings) -> Session:
    settings.TURNS_PER_SECOND = 0
    return factories.requested(agent, channel, factories.conversation(agent, name="Ana"))


def write(session: Session, *texts: str) -> list[str]:
    """The visitor's lines, by their public ids."""
    conversation = session.conversation
    assert conversation is not None
    return [
        post_turn(
            conversation, TurnBody(client_id=text[:60], author="subscriber", text=text)
        ).message.public_id
        for text in texts
    ]


def let_time_pass(seconds: float = 31) -> None:
    """As if every mail and every failure were so much older."""
    span = dt.timedelta(seconds=seconds)
    for row in Delivery.objects.all():
        row.next_attempt_at -= span
        row.finished_at = row.finished_at and row.finished_at - span
        row.save(update_fields=["next_attempt_at", "finished_at"])


def said(mail: Received) -> list[str]:
    """The visitor's words in a mail, in order; they begin with `line` here."""
    return [row[2:] for row in mail.text.splitlines() if row.startswith("| line")]


def ids_of(session: Session, type_: str) -> list[str]:
    events = Event.objects.filter(session=session, type=type_).order_by("number")
    return list(events.values_list("message__public_id", flat=True))


def trail_of(action: str) -> list[object]:
    rows = AuditEvent.objects.filter(action=action).order_by("id")
    return [row.details["message"] for row in rows if row.details]


def test_a_hundred_lines_are_two_mails_in_half_a_minute_and_all_arrive_in_order(
    session: Session, smtp: SmtpServer
) -> None:
    texts = [f"line {number}" for number in range(100)]
    ids = write(session, texts[0])
    assert deliver_due() == 1
    for text in texts[1:]:
        ids += write(session, text)
        assert deliver_due() == 0
    let_time_pass(10)
    assert deliver_due() == 0
    let_time_pass(21)
    assert deliver_due() == 1
    assert deliver_due() == 0
    _, first, rest = smtp.messages
    assert [said(first), said(rest)] == [texts[:1], texts[1:]]
    assert ids_of(session, "message.routed") == ids
    assert trail_of("message.relayed") == ids
    assert not Delivery.objects.exclude(status="done").exists()


def test_the_mail_of_several_lines_is_one_link_of_the_thread(
    session: Session, smtp: SmtpServer
) -> None:
    for texts in (["line 1", "line 2", "line 3"], ["line 4"]):
        write(session, *texts)
        deliver_due()
        let_time_pass()
    request, several, last = (mail.message for mail in smtp.messages)
    assert last["In-Reply-To"] == several["Message-ID"]
    assert last["References"].split() == [
        request["Message-ID"],
        several["Message-ID"],
        last["Message-ID"],
    ]


def test_one_sessions_lines_do_not_wait_for_anothers(
    session: Session, agent: Agent, channel: Channel, smtp: SmtpServer
) -> None:
    other = factories.requested(agent, channel, factories.conversation(agent, "visitor-2"))
    write(session, "line 1")
    assert deliver_due() == 1
    write(session, "line 2")
    write(other, "line 3")
    assert deliver_due() == 1
    assert said(smtp.messages[-1]) == ["line 3"]


def test_a_mail_holds_so_many_lines_and_so_many_bytes_and_no_more(
    session: Session, smtp: SmtpServer
) -> None:
    write(session, *[f"line {number}" for number in range(COLLECTED_LINES + 5)])
    assert deliver_due() == 1
    assert len(said(smtp.messages[-1])) == COLLECTED_LINES
    let_time_pass()
    assert deliver_due() == 1
    assert len(said(smtp.messages[-1])) == 5
    let_time_pass()
    long = [f"line {number} {'ü' * 7900}" for number in range(7)]
    write(session, *long)
    deliver_due()
    let_time_pass()
    deliver_due()
    assert [said(mail) for mail in smtp.messages[-2:]] == [long[:3], long[3:6]]


def test_the_release_names_every_line_that_waits_and_tells_the_recipient_at_once(
    session: Session, smtp: SmtpServer
) -> None:
    write(session, "line 1")
    deliver_due()
    waiting = write(session, "line 2", "line 3")
    assert session.conversation_id
    endings.back_to_bot(session.conversation_id)
    assert deliver_due() == 1
    assert "The visitor went back to the assistant." in smtp.messages[-1].text
    assert payloads.handoff(payloads.sessions().get(pk=session.pk)).undelivered == waiting


def test_a_failure_for_now_is_tried_again_with_what_came_meanwhile(
    session: Session, smtp: SmtpServer
) -> None:
    smtp.mail_reply = "451 4.3.0 later"
    write(session, "line 1", "line 2")
    assert deliver_due() == 1
    write(session, "line 3")
    assert deliver_due() == 0
    smtp.mail_reply = ""
    let_time_pass(3)
    assert deliver_due() == 1
    assert said(smtp.messages[-1]) == ["line 1", "line 2", "line 3"]
    assert list(Delivery.objects.values_list("attempts", flat=True)) == [2, 2, 1]


def test_after_five_tries_only_the_lines_that_had_them_are_given_up(
    session: Session, smtp: SmtpServer
) -> None:
    smtp.mail_reply = "451 4.3.0 later"
    lost = write(session, "line 1", "line 2")
    for _ in range(TRIES - 1):
        assert deliver_due() == 1
        let_time_pass(90)
    write(session, "line 3")
    assert deliver_due() == 2, "nothing waits for those that were given up"
    let_time_pass(90)
    assert ids_of(session, "message.relay_failed") == lost
    assert trail_of("message.relay_failed") == lost
    smtp.mail_reply = ""
    assert deliver_due() == 1
    assert said(smtp.messages[-1]) == ["line 3"]


def test_a_mail_that_may_have_arrived_is_not_sent_again_and_each_of_its_lines_is_named(
    session: Session, smtp: SmtpServer
) -> None:
    smtp.mode = Mode.DROP_AFTER_DOT
    lost = write(session, "line 1", "line 2")
    assert deliver_due() == 1
    smtp.mode = Mode.ACCEPT
    write(session, "line 3")
    assert deliver_due() == 0, "the mail may have come a moment ago"
    let_time_pass()
    assert deliver_due() == 1
    assert said(smtp.messages[-1]) == ["line 3"]
    assert ids_of(session, "message.relay_failed") == lost


@pytest.mark.parametrize("poison", [0, 1, 3])
def test_a_line_that_the_server_refuses_takes_no_other_with_it(
    session: Session, smtp: SmtpServer, poison: int
) -> None:
    texts = [f"line {number}" for number in range(4)]
    ids = write(session, *texts[:poison], "line with a virus", *texts[poison:])
    smtp.filter = lambda mail: "554 5.7.1 no" if "virus" in mail.text else ""
    for _ in range(8):
        deliver_due()
        let_time_pass()
    lines = [text for mail in smtp.messages[1:] for text in said(mail)]
    assert lines == texts
    assert ids_of(session, "message.relay_failed") == [ids[poison]]
    assert ids_of(session, "message.routed") == ids[:poison] + ids[poison + 1 :]


def test_what_a_killed_process_was_sending_is_sent_again_as_it_was(
    session: Session, smtp: SmtpServer
) -> None:
    write(session, "line 1", "line 2")
    assert outbox.claim() is not None
    Delivery.objects.update(lease_until=Now() - dt.timedelta(seconds=1))
    write(session, "line 3")
    assert deliver_due() == 1
    assert said(smtp.messages[-1]) == ["line 1", "line 2"]
    let_time_pass()
    assert deliver_due() == 1
    assert said(smtp.messages[-1]) == ["line 3"]


def test_a_release_while_a_mail_fails_names_all_its_lines(
    session: Session, smtp: SmtpServer
) -> None:
    lost = write(session, "line 1", "line 2")
    batch = outbox.claim()
    assert batch is not None
    assert session.conversation_id
    endings.back_to_bot(session.conversation_id)
    smtp.mail_reply = "451 4.3.0 later"
    deliver(batch)
    assert ids_of(session, "message.relay_failed") == lost
    assert set(Message.objects.filter(undelivered=True).values_list("public_id", flat=True)) == set(
        lost
    )
