"""Each event is kept once, whatever its provider does, and applied until it had its effect."""

import datetime as dt
import itertools
import logging
from functools import partial
from types import SimpleNamespace

import pytest
from django.db import connection
from django.db.models.functions import Now

from audit.models import Event as AuditEvent
from handoff import push
from handoff.actions import inbound_apply
from handoff.actions.inbound import KEPT, accept, forget_bodies
from handoff.actions.inbound_apply import apply_due
from handoff.actions.refusals import write_folds
from handoff.models import InboundEvent
from handoff.transports.inbound import Said
from tests import factories
from tests.fakes.toy_chat import said
from tests.fakes.toy_desk import Toys, lines, thread_of, toy_channel

pytestmark = pytest.mark.django_db


def words(*keys: str, text: str = "It left.", account: str = "support", thread: str = "") -> Said:
    return Said(
        keys=keys, account=account, sender_id="u-mia", text=text, place=account, thread_key=thread
    )


def test_an_event_of_which_any_key_is_known_is_a_repeat(toys: Toys) -> None:
    conversation, session = toys.talk()
    thread = thread_of(session)
    assert len(accept(toys.channel, [words("a", "b", thread=thread)])) == 1
    for keys in (("a",), ("b",), ("c", "b"), ("a", "d"), ("a", "b")):
        assert accept(toys.channel, [words(*keys, thread=thread)]) == []
    assert apply_due() == 1
    assert len(lines(conversation)) == 1
    assert sorted(InboundEvent.objects.values_list("key", flat=True)) == ["a", "b"]
    assert AuditEvent.objects.filter(action="inbound.duplicate", reason="said").count() == 5


def test_a_repeat_in_the_middle_of_many_undoes_none_of_them(toys: Toys) -> None:
    accept(toys.channel, [words("b")])
    assert len(accept(toys.channel, [words("a"), words("b"), words("c"), words("c")])) == 2
    assert sorted(InboundEvent.objects.values_list("key", flat=True)) == ["a", "b", "c"]


@pytest.mark.parametrize("key", ["x" * 5000, "a\x00b", "schlüssel", "\u2028", "a\nb"])
def test_a_key_that_no_column_holds_counts_all_the_same(toys: Toys, key: str) -> None:
    assert len(accept(toys.channel, [words(key)])) == 1
    assert accept(toys.channel, [words(key)]) == []
    assert len(accept(toys.channel, [words(key + "x")])) == 1


def test_the_same_key_in_another_channel_is_another_event(toys: Toys) -> None:
    other = toy_channel(factories.AgentFactory.create(), room="sales", secret="another")
    assert accept(toys.channel, [words("a", account="")])
    assert accept(other, [words("a", account="")])


def test_what_came_for_another_account_of_the_secret_is_kept_there(toys: Toys) -> None:
    sales = toy_channel(toys.agent, room="sales")
    [row] = accept(toys.channel, [words("a", account="sales")])
    assert InboundEvent.objects.get(pk=row).channel == sales
    assert accept(sales, [words("a", account="sales")]) == [], "by whichever address it came"


def test_the_secret_of_one_channel_speaks_for_no_other(toys: Toys) -> None:
    toy_channel(toys.agent, room="sales", secret="another")
    toy_channel(toys.agent, room="empty", secret="")
    for account in ("sales", "empty", "nobody"):
        assert accept(toys.channel, [words("a", account=account)]) == []
    assert not InboundEvent.objects.exists()
    unmatched = AuditEvent.objects.filter(action="inbound.unmatched", channel=toys.channel.pk)
    assert unmatched.filter(reason="unknown_account").count() == 3


def test_a_flood_of_repeats_is_one_row_a_minute(toys: Toys) -> None:
    for _ in range(100):
        accept(toys.channel, [words("a"), words("b")])
    listed = AuditEvent.objects.filter(action="inbound.duplicate")
    assert listed.count() == 60
    assert write_folds(unfinished=True) == 1
    assert listed.count() == 61
    folded = listed.latest("pk")
    assert folded.details == {"calls": 138, "said": 138}
    assert folded.channel == toys.channel.pk


def test_the_worker_is_woken_once_events_are_there(
    toys: Toys, django_capture_on_commit_callbacks: object
) -> None:
    signal = push.thread_signal("work")
    signal.clear()
    assert callable(django_capture_on_commit_callbacks)
    with django_capture_on_commit_callbacks(execute=True):
        accept(toys.channel, [words("a")])
        assert not signal.is_set()
    assert signal.is_set()


def test_one_event_that_breaks_stops_no_other(toys: Toys, caplog: pytest.LogCaptureFixture) -> None:
    """What breaks is real: a handoff whose row holds what its reader does not know."""
    conversation, session = toys.talk("sound")
    _, broken = toys.talk("broken")
    type(broken).objects.filter(pk=broken.pk).update(
        status="unknown", expected_return=[{"name": "x", "type": "nonsense"}]
    )
    accept(
        toys.channel,
        [words("1", thread=thread_of(broken)), words("2", thread=thread_of(session))],
    )
    with caplog.at_level(logging.ERROR, inbound_apply.__name__):
        assert apply_due() == 1
    assert "could not be applied" in caplog.text
    assert len(lines(conversation)) == 1
    row = InboundEvent.objects.get(key="1")
    assert (row.processed_at, row.attempts, row.session) == (None, 1, None)
    # it is not due again at once, then ever less often
    assert apply_due() == 0
    assert InboundEvent.objects.get(key="1").attempts == 1
    for tries in (2, 3):
        InboundEvent.objects.filter(key="1").update(next_attempt_at=Now())
        apply_due()
        row = InboundEvent.objects.annotate(now=Now()).get(key="1")
        assert row.attempts == tries
        assert row.next_attempt_at - row.now > dt.timedelta(seconds=2 ** (tries - 1) - 0.5)
    type(broken).objects.filter(pk=broken.pk).update(expected_return=[])
    InboundEvent.objects.filter(key="1").update(next_attempt_at=Now())
    assert apply_due() == 1
    assert InboundEvent.objects.get(key="1").outcome == "late"


def test_a_row_that_cannot_be_read_is_not_tried_for_ever(
    toys: Toys, caplog: pytest.LogCaptureFixture
) -> None:
    accept(toys.channel, [words("1")])
    InboundEvent.objects.update(body='{"type": "said", "secret": "of Mia"}')
    assert apply_due() == 1
    assert InboundEvent.objects.get().outcome == "unreadable"
    assert "of Mia" not in caplog.text


def test_while_the_settings_cannot_be_read_events_wait(toys: Toys) -> None:
    conversation, session = toys.talk()
    toys.post(said("It left.", thread=thread_of(session)))
    sealed = toys.channel.sealed_settings
    type(toys.channel).objects.update(sealed_settings="lost")
    assert apply_due() == 0
    type(toys.channel).objects.update(sealed_settings=sealed)
    InboundEvent.objects.update(next_attempt_at=Now())
    assert apply_due() == 1
    assert len(lines(conversation)) == 1


def test_a_talkative_channel_holds_up_no_other_and_no_clock(
    toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    sales = toy_channel(toys.agent, room="sales")
    accept(toys.channel, [words(str(n)) for n in range(30)])
    accept(sales, [words("other", account="sales")])
    # each look at the clock finds it half a second later
    clock = SimpleNamespace(monotonic=partial(next, itertools.count(0, 0.5)))
    monkeypatch.setattr(inbound_apply, "time", clock)
    signal = push.thread_signal("work")
    signal.clear()
    assert apply_due() == 4
    assert signal.is_set(), "the rest is looked at again, after the clocks"
    assert InboundEvent.objects.get(channel=sales).processed_at is not None


def test_a_process_that_stops_applies_nothing_further(
    toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(toys.channel, [words("1")])
    with monkeypatch.context() as stopping:
        stopping.setattr(push, "stopping", True)
        assert apply_due() == 0
    assert apply_due() == 1


@pytest.mark.postgres
def test_what_is_done_costs_the_next_look_nothing(toys: Toys) -> None:
    """The table only grows."""
    accept(toys.channel, [words(str(number)) for number in range(500)])
    InboundEvent.objects.update(processed_at=Now(), answered_at=Now())
    accept(toys.channel, [words("new")])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE handoff_inboundevent")
        cursor.execute(
            "EXPLAIN SELECT min(id) FROM handoff_inboundevent WHERE processed_at IS NULL"
            " AND next_attempt_at <= now() GROUP BY channel_id"
        )
        assert "inbound_event_due" in str(cursor.fetchall())
        cursor.execute(
            "EXPLAIN SELECT id FROM handoff_inboundevent WHERE answered_at IS NULL"
            " AND NOT (answer = '') AND processed_at > now() ORDER BY processed_at LIMIT 20"
        )
        assert "inbound_event_owes" in str(cursor.fetchall())


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("handoff_attempt WHERE provider_message_id IN ('a', 'b')", "attempt_provider_id"),
        ("handoff_attempt WHERE thread_key = 'a'", "attempt_thread"),
        ("handoff_delivery WHERE provider_message_id = 'a'", "delivery_provider_id"),
    ],
)
def test_what_was_sent_is_found_by_what_a_provider_calls_it(
    db: None, condition: str, index: str
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN SELECT id FROM {condition}")
        assert index in str(cursor.fetchall())


def test_what_people_wrote_is_forgotten_after_a_while_and_a_repeat_stays_one(toys: Toys) -> None:
    conversation, session = toys.talk()
    written = said("It left on Monday.", thread=thread_of(session))
    assert toys.hear(written) == "replied"
    assert forget_bodies() == 0
    InboundEvent.objects.update(processed_at=Now() - KEPT - dt.timedelta(seconds=1))
    assert forget_bodies() == 1
    assert InboundEvent.objects.get(outcome="replied").body == ""
    assert toys.post(written).status == 200
    assert InboundEvent.objects.filter(processed_at=None).count() == 0
    assert [text for _, _, text in lines(conversation)] == ["It left on Monday."]
