"""`/release TOKEN` typed in a channel: it ends the handoff it names, or tells nobody anything."""

import datetime as dt
from collections.abc import Callable

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import endings
from handoff.contract.ids import release_token
from handoff.models import Bucket, InboundEvent, Session
from tests import factories
from tests.fakes.toy_chat import said
from tests.fakes.toy_desk import Toys, lines, thread_of, toy_channel

pytestmark = pytest.mark.django_db

NOT_RECOGNISED = "That release line is not recognised. Nothing was released or passed on."


@pytest.mark.parametrize("command", ["/release", "!release", "release", "/RELEASE@desk_bot"])
def test_the_line_releases_with_its_note_and_the_lines_below(toys: Toys, command: str) -> None:
    conversation, session = toys.talk()
    text = f"{command} {session.release_token} It left on Monday.\nAsk Ana [again]."
    assert toys.hear(said(text)) == "released"
    now = Session.objects.get()
    assert (now.status, now.release, now.outcome) == ("released", "token", "resolved")
    assert now.message == "It left on Monday. Ask Ana (again)."
    assert now.note == "It left on Monday.\nAsk Ana [again]."
    assert now.answered_by == "Mia"
    note = conversation.messages.get(author="system").text
    assert note.startswith(
        "[Bot resumed — the recipient (Support room) has handed control back. Outcome: resolved. "
        "It left on Monday. Ask Ana (again).]"
    )
    assert "Not filled: order_status (required)" in note
    assert lines(conversation) == []
    assert toys.told() == ["Released. The assistant has been told."]
    assert InboundEvent.objects.get().session == session
    assert AuditEvent.objects.get(action="handoff.released").actor == "recipient"


def test_the_token_decides_whatever_the_line_stands_in(toys: Toys) -> None:
    _, meant = toys.talk("a")
    _, other = toys.talk("b")
    assert toys.hear(said(f"/release {meant.release_token}", thread=thread_of(other))) == "released"
    assert Session.objects.get(pk=meant.pk).status == "released"
    assert Session.objects.get(pk=other.pk).status == "active"


def test_alone_in_its_line_it_ends_the_handoff_of_its_thread(toys: Toys) -> None:
    _, session = toys.talk()
    toys.talk("other")
    assert toys.hear(said("/release\nIt left.", thread=thread_of(session))) == "released"
    assert Session.objects.get(pk=session.pk).note == "It left."


@pytest.mark.parametrize("text", ["/release", "!release now", "/release: h7"])
def test_without_a_thread_it_needs_a_token(toys: Toys, text: str) -> None:
    conversation, session = toys.talk()
    assert toys.hear(said(text)) == "not_recognised"
    assert Session.objects.get(pk=session.pk).status == "active"
    assert lines(conversation) == []
    assert toys.told() == [NOT_RECOGNISED]


def test_in_a_thread_something_else_than_a_token_is_not_taken_for_one(toys: Toys) -> None:
    _, session = toys.talk()
    assert toys.hear(said("/release now", thread=thread_of(session))) == "not_recognised"
    assert Session.objects.get(pk=session.pk).status == "active"


def test_a_dispatch_that_is_overtaken_is_released_at_once(toys: Toys) -> None:
    _, session = toys.talk()
    Session.objects.update(status="dispatching")
    assert toys.hear(said(f"/release {session.release_token}")) == "released"
    assert Session.objects.get().status == "released"


@pytest.mark.parametrize("before", ["idle", "unknown"])
def test_while_the_return_clock_runs_it_is_a_late_return(toys: Toys, before: str) -> None:
    _, session = toys.talk()
    if before == "idle":
        past = Now() - dt.timedelta(hours=1)
        Session.objects.update(recipient_active_at=past)
        endings.end_idle()
    else:
        Session.objects.update(status="unknown")
    assert toys.hear(said(f"/release {session.release_token} It left.")) == "late"
    now = Session.objects.get()
    assert (now.late, now.message) == (True, "It left.")
    assert toys.told() == ["Your answer went to the assistant; the visitor is with it."]


def nobodys(toys: Toys) -> str:
    return release_token()


def of_another_channel(toys: Toys) -> str:
    agent = factories.AgentFactory.create()
    channel = toy_channel(agent, secret="another", room="sales")
    return factories.requested(agent, channel, factories.conversation(agent)).release_token


def of_another_place_of_the_same_app(toys: Toys) -> str:
    channel = toy_channel(toys.agent, room="sales")
    return toys.ask(channel=channel).release_token


def answered(toys: Toys) -> str:
    _, session = toys.talk()
    factories.answer(session, factories.form(session))
    return session.release_token


def failed(toys: Toys) -> str:
    _, session = toys.talk()
    Session.objects.filter(pk=session.pk).update(status="failed")
    return session.release_token


def closed(toys: Toys) -> str:
    _, session = toys.talk()
    endings.cancel(session, reason="", actor="agent:test")
    session.links.update(expires_at=Now() - dt.timedelta(seconds=1))
    return session.release_token


@pytest.mark.parametrize(
    "token_of",
    [
        nobodys,
        of_another_channel,
        of_another_place_of_the_same_app,
        answered,
        failed,
        closed,
    ],
)
def test_every_wrong_line_gets_the_same_words_and_changes_nothing(
    toys: Toys, token_of: Callable[[Toys], str]
) -> None:
    token = token_of(toys)
    conversation = factories.conversation(toys.agent, "still talking")
    talking = toys.ask(conversation)
    before = list(Session.objects.order_by("pk").values())
    for thread in ("", thread_of(talking)):
        assert toys.hear(said(f"/release {token} Gone.", thread=thread)) == "not_recognised"
    assert list(Session.objects.order_by("pk").values()) == before
    assert lines(conversation) == []
    assert toys.told() == [NOT_RECOGNISED] * 2
    assert not InboundEvent.objects.exclude(session=None).exists()
    refused = AuditEvent.objects.filter(action="inbound.refused", reason="release_token")
    assert refused.count() == 2
    assert not refused.exclude(session="").exists()


def test_guesses_are_limited_for_each_sender_and_a_right_one_is_none(
    toys: Toys, settings: Settings
) -> None:
    settings.RELEASE_GUESSES_PER_MINUTE = 3
    sessions = [toys.talk(str(n))[1] for n in range(6)]
    for session in sessions[:4]:
        assert toys.hear(said(f"/release {session.release_token}")) == "released"
    for _ in range(3):
        assert toys.hear(said(f"/release {release_token()}")) == "not_recognised"
    for _ in range(2):
        assert toys.hear(said(f"/release {sessions[4].release_token}")) == "too_many"
    assert Session.objects.get(pk=sessions[4].pk).status == "active"
    told = toys.told()
    assert len([text for text in told if text.startswith("Too many release lines")]) == 1
    by_another = said(f"/release {sessions[5].release_token}", sender="u-ben")
    assert toys.hear(by_another) == "released"
    assert not Bucket.objects.filter(name__contains="u-mia").exists()


def test_a_token_in_the_note_of_another_handoff_is_hidden(toys: Toys) -> None:
    _, session = toys.talk()
    _, other = toys.talk("other")
    toys.hear(said(f"/release {session.release_token} and {other.release_token}"))
    assert Session.objects.get(pk=session.pk).message == "and h7***"
