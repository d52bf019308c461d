"""The end of a session: one winner, one note, one event, and nothing that a person sent is lost."""

import datetime as dt

import pytest
from django.db.models import Q
from django.db.models.functions import Now

from audit.models import Event as AuditEvent
from handoff.actions import endings
from handoff.actions.answer import Received, answer_form, note_opened, owner_link
from handoff.actions.release import Ending, release
from handoff.actions.reply import reply
from handoff.contract.kinds import Outcome, ReleaseKind, SessionStatus
from handoff.errors import Refused
from handoff.models import (
    Agent,
    Channel,
    Conversation,
    Delivery,
    Event,
    ReturnLink,
    Session,
    Submission,
)
from handoff.selectors import payloads
from tests import factories
from tests.factories import form, link_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.AgentFactory.create()


@pytest.fixture
def channel(agent: Agent) -> Channel:
    return factories.inbox_channel(agent)


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    return factories.conversation(agent, name="Ana")


@pytest.fixture
def session(agent: Agent, channel: Channel, conversation: Conversation) -> Session:
    return factories.requested(agent, channel, conversation)


def notes(conversation: Conversation) -> list[str]:
    return list(conversation.messages.exclude(note_type="").values_list("text", flat=True))


def types(session: Session) -> list[str]:
    return list(
        Event.objects.filter(session=session).order_by("number").values_list("type", flat=True)
    )


def test_a_form_releases_with_the_note_byte_for_byte(
    session: Session, conversation: Conversation
) -> None:
    sent = form(session, note="Looked [up]\norder 1234.")
    assert answer_form(link_of(session), sent) == Received.RETURNED

    session.refresh_from_db()
    assert (session.status, session.release, session.outcome) == ("released", "form", "resolved")
    assert session.released_at == session.returned_at
    assert notes(conversation) == [
        (
            "[Bot resumed — the recipient (Shop team) has handed control back. Outcome: resolved. "
            "Looked (up) order 1234.]\n"
            "Returned data:\n"
            "  • order_status: shipped\n"
            "  • tracking_url: https://carrier.example/track/abc\n"
            "  • eta_date: 2026-06-10\n"
            '  • notes: "left\\u000aat the door"'
        )
    ]
    assert types(session) == [
        "handoff.requested",
        "handoff.started",
        "handoff.released",
        "message.created",
    ]
    row = AuditEvent.objects.get(action="handoff.released")
    assert (row.actor, row.reason, row.session) == ("recipient", "form", session.public_id)
    assert "shipped" not in str(row.details)


def test_missing_and_unusable_values_are_reported_and_block_nothing(
    session: Session, conversation: Conversation
) -> None:
    entries = {"order_status": "", "eta_date": "next week", "colour": "blue", "notes": ""}
    sent = form(session, entries=entries)
    answer_form(link_of(session), sent)

    assert notes(conversation)[0].split("\n")[1:] == [
        "Returned data:",
        "  • tracking_url: https://carrier.example/track/abc",
        "Not filled: order_status (required), notes.",
        'Not usable: eta_date "next week" (not a date).',
        'Also sent: colour "blue".',
    ]
    missing = AuditEvent.objects.get(action="return.missing")
    invalid = AuditEvent.objects.get(action="return.invalid")
    assert missing.details == {"fields": ["order_status"]}
    assert invalid.details == {"fields": ["eta_date"], "reasons": ["not a date"]}


def test_the_same_form_twice_changes_nothing(session: Session, conversation: Conversation) -> None:
    assert answer_form(link_of(session), form(session)) == Received.RETURNED
    before = Event.objects.count()
    assert answer_form(link_of(session), form(session)) == Received.REPEATED
    assert Event.objects.count() == before
    assert len(notes(conversation)) == 1


def test_a_second_person_does_not_overwrite_the_first(session: Session) -> None:
    answer_form(link_of(session), form(session))
    second = form(session, "second", entries={"order_status": "lost"}, answered_by="Tom")
    assert answer_form(link_of(session), second) == Received.KEPT

    session.refresh_from_db()
    assert session.answered_by == "Mia"
    assert payloads.returned_of(session).values["order_status"] == "shipped"
    kept = Submission.objects.get(kind="amendment")
    assert (kept.answered_by, kept.entries["order_status"]) == ("Tom", "lost")
    assert AuditEvent.objects.filter(action="handoff.amended").count() == 1


def test_an_answer_after_the_idle_timeout_is_a_late_return(
    session: Session, conversation: Conversation
) -> None:
    release(session.pk, Ending(kind=ReleaseKind.IDLE_TIMEOUT, actor="desk"))
    assert answer_form(link_of(session), form(session, note="Sorry.")) == Received.LATE

    session.refresh_from_db()
    assert (session.release, session.late) == ("idle_timeout", True)
    assert notes(conversation)[1].split("\n")[0] == (
        "[Late return — the recipient (Shop team) answered after control was handed back. "
        "Outcome: resolved. Sorry.]"
    )
    assert types(session)[-2:] == ["handoff.late_return", "message.created"]
    assert answer_form(link_of(session), form(session, "third")) == Received.KEPT


def test_an_answer_to_an_unknown_session_releases_it_as_a_late_return(
    session: Session, conversation: Conversation
) -> None:
    Session.objects.filter(pk=session.pk).update(status=SessionStatus.UNKNOWN)
    assert answer_form(link_of(session), form(session)) == Received.RETURNED

    session.refresh_from_db()
    assert (session.status, session.release, session.late) == ("released", "form", True)
    assert notes(conversation)[0].startswith(
        "[Late return — the recipient (Shop team) answered; it had not been known whether they "
        "were reached. Outcome: resolved."
    )
    assert types(session)[-2:] == ["handoff.late_return", "message.created"]


@pytest.mark.parametrize("why", ["expired", "revoked", "failed"])
def test_a_link_that_is_over_keeps_nothing(session: Session, why: str) -> None:
    link = link_of(session)
    if why == "expired":
        ReturnLink.objects.update(expires_at=Now() - dt.timedelta(seconds=1))
    elif why == "revoked":
        ReturnLink.objects.update(revoked_at=Now())
    else:
        Session.objects.update(status=SessionStatus.FAILED)
    assert answer_form(link, form(session)) == Received.CLOSED
    assert AuditEvent.objects.get(action="link.refused").session == session.public_id
    assert not Submission.objects.exists()


def test_a_link_is_open_until_its_last_moment_by_the_databases_clock(session: Session) -> None:
    ReturnLink.objects.update(expires_at=Now() + dt.timedelta(seconds=30))
    assert answer_form(link_of(session), form(session)) == Received.RETURNED


def test_the_owner_releases_without_values_and_the_form_stays_open(
    session: Session, conversation: Conversation
) -> None:
    owner = session.agent.owners.get()
    assert endings.release_as_owner(
        session, user_pk=owner.pk, name="Olu", outcome=Outcome.UNRESOLVED, message="Closing."
    )
    assert notes(conversation) == [
        (
            "[Bot resumed — the owner has handed control back. Outcome: unresolved. Closing.]\n"
            "Not filled: order_status (required), tracking_url, eta_date, notes."
        )
    ]
    assert answer_form(link_of(session), form(session)) == Received.LATE


def test_an_owner_fills_the_form_through_a_link_of_their_own(session: Session) -> None:
    owner = session.agent.owners.get()
    link = owner_link(session.pk, user_pk=owner.pk)
    assert owner_link(session.pk, user_pk=owner.pk) == link
    assert answer_form(link, form(session), actor=f"owner:{owner.pk}") == Received.RETURNED
    assert AuditEvent.objects.get(action="handoff.released").actor == f"owner:{owner.pk}"


def _idle(session: Session, minutes: float) -> None:
    Session.objects.filter(pk=session.pk).update(
        recipient_active_at=Now() - dt.timedelta(minutes=minutes)
    )


def test_the_bypass_ends_after_thirty_idle_minutes(
    session: Session, conversation: Conversation
) -> None:
    _idle(session, 29.9)
    assert endings.end_idle() == 0
    _idle(session, 30.1)
    assert endings.end_idle() == 1
    assert endings.end_idle() == 0

    session.refresh_from_db()
    assert session.release == "idle_timeout"
    until = payloads.return_until(session)
    assert until is not None
    assert notes(conversation) == [
        (
            "[Bot resumed — nothing was heard from the recipient (Shop team) for 30 minutes. "
            f"The form stays open until {until:%Y-%m-%d %H:%M} UTC.]"
        )
    ]


def test_what_the_recipient_does_keeps_the_bypass_alive(session: Session) -> None:
    _idle(session, 31)
    reply(session.pk, text="One moment", name="Mia", actor="owner:1")
    assert endings.end_idle() == 0
    _idle(session, 31)
    note_opened(link_of(session))
    assert endings.end_idle() == 0


def test_a_reply_that_lands_first_beats_the_sweep_that_saw_it_idle(session: Session) -> None:
    """The sweep found the row; before it ends it, the recipient acts: the UPDATE decides."""
    _idle(session, 31)
    quiet = Q(recipient_active_at__lte=Now() - dt.timedelta(minutes=30))
    assert Session.objects.filter(quiet).exists()
    reply(session.pk, text="Here I am", name="Mia", actor="owner:1")
    assert endings._end_quiet(session.pk, quiet) is False
    session.refresh_from_db()
    assert session.status == "active"


def test_a_detached_session_has_only_the_return_clock(agent: Agent, channel: Channel) -> None:
    session = factories.requested(agent, channel)
    _idle(session, 100)
    assert endings.end_idle() + endings.end_expired() == 0
    ReturnLink.objects.update(expires_at=Now() - dt.timedelta(seconds=1))
    assert endings.end_expired() == 1
    session.refresh_from_db()
    assert session.release == "expired"
    assert payloads.note_text(session) == "[Bot resumed — the form closed without an answer.]"


def test_a_reply_after_the_end_is_refused(session: Session, conversation: Conversation) -> None:
    endings.back_to_bot(conversation.pk)
    with pytest.raises(Refused) as refusal:
        reply(session.pk, text="Too late", name="Mia", actor="owner:1")
    assert refusal.value.code == "already_released"
    assert not conversation.messages.filter(author="person").exists()


def test_joined_and_left_frame_what_a_person_said(
    session: Session, conversation: Conversation
) -> None:
    reply(session.pk, text="Hello", name="Mia", actor="owner:1", client_id="1")
    reply(session.pk, text="Hello", name="Mia", actor="owner:1", client_id="1")
    endings.back_to_bot(conversation.pk)
    assert types(session)[2:] == [
        "participant.joined",
        "message.created",
        "participant.left",
        "handoff.released",
        "message.created",
    ]


def test_the_recipient_of_a_mail_is_told_that_it_was_withdrawn(
    agent: Agent, conversation: Conversation, channel: Channel
) -> None:
    email = factories.email_channel(agent)
    session = factories.requested(agent, channel, conversation)
    Session.objects.filter(pk=session.pk).update(channel=email)
    endings.cancel(Session.objects.get(), reason="", actor="agent:x")
    assert Delivery.objects.get().kind == "closed"
