"""What a recipient writes in a channel: whose handoff it is about, and what becomes of it."""

import datetime as dt

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import endings
from handoff.actions.inbound import accept
from handoff.actions.inbound_apply import apply_due
from handoff.contract.limits import TURN_TEXT_MAX
from handoff.models import Attempt, Channel, Event, InboundEvent, Session
from handoff.selectors import letters
from handoff.transports.inbound import Said
from tests import factories
from tests.fakes.toy_chat import said
from tests.fakes.toy_desk import Toys, lines, thread_of, toy_channel, write

pytestmark = pytest.mark.django_db

SAID = Said(
    keys=("k1",), account="support", sender_id="u-mia", sender_name="Mia", text="It left.",
    place="support",
)  # fmt: skip


def hear(toys: Toys, event: Said) -> str:
    """What becomes of one event that no hook made."""
    [row] = accept(toys.channel, [event])
    apply_due()
    return InboundEvent.objects.get(pk=row).outcome


def status(session: Session) -> tuple[str, str]:
    now = Session.objects.get(pk=session.pk)
    return now.status, now.release


def was_active_just_now() -> bool:
    return Session.objects.filter(recipient_active_at__gt=Now() - dt.timedelta(minutes=1)).exists()


def let_the_idle_clock_run_out(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(recipient_active_at=Now() - dt.timedelta(hours=1))
    assert endings.end_idle() == 1


def test_a_reply_in_the_thread_reaches_the_visitor_and_renews_the_idle_clock(toys: Toys) -> None:
    conversation, session = toys.talk()
    Session.objects.update(recipient_active_at=Now() - dt.timedelta(minutes=29))
    assert toys.hear(said("It left on Monday.", thread=thread_of(session))) == "replied"
    assert lines(conversation) == [("person", "Mia", "It left on Monday.")]
    assert InboundEvent.objects.get().session == session
    assert Session.objects.get().joined_name == "Mia"
    assert was_active_just_now()
    assert Channel.objects.get(pk=toys.channel.pk).last_inbound_at is not None
    assert AuditEvent.objects.get(action="message.relayed").actor == "recipient"
    assert toys.told() == []


def test_the_order_of_references_is_address_then_answered_message_then_thread(toys: Toys) -> None:
    named = [toys.talk(name)[1] for name in ("a", "b", "c")]
    _, second, third = (thread_of(session) for session in named)
    whole = SAID.model_copy(
        update={
            "session": named[0].public_id, "replies_to": ("strange", second), "thread_key": third
        }
    )  # fmt: skip
    assert hear(toys, whole) == "replied"
    assert hear(toys, whole.model_copy(update={"keys": ("k2",), "session": ""})) == "replied"
    last = whole.model_copy(update={"keys": ("k3",), "session": "hs_nonsense", "replies_to": ()})
    assert hear(toys, last) == "replied"
    rows = InboundEvent.objects.order_by("pk").values_list("session", flat=True)
    assert list(rows) == [session.pk for session in named]


def test_the_nearest_answered_message_decides(toys: Toys) -> None:
    named = [toys.talk(name)[1] for name in ("a", "b")]
    ids = tuple(thread_of(session) for session in reversed(named))
    assert hear(toys, SAID.model_copy(update={"replies_to": ids})) == "replied"
    assert InboundEvent.objects.get().session == named[1]


def test_an_answer_to_a_relayed_line_belongs_to_its_handoff(toys: Toys) -> None:
    conversation, session = toys.talk()
    toys.talk("other")
    write(conversation, "Hello?")
    line = toys.sent()[-1].id
    assert toys.hear(said("Yes?", answers=line)) == "replied"
    assert InboundEvent.objects.get().session == session


def test_without_a_reference_the_only_open_handoff_of_the_place_is_meant(toys: Toys) -> None:
    conversation, _ = toys.talk()
    assert toys.hear(said("Here I am.")) == "replied"
    assert [text for _, _, text in lines(conversation)] == ["Here I am."]


def test_with_two_open_handoffs_the_person_is_asked_which(toys: Toys) -> None:
    one, _ = toys.talk("a")
    other, _ = toys.talk("b")
    assert toys.hear(said("Here I am.")) == "which"
    [told] = toys.told()
    assert told.startswith("More than one handoff is open here")
    assert lines(one) == lines(other) == []


def test_two_open_handoffs_in_one_thread_are_not_told_apart_by_it(toys: Toys) -> None:
    sessions = [toys.talk(name)[1] for name in ("a", "b")]
    Attempt.objects.filter(session__in=sessions).update(thread_key="shared")
    assert toys.hear(said("Here I am.", thread="shared")) == "which"


def test_the_most_recent_one_may_have_ended_where_the_place_is_one_person(toys: Toys) -> None:
    _, older = toys.talk("a")
    _, session = toys.talk("b")
    Attempt.objects.update(thread_key=SAID.sender_id)  # there the thread is the person
    for ended in (older, session):
        let_the_idle_clock_run_out(ended)
    assert hear(toys, SAID.model_copy(update={"only_one": True})) == "unmatched"
    recent = SAID.model_copy(update={"keys": ("k2",), "recent_one": True})
    assert hear(toys, recent) == "late"
    assert InboundEvent.objects.latest("pk").session == session


def test_nobody_is_answered_who_writes_without_a_handoff(toys: Toys) -> None:
    assert toys.hear(said("Anybody here?")) == "unmatched"
    assert toys.hear(said("Anybody here?", thread="t99")) == "unmatched"
    assert toys.told() == []
    reasons = AuditEvent.objects.filter(action="inbound.unmatched").values_list("reason", flat=True)
    assert list(reasons) == ["no_handoff"] * 2


@pytest.mark.parametrize("text", ["It left.", "/release {token}", "/release"])
def test_whoever_writes_elsewhere_is_not_the_recipient(toys: Toys, text: str) -> None:
    conversation, session = toys.talk()
    stranger = SAID.model_copy(
        update={
            "text": text.format(token=session.release_token),
            "place": "elsewhere",
            "session": session.public_id,
        }
    )
    assert hear(toys, stranger) == "unmatched"
    assert status(session) == ("active", "")
    assert lines(conversation) == []
    assert toys.told() == []
    assert AuditEvent.objects.get(action="inbound.unmatched").reason == "not_the_recipient"


def test_an_answer_that_overtakes_the_dispatch_waits_for_it(toys: Toys) -> None:
    conversation, session = toys.talk()
    thread = thread_of(session)
    Session.objects.update(status="dispatching")
    assert toys.hear(said("first", thread=thread)) == ""
    assert toys.hear(said("second", thread=thread)) == ""
    assert lines(conversation) == []
    # the second is due before the first, and is passed on after it all the same
    first, second = InboundEvent.objects.order_by("pk")
    Session.objects.update(status="active")
    InboundEvent.objects.filter(pk=first.pk).update(next_attempt_at=Now() + dt.timedelta(hours=1))
    InboundEvent.objects.filter(pk=second.pk).update(next_attempt_at=Now())
    apply_due()
    InboundEvent.objects.filter(pk=second.pk).update(next_attempt_at=Now())
    apply_due()
    assert [text for _, _, text in lines(conversation)] == ["first", "second"]


def test_an_answer_that_breaks_holds_up_no_later_one(toys: Toys) -> None:
    conversation, session = toys.talk()
    thread = thread_of(session)
    Session.objects.update(status="dispatching")
    toys.hear(said("first", thread=thread))
    Session.objects.update(status="active")
    InboundEvent.objects.update(attempts=1, next_attempt_at=Now() + dt.timedelta(hours=1))
    assert toys.hear(said("second", thread=thread)) == "replied"
    assert [text for _, _, text in lines(conversation)] == ["second"]


def test_a_detached_handoff_has_nobody_to_pass_words_to(toys: Toys) -> None:
    session = toys.ask()
    assert toys.hear(said("It left.", thread=thread_of(session))) == "detached"
    [told] = toys.told()
    assert told.startswith("No visitor waits in this handoff")
    assert status(session) == ("active", "")
    assert toys.hear(said(f"/release {session.release_token} It left.")) == "released"


def test_words_after_a_release_without_a_return_are_a_late_return(toys: Toys) -> None:
    conversation, session = toys.talk()
    let_the_idle_clock_run_out(session)
    assert toys.hear(said("It left\non Monday.", thread=thread_of(session))) == "late"
    now = Session.objects.get()
    assert (now.release, now.late) == ("idle_timeout", True)
    assert (now.message, now.note) == ("It left on Monday.", "It left\non Monday.")
    assert (now.outcome, now.answered_by) == ("resolved", "Mia")
    note = conversation.messages.filter(author="system").latest("pk").text
    assert note.startswith("[Late return — the recipient (Support room) answered after control")
    assert toys.told() == ["Your answer went to the assistant; the visitor is with it."]
    assert toys.hear(said("And on Tuesday.", thread=thread_of(session))) == "closed"


def test_words_to_an_unknown_handoff_release_it_as_a_late_return(toys: Toys) -> None:
    _, session = toys.talk()
    Session.objects.update(status="unknown")
    assert toys.hear(said("It left.", thread=thread_of(session))) == "late"
    now = Session.objects.get()
    assert (now.status, now.release, now.was_unknown, now.late) == (
        "released", "token", True, True,
    )  # fmt: skip
    types = Event.objects.filter(session=session).values_list("type", flat=True)
    assert "handoff.late_return" in types
    assert "handoff.released" not in types


@pytest.mark.parametrize("ended", ["answered", "failed", "clock over"])
def test_words_after_the_end_get_one_neutral_sentence_once(toys: Toys, ended: str) -> None:
    conversation, session = toys.talk()
    thread = thread_of(session)
    if ended == "answered":
        factories.answer(session, factories.form(session))
    elif ended == "failed":
        Session.objects.update(status="failed")
    else:
        let_the_idle_clock_run_out(session)
        session.links.update(expires_at=Now() - dt.timedelta(seconds=1))
    before = Session.objects.values().get()
    for _ in range(3):
        assert toys.hear(said("It left.", thread=thread)) == "closed"
    assert toys.told() == ["This handoff has ended, so your message was not passed on."]
    assert Session.objects.values().get() == before
    assert lines(conversation) == []


def test_files_are_not_carried_and_the_person_is_told(toys: Toys) -> None:
    conversation, session = toys.talk()
    thread = thread_of(session)
    assert toys.hear(said("See the picture.", thread=thread, files=2)) == "replied"
    Session.objects.update(recipient_active_at=Now() - dt.timedelta(minutes=29))
    assert toys.hear(said("", thread=thread, files=1)) == "no_text"
    assert [text for _, _, text in lines(conversation)] == ["See the picture."]
    assert toys.told() == ["Files are not passed on, only text."] * 2
    assert was_active_just_now()


def test_a_text_that_is_too_long_is_cut_and_the_person_is_told(toys: Toys) -> None:
    conversation, session = toys.talk()
    thread = thread_of(session)
    toys.hear(said("x" * TURN_TEXT_MAX, thread=thread))
    toys.hear(said("y" * (TURN_TEXT_MAX + 1), thread=thread))
    assert [text for _, _, text in lines(conversation)] == [
        "x" * TURN_TEXT_MAX, "y" * (TURN_TEXT_MAX - 1) + "…",
    ]  # fmt: skip
    assert toys.told() == [f"That was long: the first {TURN_TEXT_MAX} characters were passed on."]


def test_a_capability_in_what_is_quoted_reaches_nobody(toys: Toys) -> None:
    conversation, session = toys.talk()
    link = letters.return_url(session)
    quoted = f"See\n> {link}\n> /release {session.release_token}"
    assert toys.hear(said(quoted, thread=thread_of(session))) == "replied"
    [(_, _, text)] = lines(conversation)
    assert link.split("/r/")[1] not in text
    assert session.release_token not in text
    assert text.startswith("See\n> ")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("  Mia \u2028 of\tSales ", "Mia of Sales"),
        ("", "Support room"),
        ("mia@example.com", "Support room"),
        ("+49 (170) 123-4567", "Support room"),
        ("u-mia", "Support room"),
        ("Mia\x00\x07", "Mia\ufffd\ufffd"),
        ("x" * 300, "x" * 100),
    ],
)
def test_a_name_is_shown_as_one_line_and_never_as_an_address(
    toys: Toys, given: str, shown: str
) -> None:
    conversation, session = toys.talk()
    event = SAID.model_copy(update={"sender_name": given, "thread_key": thread_of(session)})
    assert hear(toys, event) == "replied"
    assert lines(conversation) == [("person", shown, "It left.")]


def test_what_a_database_cannot_hold_is_replaced(toys: Toys) -> None:
    conversation, session = toys.talk()
    event = SAID.model_copy(
        update={"text": "a\x00b\x1b", "thread_key": thread_of(session), "replies_to": ("\x00",)}
    )
    assert hear(toys, event) == "replied"
    assert lines(conversation) == [("person", "Mia", "a\ufffdb\ufffd")]


def test_a_handoff_takes_only_so_many_replies_an_hour_and_says_so_once(
    toys: Toys, settings: Settings
) -> None:
    settings.REPLIES_PER_HOUR = 2
    conversation, session = toys.talk()
    came = [toys.hear(said(str(n), thread=thread_of(session))) for n in range(5)]
    assert came == ["replied"] * 2 + ["too_many"] * 3
    assert len(lines(conversation)) == 2
    [told] = toys.told()
    assert told.startswith("That is more than this handoff takes within an hour")
    refused = AuditEvent.objects.filter(action="inbound.refused", reason="too_many_replies")
    assert refused.count() == 3


def test_a_channel_that_is_switched_off_still_carries_its_open_handoffs(toys: Toys) -> None:
    conversation, session = toys.talk()
    Channel.objects.update(enabled=False)
    assert toys.hear(said("It left.", thread=thread_of(session))) == "replied"
    assert len(lines(conversation)) == 1


def test_of_channels_to_one_place_the_handoff_decides_which_is_meant(toys: Toys) -> None:
    """Two agents may reach the same room."""
    other = factories.AgentFactory.create()
    channel = toy_channel(other, label="The same room")
    session = factories.requested(other, channel, factories.conversation(other))
    assert toys.hear(said("It left.", thread=thread_of(session))) == "replied"
    assert toys.hear(said("Once more.")) == "replied"
    assert toys.hear(said(f"/release {session.release_token}")) == "released"
    assert set(InboundEvent.objects.values_list("session", flat=True)) == {session.pk}
