"""What keeps a handoff going: more time, another notice, a link to pass on, having seen it."""

import datetime as dt
import re

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff import links
from handoff.actions.endings import back_to_bot
from handoff.actions.seen import note_seen
from handoff.models import Alert, Bucket, Channel, Event, ReturnLink, Session
from tests import factories, programs
from tests.fakes.smtp import Mode, SmtpServer
from tests.inbox.conftest import Desk
from tests.inbox.test_buttons import path
from tests.inbox.test_holding import said


def again(session: Session) -> Session:
    return Session.objects.get(pk=session.pk)


def closes_in(session: Session) -> float:
    """Hours until the recipient's link closes, by the database's clock."""
    link = session.links.filter(minted_for="recipient").annotate(now=Now()).get()
    return (link.expires_at - link.now).total_seconds() / 3600


def actions(session: Session) -> list[str]:
    rows = AuditEvent.objects.filter(session=session.public_id).order_by("pk")
    return list(rows.values_list("action", flat=True))


def events(session: Session) -> list[str]:
    rows = Event.objects.filter(session=session).order_by("number")
    return list(rows.values_list("type", flat=True))


# --- more time -----------------------------------------------------------------------------------


def test_extending_starts_both_clocks_again(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    an_hour = dt.timedelta(hours=1)
    Session.objects.update(recipient_active_at=F("recipient_active_at") - an_hour)
    ReturnLink.objects.update(expires_at=F("expires_at") - 70 * an_hour)
    before = again(session).recipient_active_at

    assert said(inbox, session, "extend") == "Extended: both clocks begin again."

    assert again(session).recipient_active_at - before > dt.timedelta(minutes=59)
    assert closes_in(session) == pytest.approx(72, abs=0.1)
    row = AuditEvent.objects.get(action="handoff.extended")
    assert (row.actor, row.details) == (f"owner:{desk.owner.pk}", {"links": 1, "hours": 72})


def test_a_form_that_closed_opens_again_and_a_revoked_link_does_not(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    revoked = ReturnLink.objects.create(
        session=session, minted_for="Mia", expires_at=Now(), revoked_at=Now()
    )
    ReturnLink.objects.update(expires_at=Now() - dt.timedelta(hours=5))
    said(inbox, session, "extend")
    assert closes_in(session) == pytest.approx(72, abs=0.1)
    assert ReturnLink.objects.filter(pk=revoked.pk, expires_at__lt=Now()).exists()


def test_no_form_stays_open_past_thirty_days_or_closes_earlier_than_it_did(
    desk: Desk, inbox: Client
) -> None:
    Channel.objects.update(link_hours=30 * 24)
    session = desk.requested()
    Session.objects.update(created_at=F("created_at") - dt.timedelta(days=20))
    ReturnLink.objects.update(expires_at=F("expires_at") - dt.timedelta(days=20))
    said(inbox, session, "extend")
    assert closes_in(session) == pytest.approx(10 * 24, abs=0.1)
    ReturnLink.objects.update(expires_at=F("expires_at") + dt.timedelta(days=5))
    said(inbox, session, "extend")
    assert closes_in(session) == pytest.approx(15 * 24, abs=0.1)


def test_what_has_ended_is_not_extended(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    back_to_bot(desk.conversation.pk)
    before = closes_in(session)
    assert said(inbox, session, "extend") == "Nothing changed: the handoff has ended."
    assert closes_in(session) == pytest.approx(before, abs=0.1)
    assert "handoff.extended" not in actions(session)


def test_an_owner_is_told_what_began_again_and_what_did_not(desk: Desk, inbox: Client) -> None:
    only_idle = "The idle clock begins again. The form can&#x27;t stay open for longer."
    nothing = "Nothing changed: the form can&#x27;t stay open for longer."
    session = desk.requested()
    Session.objects.update(status="unknown")
    longer = "Extended: the form stays open for longer."
    assert said(inbox, session, "extend").startswith(longer)
    ReturnLink.objects.update(revoked_at=Now())
    assert said(inbox, session, "extend").startswith(nothing)
    before = again(session).recipient_active_at
    Session.objects.update(status="active")
    assert said(inbox, session, "extend") == only_idle
    assert again(session).recipient_active_at > before
    rows = AuditEvent.objects.filter(action="handoff.extended").order_by("pk")
    assert [row.details["links"] for row in rows] == [1, 0]


def test_a_form_that_was_open_for_thirty_days_does_not_open_again(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    Session.objects.update(created_at=F("created_at") - dt.timedelta(days=31))
    ReturnLink.objects.update(expires_at=Now() - dt.timedelta(days=1))
    words = "The idle clock begins again. The form can&#x27;t stay open for longer."
    assert said(inbox, session, "extend") == words
    assert closes_in(session) < 0


# --- another notice ------------------------------------------------------------------------------


def by_mail(desk: Desk, server: SmtpServer) -> Session:
    channel = factories.email_channel(desk.agent, smtp_url=server.url)
    return factories.requested(desk.agent, channel, desk.conversation)


def test_the_notice_goes_again_as_a_new_attempt_in_the_same_thread(
    desk: Desk, inbox: Client
) -> None:
    with SmtpServer() as server:
        session = by_mail(desk, server)
        assert said(inbox, session, "remind") == "The notice was sent again."
        first, second = server.messages
    assert first.message["Message-ID"] in second.message["References"]
    assert first.message["Message-ID"] != second.message["Message-ID"]
    assert [(one.number, one.status) for one in session.attempts.order_by("number")] == [
        (1, "accepted"),
        (2, "accepted"),
    ]
    assert again(session).status == "active"
    assert actions(session)[-2:] == ["handoff.reminded", "handoff.dispatched"]
    assert events(session).count("handoff.reminded") == 1
    row = AuditEvent.objects.get(action="handoff.reminded")
    assert (row.actor, row.attempt) == (
        f"owner:{desk.owner.pk}",
        session.attempts.get(number=2).public_id,
    )


def test_it_goes_once_a_minute_whoever_presses(desk: Desk, inbox: Client) -> None:
    with SmtpServer() as server:
        session = by_mail(desk, server)
        said(inbox, session, "remind")
        assert "Not sent: it was sent a moment ago. Try again in" in said(inbox, session, "remind")
        assert len(server.messages) == 2
        Bucket.objects.update(full_at=F("full_at") - dt.timedelta(minutes=1))
        assert said(inbox, session, "remind") == "The notice was sent again."


def test_a_notice_that_is_refused_is_said_to_be_and_ends_nothing(
    desk: Desk, inbox: Client, settings: Settings
) -> None:
    settings.DISPATCH_SECONDS = 1
    with SmtpServer() as server:
        session = by_mail(desk, server)
    channel = session.channel
    channel.keep_settings({"to": ["a@example.com"], "smtp_url": "smtp://127.0.0.1:9"})
    channel.save()
    assert said(inbox, session, "remind") == (
        "The notice was not sent: the provider did not take it."
    )
    assert again(session).status == "active"
    assert session.attempts.get(number=2).status == "refused"
    assert closes_in(session) > 71, "the links of a session that goes on stay as they are"


def test_a_notice_whose_fate_is_unknown_is_not_said_to_have_arrived(
    desk: Desk, inbox: Client
) -> None:
    with SmtpServer() as server:
        session = by_mail(desk, server)
        server.mode = Mode.DROP_AFTER_DOT
        words = said(inbox, session, "remind")
    assert words == "The notice was sent again, but it is not known whether it arrived."
    assert again(session).status == "active"


def test_nobody_is_told_of_a_form_that_has_closed(desk: Desk, inbox: Client) -> None:
    with SmtpServer() as server:
        session = by_mail(desk, server)
        ReturnLink.objects.update(expires_at=Now() - dt.timedelta(seconds=1))
        assert "no form is open" in said(inbox, session, "remind")
        assert len(server.messages) == 1
    assert session.attempts.count() == 1


def test_a_sibling_finds_it_in_its_log_again(desk: Desk, inbox: Client) -> None:
    sibling = factories.AgentFactory.create()
    channel = factories.sibling_channel(desk.agent, sibling)
    session = factories.requested(desk.agent, channel, desk.conversation)
    assert said(inbox, session, "remind") == "The notice was sent again."
    told = Event.objects.filter(agent=sibling, session=session).values_list("type", flat=True)
    assert list(told) == ["handoff.assigned", "handoff.assigned"]


def test_in_an_owner_inbox_the_other_owners_are_mailed(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    assert "Nobody was reminded" in said(inbox, session, "remind")
    bea, cid = factories.UserFactory.create(), factories.UserFactory.create(email="")
    desk.agent.owners.add(bea, cid)
    Bucket.objects.all().delete()
    assert said(inbox, session, "remind") == "The other owners are being mailed."
    assert [(row.owner, row.number) for row in Alert.objects.filter(status="due")] == [(bea, 1)]


# --- a link to pass on ---------------------------------------------------------------------------


def test_a_link_to_copy_is_minted_for_the_owner_and_only_when_asked_for(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    assert "/r/" not in inbox.get(desk.page).content.decode().replace("/r/owner/", "")

    pages = [inbox.post(path(session, "link")).content.decode() for _ in range(2)]

    minted = session.links.get(minted_for=f"owner:{desk.owner.pk}")
    for page in pages:
        assert f'value="{links.return_url(minted.link_id)}"' in page
    assert Client().get(f"/r/{links.return_token(minted.link_id)}/").status_code == 200
    assert actions(session).count("link.minted") == 2, "the recipient's and the owner's"
    assert minted.link_id not in str(list(AuditEvent.objects.values_list()))


def test_there_is_no_link_to_a_form_that_has_closed(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    ReturnLink.objects.update(expires_at=Now() - dt.timedelta(seconds=1))
    answer = inbox.post(path(session, "link"))
    assert answer.status_code == 409
    assert "There is no link to copy: the form has closed." in answer.content.decode()
    assert session.links.count() == 1


# --- having seen it ------------------------------------------------------------------------------


def test_an_owner_who_has_it_before_them_is_a_fact_beside_the_attempt(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    active_at = again(session).recipient_active_at
    assert "data-seen" in inbox.get(desk.page).content.decode()

    for _ in range(2):
        assert inbox.post(path(session, "seen")).status_code == 204

    assert session.attempts.get().delivery == "read"
    assert events(session).count("handoff.delivery_changed") == 1
    row = AuditEvent.objects.get(action="handoff.delivery_changed")
    assert (row.actor, row.reason) == (f"owner:{desk.owner.pk}", "opened")
    assert again(session).recipient_active_at == active_at, "looking keeps no bypass alive"
    assert "data-seen" not in inbox.get(desk.page).content.decode()


def test_an_owner_who_looks_says_nothing_about_a_mail_to_somebody_else(desk: Desk) -> None:
    with SmtpServer() as server:
        session = by_mail(desk, server)
    assert not note_seen(session.pk, user_pk=desk.owner.pk)
    assert session.attempts.get().delivery == ""


def test_every_button_of_the_strip_is_there_while_it_can_do_something(
    desk: Desk, inbox: Client
) -> None:
    desk.agent.owners.add(factories.UserFactory.create())
    session = desk.requested()

    def buttons() -> list[str]:
        page = inbox.get(desk.page).content.decode()
        strip = page.partition('id="strips"')[2].partition('id="transcript"')[0]
        found = re.findall(r'class="button[^>]*>\s*([^<]+?)\s*<', strip)
        return list(dict.fromkeys(found))

    assert buttons() == [
        "Fill return form",
        "Reply",
        "Take it on",
        "Hand over",
        "Hand it over",
        "Release without values",
        "Release",
        "Extend",
        "Resend notice",
        "Copy link",
        "Cancel",
        "Cancel this handoff",
    ]
    Session.objects.filter(pk=session.pk).update(status="unknown")
    assert {"Extend", "Resend notice", "Copy link", "Fill return form"} <= set(buttons())
    assert {"Reply", "Take it on", "Hand over"} & set(buttons()) == set()
    Session.objects.filter(pk=session.pk).update(status="failed")
    assert buttons() == []


def test_a_channel_nobody_can_reach_any_more_is_said(desk: Desk, inbox: Client) -> None:
    channel = factories.email_channel(
        desk.agent, smtp_url=f"smtp://127.0.0.1:{programs.free_port()}"
    )
    session = factories.requested(desk.agent, channel, desk.conversation)
    assert again(session).status == "failed"
    assert "no form is open" in said(inbox, session, "remind")
    assert session.attempts.count() == 1
