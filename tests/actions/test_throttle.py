"""Token buckets: never more than a limit lets through, by the database's clock."""

import datetime as dt
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries, Settings

from handoff.actions import addresses, lots, throttle
from handoff.actions.turns import post_turn
from handoff.actions.writing import writing
from handoff.contract.turns import TurnBody
from handoff.errors import Refused, TooFast
from handoff.models import Bucket
from handoff.selectors.tokens import Caller
from tests import factories

HOUR = 3600.0


def lets_through(bucket: str, *, rate: float, burst: int) -> bool:
    try:
        throttle.take(bucket, rate=rate, burst=burst)
    except TooFast:
        return False
    return True


def later(seconds: float) -> None:
    """What a bucket is like after so many seconds."""
    Bucket.objects.update(full_at=F("full_at") - dt.timedelta(seconds=seconds))


@pytest.mark.django_db
@pytest.mark.parametrize("burst", [1, 2, 7, 30])
def test_a_full_bucket_lets_its_burst_through_and_not_one_more(burst: int) -> None:
    taken = [lets_through("x", rate=burst / HOUR, burst=burst) for _ in range(burst + 1)]
    assert taken == [True] * burst + [False]
    assert lets_through("y", rate=1, burst=1)


@pytest.mark.django_db
def test_time_gives_back_one_token_after_the_other() -> None:
    for _ in range(30):
        throttle.take("x", rate=0.5, burst=30)
    later(1)
    assert not lets_through("x", rate=0.5, burst=30)
    later(1)
    assert lets_through("x", rate=0.5, burst=30)
    assert not lets_through("x", rate=0.5, burst=30)


@pytest.mark.django_db
def test_an_idle_bucket_holds_no_more_than_its_burst() -> None:
    throttle.take("x", rate=1 / 60, burst=3)
    later(24 * HOUR)
    assert [lets_through("x", rate=1 / 60, burst=3) for _ in range(4)] == [True] * 3 + [False]


@pytest.mark.django_db
def test_a_refusal_says_when_and_is_true_about_it() -> None:
    throttle.take("x", rate=1 / 20, burst=1)
    with pytest.raises(TooFast) as refusal:
        throttle.take("x", rate=1 / 20, burst=1)
    assert refusal.value.retry_after == 20
    assert refusal.value.sentence == (
        "Too many calls. This one did nothing; call again in 20 seconds."
    )
    later(refusal.value.retry_after)
    assert lets_through("x", rate=1 / 20, burst=1)
    later(19.5)
    with pytest.raises(TooFast, match="call again in 1 second\\."):
        throttle.take("x", rate=1 / 20, burst=1)


@pytest.mark.django_db
def test_refusals_do_not_make_the_wait_longer() -> None:
    throttle.take("x", rate=1 / 20, burst=1)
    for _ in range(50):
        assert not lets_through("x", rate=1 / 20, burst=1)
    later(20)
    assert lets_through("x", rate=1 / 20, burst=1)


@pytest.mark.django_db
def test_a_call_that_is_let_through_costs_one_update(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    throttle.take("x", rate=1, burst=10)
    with django_assert_num_queries(1) as queries:
        throttle.take("x", rate=1, burst=10)
    assert queries.captured_queries[0]["sql"].startswith("UPDATE")


@pytest.mark.django_db
def test_a_turn_of_a_chat_costs_one_update_more_in_its_own_transaction(
    settings: Settings,
) -> None:
    talk = factories.conversation(factories.AgentFactory.create())

    def queries(client_id: str) -> int:
        body = TurnBody(client_id=client_id, author="subscriber", text="Hello")
        with CaptureQueriesContext(connection) as captured:
            post_turn(talk, body)
        return len(captured)

    queries("first")
    limited = queries("second")
    settings.TURNS_PER_SECOND = 0
    assert limited - queries("third") == 1


@pytest.mark.django_db
def test_what_is_rolled_back_was_not_counted() -> None:
    throttle.take("x", rate=1 / HOUR, burst=2)

    def refused_after_all() -> None:
        with writing():
            throttle.take("x", rate=1 / HOUR, burst=2)
            raise Refused("contact_limit", "Not now.")

    with pytest.raises(Refused):
        refused_after_all()
    assert [lets_through("x", rate=1 / HOUR, burst=2) for _ in range(2)] == [True, False]


@pytest.mark.django_db
def test_the_sweep_removes_full_buckets_and_forgets_nothing() -> None:
    throttle.take("old", rate=1, burst=5)
    later(HOUR)
    throttle.take("new", rate=1 / HOUR, burst=1)
    assert throttle.forget_full() == 1
    assert list(Bucket.objects.values_list("name", flat=True)) == ["new"]
    assert not lets_through("new", rate=1 / HOUR, burst=1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_new", [True, False], ids=["no row yet", "a row"])
def test_sixteen_threads_never_get_more_than_the_burst(is_new: bool) -> None:
    burst, threads = 25, 16
    if not is_new:
        throttle.take("x", rate=1000, burst=burst)
        later(1)
    together = threading.Barrier(threads)

    def race(_: int) -> int:
        together.wait(10)
        try:
            return sum(lets_through("x", rate=burst / HOUR, burst=burst) for _ in range(5))
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        assert sum(pool.map(race, range(threads))) == burst


@pytest.mark.django_db(transaction=True)
def test_a_sweep_in_the_middle_of_a_race_gives_nothing_away() -> None:
    burst = 40
    over = threading.Event()

    def sweep() -> None:
        try:
            while not over.is_set():
                throttle.forget_full()
        finally:
            connection.close()

    def race(_: int) -> int:
        try:
            return sum(lets_through("x", rate=burst / HOUR, burst=burst) for _ in range(20))
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        sweeping = pool.submit(sweep)
        taken = sum(pool.map(race, range(4)))
        over.set()
        sweeping.result()
    assert taken == burst


def calls_let_through(caller: Caller, *, at_most: int) -> int:
    for number in range(at_most):
        try:
            throttle.take_call(caller)
        except TooFast:
            return number
    return at_most


@pytest.mark.django_db(transaction=True)
def test_plain_calls_are_taken_a_second_s_worth_at_a_time(
    settings: Settings, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    settings.CALLS_PER_MINUTE = 600
    caller = factories.caller(factories.AgentFactory.create())
    throttle.take_call(caller)
    with django_assert_num_queries(0):
        assert calls_let_through(caller, at_most=9) == 9
    with django_assert_num_queries(1):
        assert calls_let_through(caller, at_most=10) == 10


@pytest.mark.django_db(transaction=True)
def test_plain_calls_reach_their_limit_to_the_last_one(settings: Settings) -> None:
    settings.CALLS_PER_MINUTE = 125
    caller = factories.caller(factories.AgentFactory.create())
    began = time.monotonic()
    made = calls_let_through(caller, at_most=1000)
    assert 125 <= made <= 125 + (time.monotonic() - began) * 125 / 60 + 1


@pytest.mark.django_db(transaction=True)
def test_a_lot_that_is_not_spent_in_time_is_lost(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lots, "KEPT_SECONDS", 0.0)
    settings.CALLS_PER_MINUTE = 600
    caller = factories.caller(factories.AgentFactory.create())
    began = time.monotonic()
    made = calls_let_through(caller, at_most=1000)
    assert 60 <= made <= 69 + (time.monotonic() - began) * 10 + 1


@pytest.mark.django_db
def test_a_limit_of_nought_is_none(settings: Settings) -> None:
    settings.HANDOFFS_PER_MINUTE = 0
    agent = factories.AgentFactory.create()
    for _ in range(100):
        throttle.take_handoff(agent)
    assert not Bucket.objects.exists()


def test_an_address_is_only_ever_a_keyed_hash(settings: Settings) -> None:
    found = addresses.hashed("203.0.113.7", "")
    assert len(found) == 32
    assert "203.0" not in found
    settings.SECRET_KEY = "another"
    assert addresses.hashed("203.0.113.7", "") != found


def test_a_forwarded_address_counts_only_behind_a_trusted_proxy(settings: Settings) -> None:
    plain = addresses.hashed("203.0.113.7", "")
    assert addresses.hashed("203.0.113.7", "198.51.100.1") == plain
    settings.TRUST_PROXY = True
    assert addresses.hashed("10.0.0.1", "6.6.6.6, 203.0.113.7") == plain
    assert addresses.hashed("10.0.0.1", "203.0.113.7, 6.6.6.6") != plain
    assert addresses.hashed("203.0.113.7", "") == plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("203.0.113.7", "203.0.113.7:4711"),
        ("203.0.113.7", "::ffff:203.0.113.7"),
        ("2001:db8::1", "2001:db8::ffff:1"),
        ("2001:db8::1", "[2001:db8::1]:443"),
        ("2001:db8::1", "2001:db8::1%eth0"),
        ("", "unix:"),
    ],
)
def test_one_client_is_one_address_however_it_is_written(one: str, other: str) -> None:
    assert addresses.hashed(one, "") == addresses.hashed(other, "")


def test_another_network_is_another_address() -> None:
    hosts = ["203.0.113.7", "203.0.113.8", "2001:db8::1", "2001:db8:0:1::1"]
    assert len({addresses.hashed(host, "") for host in hosts}) == 4
