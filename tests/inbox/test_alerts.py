"""An owner is mailed once about a handoff that nobody opened, claimed or replied to in time."""

import datetime as dt
import threading
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff import tasks
from handoff.actions import alerts, claims, couriers
from handoff.actions.endings import back_to_bot
from handoff.actions.reply import reply
from handoff.actions.seen import note_seen
from handoff.models import Alert, Channel, Event, Session
from tests import factories, programs
from tests.fakes.smtp import Mode, SmtpServer
from tests.inbox.conftest import Desk
from tests.inbox.test_buttons import path

MINUTES = 5


@pytest.fixture
def post(settings: Settings) -> Iterator[SmtpServer]:
    """The mail server of the deployment."""
    with SmtpServer() as server:
        settings.EMAIL_URL = server.url
        yield server


@pytest.fixture
def watched(desk: Desk) -> Desk:
    """`desk`, whose owner inbox asks for mails after five minutes."""
    keep_minutes(desk.channel, MINUTES)
    return desk


def keep_minutes(channel: Channel, minutes: int | None) -> None:
    channel.keep_settings({} if minutes is None else {"notify_after_minutes": minutes})
    channel.save()


def later(minutes: float = MINUTES) -> None:
    """So much time passes: for the handoffs, and for what waits for another try."""
    span = dt.timedelta(minutes=minutes, seconds=1)
    Session.objects.update(created_at=F("created_at") - span)
    Alert.objects.update(next_attempt_at=F("next_attempt_at") - span)


def work() -> None:
    """One round of the worker, here and now."""
    alerts.ask_owners()
    alerts.look(run=lambda send: send())


def mailed(server: SmtpServer) -> list[str]:
    return [address for message in server.messages for address in message.recipients]


def trail(action: str) -> list[tuple[str, object]]:
    rows = AuditEvent.objects.filter(action=action).order_by("pk")
    return [(row.reason, row.details["to"]) for row in rows]


def test_every_owner_is_mailed_once_when_the_minutes_have_passed(
    watched: Desk, post: SmtpServer
) -> None:
    bea = factories.UserFactory.create(username="bea")
    watched.agent.owners.add(bea)
    gone = factories.UserFactory.create(username="gone", is_active=False)
    watched.agent.owners.add(gone)
    session = watched.requested(urgency="high")
    later(MINUTES - 1)
    work()
    assert post.messages == []

    later(1)
    for _ in range(3):
        work()
        later()

    assert sorted(mailed(post)) == ["ada@example.com", "bea@example.com"]
    mail = post.messages[0]
    assert mail.subject == "Shop team: a handoff is waiting in your inbox"
    assert "an AI agent, handed over to Shop team" in mail.text
    assert "Nobody has opened it yet." in mail.text
    assert f"http://desk.example.org{watched.page}" in mail.text
    assert f'href="http://desk.example.org{watched.page}"' in mail.html
    assert mail.message["Importance"] == "high"
    assert mail.message["Auto-Submitted"] == "auto-generated"
    assert sorted(trail("handoff.reminded")) == [
        ("mail", f"owner:{watched.owner.pk}"),
        ("mail", f"owner:{bea.pk}"),
    ]
    assert Event.objects.filter(session=session, type="handoff.reminded").count() == 2


def test_the_mail_holds_nothing_that_an_agent_or_a_visitor_wrote(
    watched: Desk, post: SmtpServer
) -> None:
    watched.says("My card is 4111-1111.", client_id="1")
    session = watched.requested(extra_context={"secret": "hunter2"})
    Channel.objects.update(label="<b>Shop</b>\u202e team")
    later()
    work()
    mail = post.messages[0]
    for words in (mail.text, mail.html, str(mail.message)):
        for secret in ("4111", "Sam", "hunter2", "1234", session.release_token, "/r/"):
            assert secret not in words
    assert "<b>" not in mail.html
    assert "\u202e" not in mail.text + mail.subject


def an_owner_looked(desk: Desk, session: Session) -> None:
    note_seen(session.pk, user_pk=desk.owner.pk)


def an_owner_claimed(desk: Desk, session: Session) -> None:
    claims.claim(session.pk, user_pk=desk.owner.pk)


def an_owner_replied(desk: Desk, session: Session) -> None:
    reply(session.pk, text="Hello", name="Ada", actor="owner:1")


def it_ended(desk: Desk, session: Session) -> None:
    back_to_bot(desk.conversation.pk)


IN_TIME = [an_owner_looked, an_owner_claimed, an_owner_replied, it_ended]


@pytest.mark.parametrize("happened", IN_TIME)
def test_nobody_is_mailed_when_somebody_was_there_in_time(
    watched: Desk, post: SmtpServer, happened: Callable[[Desk, Session], None]
) -> None:
    session = watched.requested()
    happened(watched, session)
    later()
    work()
    assert (post.messages, Alert.objects.count()) == ([], 0)


@pytest.mark.parametrize("happened", IN_TIME)
def test_a_mail_that_still_waits_is_dropped_when_somebody_is_there(
    watched: Desk, post: SmtpServer, happened: Callable[[Desk, Session], None]
) -> None:
    session = watched.requested()
    later()
    alerts.ask_owners()
    happened(watched, session)
    work()
    assert post.messages == []
    assert Alert.objects.get().status == "dropped"


def test_a_page_that_is_only_read_is_not_opened(
    watched: Desk, inbox: Client, post: SmtpServer
) -> None:
    watched.requested()
    inbox.get(watched.page)
    inbox.get(watched.page, headers={"sec-purpose": "prefetch;prerender"})
    later()
    work()
    assert mailed(post) == ["ada@example.com"]


def test_without_the_minutes_nobody_is_ever_mailed(desk: Desk, post: SmtpServer) -> None:
    desk.requested()
    later(24 * 60)
    work()
    assert Alert.objects.count() == 0


def test_a_handoff_by_mail_concerns_its_recipient_and_no_owner(
    watched: Desk, post: SmtpServer
) -> None:
    channel = factories.email_channel(watched.agent, smtp_url=post.url)
    factories.requested(watched.agent, channel, watched.conversation)
    later()
    work()
    assert mailed(post) == ["sales@example.com"]


def test_an_owner_without_an_address_is_told_of_on_the_trail(
    watched: Desk, post: SmtpServer
) -> None:
    User.objects.filter(pk=watched.owner.pk).update(email="")
    session = watched.requested()
    later()
    for _ in range(2):
        work()
    assert trail("message.relay_failed") == [("no_address", f"owner:{watched.owner.pk}")]
    row = Alert.objects.get(session=session)
    assert (row.status, row.failure_kind) == ("failed", "no_address")
    assert post.messages == []


def test_what_fails_for_now_is_tried_again_and_given_up_in_the_end(
    watched: Desk, settings: Settings
) -> None:
    settings.EMAIL_URL = f"smtp://127.0.0.1:{programs.free_port()}"
    watched.requested()
    later()
    for tries in range(1, alerts.TRIES + 1):
        work()
        work()  # not before its time
        assert Alert.objects.get().attempts == tries
        later(60)
    work()
    row = Alert.objects.get()
    assert (row.status, row.failure_kind, row.attempts) == ("failed", "connect", alerts.TRIES)
    assert trail("message.relay_failed") == [("connect", f"owner:{watched.owner.pk}")]
    assert Channel.objects.get().healthy, "agents can still hand over to the inbox"


def test_a_mail_that_failed_once_arrives_when_the_server_is_back(
    watched: Desk, post: SmtpServer
) -> None:
    post.mode = Mode.REFUSE_AT_CONNECT
    watched.requested()
    later()
    work()
    post.mode = Mode.ACCEPT
    later()
    work()
    assert mailed(post) == ["ada@example.com"]
    assert Alert.objects.get().status == "done"


def test_what_may_have_arrived_is_not_sent_again(watched: Desk, post: SmtpServer) -> None:
    post.mode = Mode.DROP_AFTER_DOT
    watched.requested()
    later()
    work()
    later(60)
    work()
    assert len(post.messages) == 1
    assert Alert.objects.get().failure_kind == "unknown_outcome"


def test_an_address_that_is_none_fails_and_stops_nobody(watched: Desk, post: SmtpServer) -> None:
    User.objects.filter(pk=watched.owner.pk).update(email="not an address\n")
    watched.agent.owners.add(factories.UserFactory.create(username="bea"))
    watched.requested()
    later()
    work()
    assert mailed(post) == ["bea@example.com"]
    assert trail("message.relay_failed") == [("bad_format", f"owner:{watched.owner.pk}")]


def test_an_owner_who_was_removed_meanwhile_is_not_mailed(watched: Desk, post: SmtpServer) -> None:
    watched.requested()
    later()
    alerts.ask_owners()
    watched.agent.owners.clear()
    work()
    assert (post.messages, Alert.objects.get().status) == ([], "dropped")


def test_a_colleagues_word_goes_out_although_the_handoff_was_opened(
    watched: Desk, inbox: Client, post: SmtpServer
) -> None:
    watched.agent.owners.add(factories.UserFactory.create(username="bea"))
    session = watched.requested()
    an_owner_claimed(watched, session)
    inbox.post(path(session, "remind"))
    work()
    assert mailed(post) == ["bea@example.com"]
    assert "A colleague asks you to look at it." in post.messages[0].text


def test_no_more_than_a_few_are_under_way_at_once(watched: Desk, post: SmtpServer) -> None:
    for number in range(alerts.PLACES + 2):
        watched.asked(f"visitor {number}")
    later()
    alerts.ask_owners()
    taken = [alerts.claim() for _ in range(alerts.PLACES + 2)]
    assert taken.count(None) == 2
    Alert.objects.update(lease_until=Now() - dt.timedelta(seconds=1))
    assert alerts.claim() is not None, "a killed process gives its places back in the end"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_worker_mails_by_itself(watched: Desk, post: SmtpServer) -> None:
    watched.requested()
    later()
    assert tasks.alert.call() == 2
    assert couriers.wait(10)
    post.wait_for_message()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_rivals_write_and_take_each_alert_once(settings: Settings) -> None:
    owner = factories.UserFactory.create()
    agent = factories.owned_agent(owner)
    channel = factories.inbox_channel(agent, notify_after_minutes=MINUTES)
    for number in range(6):
        factories.requested(agent, channel, factories.conversation(agent, str(number)))
    later()
    start, taken = threading.Barrier(4), []

    def run() -> None:
        start.wait()
        try:
            alerts.ask_owners()
            while (alert := alerts.claim()) is not None:
                taken.append(alert)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Alert.objects.count() == 6
    assert len(taken) == len(set(taken))


def test_the_admin_offers_the_minutes(desk: Desk) -> None:
    staff = factories.UserFactory.create(is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(staff)
    page = client.get(f"/admin/handoff/channel/{desk.channel.pk}/change/").content.decode()
    assert 'name="setting_notify_after_minutes"' in page
    assert "Mail every owner when nobody opened the handoff" in page


@pytest.mark.parametrize("minutes", [0, -5, 24 * 60 + 1, "soon", 2.5])
def test_minutes_that_are_none_are_refused_by_name(desk: Desk, minutes: object) -> None:
    with pytest.raises(ValidationError, match="notify_after_minutes"):
        factories.inbox_channel(desk.agent, notify_after_minutes=minutes)
