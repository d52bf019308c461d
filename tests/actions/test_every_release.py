"""Whatever ends a handoff: one resume note, and the next turn is the agent's."""

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

import pytest
from django.db.models.functions import Now

from audit.models import Event as AuditEvent
from handoff.actions import endings
from handoff.actions.hops import end_unclaimed
from handoff.contract.kinds import Outcome, ReleaseKind
from handoff.models import Attempt, Channel, Conversation, Event, ReturnLink, Session
from tests import factories
from tests.api.conftest import Desk
from tests.fakes.toy_chat import event, said
from tests.fakes.toy_desk import Toys

pytestmark = pytest.mark.django_db

type Way = Callable[[Toys, Session], object]
"""Ends a session, as that happens in the world."""


def by_form(toys: Toys, session: Session) -> object:
    return factories.answer(session, factories.form(session))


def by_token(toys: Toys, session: Session) -> object:
    return toys.hear(said(f"/release {session.release_token} Done."))


def by_agent(toys: Toys, session: Session) -> object:
    assert session.target is not None
    named = {"handoff_session_id": session.public_id, "outcome": "resolved"}
    return Desk(session.target).call("handoff_release", named)


def by_owner(toys: Toys, session: Session) -> object:
    how: dict[str, Any] = {"outcome": Outcome.RESOLVED, "message": "Done."}
    return endings.release_as_owner(session, user_pk=1, name="Mia", **how)


def by_subscriber(toys: Toys, session: Session) -> object:
    return endings.back_to_bot(session.conversation_id or 0)


def by_idle_clock(toys: Toys, session: Session) -> object:
    Session.objects.update(recipient_active_at=Now() - dt.timedelta(minutes=31))
    return endings.end_idle()


def by_cancel(toys: Toys, session: Session) -> object:
    named = {"handoff_session_id": session.public_id, "reason": "It was found."}
    return Desk(toys.agent).call("handoff_cancel", named)


def by_bounce(toys: Toys, session: Session) -> object:
    return toys.hear(event("failed", message=session.attempts.get().provider_message_id))


def by_silence(toys: Toys, session: Session) -> object:
    Attempt.objects.update(at=Now() - dt.timedelta(minutes=11))
    return end_unclaimed()


def by_closed_form(toys: Toys, session: Session) -> object:
    ReturnLink.objects.update(expires_at=Now() - dt.timedelta(seconds=1))
    return endings.end_expired()


WAYS: Final[dict[ReleaseKind, Way]] = {
    ReleaseKind.FORM: by_form,
    ReleaseKind.TOKEN: by_token,
    ReleaseKind.AGENT: by_agent,
    ReleaseKind.OWNER: by_owner,
    ReleaseKind.SUBSCRIBER: by_subscriber,
    ReleaseKind.IDLE_TIMEOUT: by_idle_clock,
    ReleaseKind.CANCELLED: by_cancel,
    ReleaseKind.UNDELIVERABLE: by_bounce,
    ReleaseKind.LOST: by_silence,
    ReleaseKind.EXPIRED: by_closed_form,
}


def asked(toys: Toys, kind: ReleaseKind, conversation: Conversation | None) -> Session:
    """An active session that can end in this way."""
    channel: Channel = toys.channel
    if kind in (ReleaseKind.AGENT, ReleaseKind.LOST):
        channel = factories.sibling_channel(toys.agent, factories.AgentFactory.create())
    session = toys.ask(conversation, channel=channel)
    assert session.status == "active"
    return session


def test_the_table_names_every_way() -> None:
    assert set(WAYS) == set(ReleaseKind)


@pytest.mark.parametrize("kind", [kind for kind in WAYS if kind != ReleaseKind.EXPIRED])
def test_one_note_and_the_next_turn_goes_to_the_agent(toys: Toys, kind: ReleaseKind) -> None:
    desk, conversation = Desk(toys.agent), factories.conversation(toys.agent, name="Ana")
    session = asked(toys, kind, conversation)
    talk = f"conversations/{conversation.public_id}/messages"
    turn = {"author": "subscriber", "text": "Where is it?"}
    before = desk.post(talk, {**turn, "client_id": "before"}).json()
    assert (before["bypass"], before["message"]["routed_to"]) == (True, "recipient")
    late = {"author": "agent", "text": "I was about to say", "client_id": "late"}
    answer = desk.post(talk, late)
    assert (answer.status_code, answer.json()["code"]) == (200, "superseded")
    superseded = AuditEvent.objects.get(action="message.superseded")
    assert superseded.details["message"] == answer.json()["message"]["id"]

    for _ in range(2):  # whoever ends it again ends nothing
        WAYS[kind](toys, session)
    session.refresh_from_db()
    assert (session.status, session.release) == ("released", kind)

    after = desk.post(talk, {**turn, "client_id": "after"}).json()
    assert (after["bypass"], after["message"]["routed_to"]) == (False, "agent")
    [note] = after["context"]
    assert note["text"].startswith("[Bot resumed — ")
    [system] = conversation.messages.filter(author="system")
    assert (system.text, system.event_id) == (note["text"], note["event_id"])
    assert system.event_id < after["message"]["event_id"], "the agent reads the note first"
    spoken = desk.post(talk, {**late, "client_id": "now", "ack_event_id": note["event_id"]})
    assert (spoken.status_code, spoken.json()["message"]["routed_to"]) == (201, "subscriber")
    assert spoken.json()["context"] == []
    assert ended(session) == 1
    again = desk.post(talk, late)
    assert again.json()["code"] == "superseded", "a line that came too late stays that"


def test_a_detached_handoff_ends_with_its_form_and_wakes_its_agent_once(toys: Toys) -> None:
    session = asked(toys, ReleaseKind.EXPIRED, None)
    assert [WAYS[ReleaseKind.EXPIRED](toys, session) for _ in range(2)] == [1, 0]
    session.refresh_from_db()
    assert (session.status, session.release, ended(session)) == ("released", "expired", 1)


def ended(session: Session) -> int:
    """How often the agent's log says that a session is over."""
    over = ("handoff.released", "handoff.cancelled", "handoff.late_return")
    return Event.objects.filter(session=session, agent=session.agent, type__in=over).count()
