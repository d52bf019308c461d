"""A provider's later word: it only moves forward, and a bounce ends what nobody answered."""

import datetime as dt
from collections.abc import Sequence

import pytest
from django.db.models.functions import Now

from audit.models import Event as AuditEvent
from handoff.actions.inbound import accept
from handoff.actions.inbound_apply import apply_due
from handoff.contract.kinds import TransportErrorKind
from handoff.models import Attempt, Channel, Delivery, Event, InboundEvent, Session
from handoff.selectors import payloads
from handoff.transports.inbound import Dropped, Moved, Progress, Status
from tests import factories
from tests.fakes.toy_chat import event, said
from tests.fakes.toy_desk import Toys, lines, thread_of, toy_channel, write

pytestmark = pytest.mark.django_db


def happened(session: Session) -> list[str]:
    return list(
        Event.objects.filter(session=session).order_by("number").values_list("type", flat=True)
    )


@pytest.mark.parametrize(
    ("came", "left"),
    [
        (["sent"], ""),
        (["delivered", "sent"], "delivered"),
        (["read", "delivered"], "read"),
        (["delivered", "read", "failed"], "read"),
        (["failed"], "bounced"),
        (["failed", "sent"], "bounced"),
        (["failed", "delivered"], "delivered"),
        (["failed", "read", "failed"], "read"),
    ],
)
def test_delivery_only_moves_forward(toys: Toys, came: Sequence[str], left: str) -> None:
    _, session = toys.talk()
    message = session.attempts.get().provider_message_id
    for word in came:
        toys.hear(event(word, message=message))
    attempt = session.attempts.get()
    assert attempt.delivery == left
    assert (attempt.delivery_at is None) is (left == "")
    [shown] = payloads.handoff(payloads.sessions().get(pk=session.pk)).attempts
    assert shown.delivery == left


def test_a_step_forward_is_an_event_and_stands_on_the_trail(toys: Toys) -> None:
    _, session = toys.talk()
    message = session.attempts.get().provider_message_id
    assert toys.hear(event("delivered", message=message)) == "delivery"
    assert toys.hear(event("delivered", message=message)) == "no_news"
    assert happened(session).count("handoff.delivery_changed") == 1
    row = AuditEvent.objects.get(action="handoff.delivery_changed")
    assert (row.session, row.attempt) == (session.public_id, session.attempts.get().public_id)
    assert row.reason == "delivered"


def test_a_bounce_ends_a_handoff_that_nobody_answered(toys: Toys) -> None:
    conversation, session = toys.talk()
    message = session.attempts.get().provider_message_id
    assert toys.hear(event("failed", message=message, text="no such +49 170")) == "delivery"
    now = Session.objects.get()
    assert (now.status, now.release) == ("released", "undeliverable")
    note = conversation.messages.get(author="system").text
    assert note == "[Bot resumed — the message to Support room could not be delivered.]"
    bounced = AuditEvent.objects.get(action="handoff.bounced")
    assert (bounced.reason, bounced.failure) == ("recipient_unreachable", "no such +49 170")
    assert happened(session)[-3:] == [
        "handoff.delivery_changed", "handoff.released", "message.created",
    ]  # fmt: skip
    channel = Channel.objects.get(pk=toys.channel.pk)
    assert (channel.last_error_kind, channel.healthy) == ("recipient_unreachable", True)
    write(conversation, "Hello?")
    assert conversation.messages.latest("pk").routed_to == "agent"


def test_a_bounce_ends_no_handoff_in_which_somebody_spoke(toys: Toys) -> None:
    _, session = toys.talk()
    toys.hear(said("Here I am.", thread=thread_of(session)))
    toys.hear(event("failed", message=thread_of(session)))
    assert Session.objects.get().status == "active"
    assert session.attempts.get().delivery == "bounced"


def test_a_bounce_ends_no_handoff_of_which_another_try_arrived(toys: Toys) -> None:
    _, session = toys.talk()
    Attempt.objects.create(
        session=session, number=2, status="accepted", provider_message_id="t2nd", finished_at=Now()
    )
    toys.hear(event("failed", message=thread_of(session)))
    assert Session.objects.get().status == "active"
    toys.hear(event("failed", message="t2nd"))
    assert Session.objects.get().release == "undeliverable"


def test_a_bounce_of_an_ended_or_unknown_handoff_is_only_kept(toys: Toys) -> None:
    _, session = toys.talk()
    factories.answer(session, factories.form(session))
    toys.hear(event("failed", message=thread_of(session)))
    assert Session.objects.get().release == "form"
    assert session.attempts.get().delivery == "bounced"
    assert not AuditEvent.objects.filter(action="handoff.release_ignored").exists()


def test_a_relayed_line_that_did_not_arrive_is_undelivered(toys: Toys) -> None:
    conversation, session = toys.talk()
    write(conversation, "Hello?")
    line = toys.sent()[-1].id
    assert toys.hear(event("delivered", message=line)) == "no_news"
    assert toys.hear(event("failed", message=line, text="gone")) == "delivery"
    assert toys.hear(event("failed", message=line)) == "no_news"
    row = Delivery.objects.get()
    assert (row.status, row.failure_kind, row.failure) == (
        "failed", "recipient_unreachable", "gone",
    )  # fmt: skip
    assert conversation.messages.get(author="subscriber").undelivered
    assert happened(session).count("message.relay_failed") == 1
    assert AuditEvent.objects.filter(action="message.relay_failed").count() == 1
    assert Session.objects.get().status == "active"


def test_a_word_that_comes_before_our_own_commit_is_kept_for_it(toys: Toys) -> None:
    _, session = toys.talk()
    message = thread_of(session)
    session.attempts.update(provider_message_id="")
    assert toys.hear(event("delivered", message=message)) == ""
    session.attempts.update(provider_message_id=message)
    assert apply_due() == 0, "not yet due"
    InboundEvent.objects.update(next_attempt_at=Now())
    assert apply_due() == 1
    assert session.attempts.get().delivery == "delivered"


def test_a_word_about_nothing_of_ours_is_given_up_after_minutes(toys: Toys) -> None:
    assert toys.hear(event("delivered", message="somebody else's")) == ""
    long_ago = Now() - dt.timedelta(minutes=6)
    InboundEvent.objects.update(next_attempt_at=Now(), received_at=long_ago)
    assert apply_due() == 1
    assert InboundEvent.objects.get().outcome == "unmatched"
    assert AuditEvent.objects.get(action="inbound.unmatched").reason == "unknown_message"


def test_a_word_of_another_channel_changes_nothing(toys: Toys) -> None:
    other = toy_channel(factories.AgentFactory.create(), secret="another")
    _, session = toys.talk()
    toys.post(event("failed", message=thread_of(session)), channel=other, secret="another")
    apply_due()
    assert session.attempts.get().delivery == ""


def test_a_place_that_moved_takes_its_ids_along(toys: Toys) -> None:
    conversation, session = toys.talk()
    session.attempts.update(provider_message_id="support:1", thread_key="support:1")
    write(conversation, "Hello?")
    toys.sent()
    Delivery.objects.update(provider_message_id="support:2")
    strange = toys.ask()
    strange.attempts.update(provider_message_id="else:1")
    moved = Moved(
        keys=("m1",), account="support", settings={"room": "sales"}, old_prefix="support:",
        new_prefix="sales:",
    )  # fmt: skip
    accept(toys.channel, [moved])
    apply_due()
    channel = Channel.objects.get(pk=toys.channel.pk)
    assert channel.opened_settings()["room"] == "sales"
    attempt = session.attempts.get()
    assert (attempt.provider_message_id, attempt.thread_key) == ("sales:1", "sales:1")
    assert Delivery.objects.get().provider_message_id == "sales:2"
    assert strange.attempts.get().provider_message_id == "else:1"
    assert AuditEvent.objects.get(action="channel.migrated").channel == channel.pk
    assert toys.hear(said("It left.", room="sales", answers="sales:2")) == "replied"
    assert len(lines(conversation)) == 2


def test_what_was_dropped_is_named_on_the_trail_and_answered_by_nobody(toys: Toys) -> None:
    toys.talk()
    accept(toys.channel, [Dropped(keys=("d1",), reason="auto_reply")])
    assert apply_due() == 1
    assert InboundEvent.objects.get().outcome == "dropped"
    assert AuditEvent.objects.get(action="inbound.refused").reason == "auto_reply"
    assert toys.told() == []


def test_a_permanent_failure_takes_the_channel_out_of_use(toys: Toys) -> None:
    """Such as a number that the provider has closed: known only from the word that came later."""
    _, session = toys.talk()
    status = Status(
        keys=("s1",),
        account="support",
        message_id=thread_of(session),
        progress=Progress.FAILED,
        failure_kind=TransportErrorKind.PERMISSION,
    )
    accept(toys.channel, [status])
    apply_due()
    assert not Channel.objects.get(pk=toys.channel.pk).healthy
