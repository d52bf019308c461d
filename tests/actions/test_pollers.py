"""Mailboxes and queues are read by one process at a time, and nothing is lost or counted twice."""

import datetime as dt
import logging
import threading
import time

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff import push, tasks
from handoff.actions import pollers, polls
from handoff.actions.inbound_apply import apply_due
from handoff.actions.polls import lease, look_into, polling
from handoff.contract.kinds import TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Channel, InboundEvent, Session
from handoff.transports.inbound import Polled
from tests import factories
from tests.fakes import toy_polled
from tests.fakes.toy_chat import said
from tests.fakes.toy_desk import Toys, lines, thread_of, toy_channel
from tests.fakes.toy_polled import PolledToy

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def channel(toys: Toys, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Channel:
    """The toy's channel, which is asked for what happened."""
    settings.TRANSPORTS = {**settings.TRANSPORTS, "polled": "tests.fakes.toy_polled.PolledToy"}
    monkeypatch.setattr(polls, "_failures", type(polls._failures)())
    toys.channel = toy_channel(toys.agent, kind="polled")
    toy_polled.threads_asked.clear()
    return toys.channel


def look(channel: Channel) -> polls.Looked:
    [one] = polling(only=channel.pk)
    assert lease(one.channel)
    return look_into(one)


def now_of(channel: Channel) -> Channel:
    return Channel.objects.get(pk=channel.pk)


def seconds_until_next(channel: Channel) -> float:
    row = Channel.objects.annotate(now=Now()).values("now", "poll_at").get(pk=channel.pk)
    left: dt.timedelta = row["poll_at"] - row["now"]
    return left.total_seconds()


def test_what_was_read_is_kept_with_where_to_go_on(toys: Toys, channel: Channel) -> None:
    conversation, session = toys.talk()
    toys.chat.queue += [said(str(n), thread=thread_of(session)) for n in range(3)]
    assert [look(channel).events for _ in range(3)] == [2, 1, 0]
    assert now_of(channel).poll_cursor == "3"
    assert apply_due() == 3
    assert [text for _, _, text in lines(conversation)] == ["0", "1", "2"]


def test_what_is_read_again_counts_once(toys: Toys, channel: Channel) -> None:
    toys.chat.queue.append(said("x"))
    look(channel)
    Channel.objects.update(poll_cursor="")
    assert look(channel).events == 0
    assert InboundEvent.objects.count() == 1


def test_a_lease_is_one_process_s_and_ends_by_the_database_s_clock(channel: Channel) -> None:
    assert lease(channel)
    assert not lease(channel)
    assert seconds_until_next(channel) > 35
    Channel.objects.update(poll_at=Now() - dt.timedelta(seconds=1))
    assert lease(channel)


def test_only_channels_whose_settings_ask_for_it_are_read(toys: Toys, channel: Channel) -> None:
    toy_channel(toys.agent, kind="polled", mode="webhook")
    toy_channel(toys.agent)
    lost = toy_channel(toys.agent, kind="polled", room="sales", secret="another")
    Channel.objects.filter(pk=lost.pk).update(sealed_settings="lost")
    assert [one.channel.pk for one in polling()] == [channel.pk]
    assert polling(kinds=["toy"]) == []


def test_one_that_is_switched_off_is_read_while_a_handoff_is_open(
    toys: Toys, channel: Channel
) -> None:
    _, session = toys.talk()
    Channel.objects.update(enabled=False)
    assert polling()
    factories.answer(session, factories.form(session))
    assert not polling()


def test_it_looks_for_the_threads_that_may_still_be_answered(toys: Toys, channel: Channel) -> None:
    """Also those of a channel that shares the queue: one look is for all of them."""
    named = [toys.talk(str(n))[1] for n in range(4)]
    factories.answer(named[0], factories.form(named[0]))
    Session.objects.filter(pk=named[1].pk).update(status="failed")
    Session.objects.filter(pk=named[2].pk).update(status="unknown")
    twin = toy_channel(toys.agent, kind="polled", label="Twin")
    [shared] = [toys.ask(factories.conversation(toys.agent, "twin"), channel=twin)]
    look(channel)
    [threads] = toy_polled.threads_asked
    assert set(threads) == {thread_of(one) for one in (*named[2:], shared)}
    assert [one.channel.pk for one in polling()] == [channel.pk]


def test_a_failure_is_shown_and_tried_again_ever_less_often(
    toys: Toys, channel: Channel, caplog: pytest.LogCaptureFixture
) -> None:
    toys.chat.key = "changed"
    waits = []
    for _ in range(3):
        Channel.objects.update(poll_at=Now())
        looked = look(channel)
        waits.append(round(seconds_until_next(channel)))
    assert waits == [10, 20, 60]
    assert looked.problem == "Replies cannot be read now. Enter the key again."
    shown = now_of(channel)
    assert shown.poll_hint == looked.problem
    assert (shown.last_error_kind, shown.healthy) == ("auth", False)
    toys.chat.key = "toy-key-1"
    toys.chat.hint = "Give the bot the right to read."
    Channel.objects.update(poll_at=Now())
    assert look(channel).problem == ""
    assert now_of(channel).poll_hint == toys.chat.hint
    assert now_of(channel).healthy
    assert AuditEvent.objects.filter(action="channel.healed").count() == 1
    toys.chat.hint = ""
    look(channel)
    assert now_of(channel).poll_hint == ""


def test_a_provider_that_asks_to_wait_is_left_alone_for_so_long(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_down(*args: object, **more: object) -> Polled:
        raise TransportError(TransportErrorKind.RATE_LIMITED, "429", retry_after=500)

    monkeypatch.setattr(PolledToy, "poll", slow_down)
    look(channel)
    assert 490 < seconds_until_next(channel) < 501


def test_a_transport_that_breaks_stops_no_other(
    channel: Channel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(*args: object, **more: object) -> Polled:
        raise LookupError("of a kind that nobody declared")

    monkeypatch.setattr(PolledToy, "poll", breaks)
    with caplog.at_level(logging.CRITICAL, polls.__name__):
        assert look(channel).problem.startswith("Replies cannot be read now.")
    assert now_of(channel).last_error_detail == "LookupError: of a kind that nobody declared"


@pytest.mark.django_db(transaction=True)
def test_one_that_hangs_holds_up_no_other_channel_and_no_clock(
    toys: Toys, channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = toy_channel(toys.agent, kind="polled", room="sales", secret="another")
    released, looked = threading.Event(), threading.Event()

    def poll(self: PolledToy, cursor: str, **more: object) -> Polled:
        if self.settings.room == "support":
            assert released.wait(20)
        else:
            looked.set()
        return Polled(cursor=cursor)

    monkeypatch.setattr(PolledToy, "poll", poll)
    monkeypatch.setattr(PolledToy, "poll_every", 3600.0)
    try:
        began = time.monotonic()
        tasks.run_due()
        assert time.monotonic() - began < 5
        assert looked.wait(10)
        assert not pollers.wait(0)
    finally:
        released.set()
        assert pollers.wait(10)
    assert {round(seconds_until_next(one), -2) for one in (channel, other)} == {3600}


@pytest.mark.django_db(transaction=True)
def test_a_process_that_stops_begins_no_further_look(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as stopping:
        stopping.setattr(push, "stopping", True)
        assert pollers.look() == 0
    monkeypatch.setattr(PolledToy, "poll_every", 3600.0)
    assert pollers.look() == 1
    assert pollers.wait(10)
