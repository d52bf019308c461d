"""A provider that hangs holds up its own channel: nobody else's line, and no clock."""

import datetime as dt
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from handoff import push, tasks
from handoff.actions import couriers
from handoff.actions.turns import post_turn
from handoff.contract.turns import TurnBody
from handoff.models import Attempt, Channel, Delivery, Session
from tests import factories
from tests.fakes.smtp import Mode, SmtpServer

pytestmark = pytest.mark.django_db(transaction=True)
HANGS_SECONDS = 3.0


@pytest.fixture(autouse=True)
def _nothing_left_behind(settings: Settings) -> Iterator[None]:
    settings.DISPATCH_SECONDS = HANGS_SECONDS
    yield
    assert couriers.wait(4 * HANGS_SECONDS), "a courier is still under way"


def talks(smtp: SmtpServer, count: int) -> tuple[Channel, list[Session]]:
    """A new agent's channel and so many active handoffs through it."""
    agent = factories.AgentFactory.create()
    channel = factories.email_channel(agent, smtp_url=smtp.url)
    return channel, [
        factories.requested(agent, channel, factories.conversation(agent, f"visitor-{number}"))
        for number in range(count)
    ]


def write(session: Session, text: str) -> None:
    assert session.conversation is not None
    post_turn(session.conversation, TurnBody(client_id=text, author="subscriber", text=text))


def point_at(channel: Channel, server: SmtpServer) -> None:
    channel.keep_settings({**channel.opened_settings(), "smtp_url": server.url})
    channel.save()


def let_the_rest_fail(settings: Settings) -> None:
    """Wait until no courier talks to a server that hangs, which is then free to go."""
    settings.DISPATCH_SECONDS = 0.1
    assert couriers.wait(4 * HANGS_SECONDS)


def test_neither_another_agents_line_nor_a_clock_waits_for_a_server_that_hangs(
    smtp: SmtpServer, settings: Settings
) -> None:
    channel, stuck = talks(smtp, 3)
    _, [free] = talks(smtp, 1)
    _, [quiet] = talks(smtp, 1)
    Session.objects.filter(pk=quiet.pk).update(recipient_active_at=Now() - dt.timedelta(hours=2))
    came = len(smtp.messages)
    with SmtpServer(Mode.NEVER_GREET) as hanging:
        point_at(channel, hanging)
        for session in stuck:
            write(session, "stuck")
        write(free, "free")
        began = time.monotonic()
        tasks.run_due()
        clocks = time.monotonic() - began
        assert Session.objects.get(pk=quiet.pk).release == "idle_timeout"
        assert "free" in smtp.wait_for_message(number=came + 1).text
        line = time.monotonic() - began
        assert hanging.connections <= 2
        assert Delivery.objects.filter(lease_until__isnull=False).exists(), "none of them hangs"
        let_the_rest_fail(settings)
    assert clocks < HANGS_SECONDS / 2
    assert line < HANGS_SECONDS / 2


def test_two_servers_that_hang_leave_room_for_the_third(
    smtp: SmtpServer, settings: Settings
) -> None:
    with ExitStack() as stack:
        for _ in range(2):
            channel, stuck = talks(smtp, 3)
            point_at(channel, stack.enter_context(SmtpServer(Mode.NEVER_GREET)))
            for session in stuck:
                write(session, "stuck")
        tasks.run_due()
        time.sleep(HANGS_SECONDS + 0.5)  # from here on both are known to fail
        _, [free] = talks(smtp, 1)
        came = len(smtp.messages)
        write(free, "free")
        began = time.monotonic()
        tasks.run_due()
        assert "free" in smtp.wait_for_message(number=came + 1).text
        assert time.monotonic() - began < HANGS_SECONDS / 2
        let_the_rest_fail(settings)


def test_a_session_has_one_courier_and_a_channel_two(smtp: SmtpServer, settings: Settings) -> None:
    settings.COLLECT_SECONDS = 0
    channel, sessions = talks(smtp, 5)
    with SmtpServer() as slow:
        slow.may_answer.clear()
        point_at(channel, slow)
        for session in sessions:
            write(session, f"first of {session.public_id}")
        assert couriers.look() == 2
        assert couriers.look() == 0
        slow.wait_for_message(number=2)
        write(sessions[0], "second")
        assert couriers.look() == 0
        assert len(slow.messages) == 2
        slow.may_answer.set()
        assert couriers.wait(10)
        texts = [mail.text for mail in slow.messages]
    assert len(texts) == 6
    places = [
        next(number for number, text in enumerate(texts) if words in text)
        for words in (f"first of {sessions[0].public_id}", "| second")
    ]
    assert places == sorted(places)
    assert set(Delivery.objects.values_list("status", "attempts")) == {("done", 1)}


def test_a_desk_that_stops_finishes_what_is_sent_and_begins_nothing(
    smtp: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, sessions = talks(smtp, 3)
    with SmtpServer() as slow:
        slow.may_answer.clear()
        point_at(channel, slow)
        for session in sessions:
            write(session, "hello")
        couriers.look()
        slow.wait_for_message(number=2)
        monkeypatch.setattr(push, "stopping", True)
        assert not couriers.wait(0.2)
        threading.Timer(0.3, slow.may_answer.set).start()
        assert couriers.wait(10)
        assert len(slow.messages) == 2
    assert sorted(Delivery.objects.values_list("status", flat=True)) == ["done", "done", "due"]
    assert not Delivery.objects.filter(status="due", lease_until__isnull=False).exists()


def test_the_sweep_does_not_wait_for_what_it_sends_once_more(smtp: SmtpServer) -> None:
    with SmtpServer(Mode.HANG_AFTER_DOT) as hanging:
        agent = factories.AgentFactory.create()
        channel = factories.email_channel(agent, smtp_url=smtp.url, redispatch="once")
        session = factories.requested(agent, channel)
        Session.objects.update(status="dispatching")
        Attempt.objects.update(
            status="sending", finished_at=None, at=Now() - dt.timedelta(seconds=90)
        )
        point_at(channel, hanging)
        began = time.monotonic()
        tasks.sweep()
        assert time.monotonic() - began < HANGS_SECONDS / 2
        assert "1234" in hanging.wait_for_message().text
    assert couriers.wait(2 * HANGS_SECONDS)
    statuses = session.attempts.order_by("number").values_list("status", flat=True)
    assert list(statuses) == ["unknown", "unknown"]
