"""Signing in to the inbox and to the admin: guessing is slow, and stands on the trail."""

import datetime as dt
import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from audit.models import Event
from handoff.actions import throttle
from handoff.actions.logins import Try
from handoff.models import Bucket
from tests import factories

PASSWORD = "correct horse battery"
DOORS = ["/inbox/login/", "/admin/login/"]
WAIT = "Too many tries to sign in. Try again in"

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return factories.UserFactory.create(username="ada", is_staff=True)


@pytest.fixture
def looked_at() -> Iterator[list[object]]:
    """One entry for each password that was checked and wrong."""
    checked: list[object] = []

    def note(**_: object) -> None:
        checked.append(1)

    user_login_failed.connect(note)
    yield checked
    user_login_failed.disconnect(note)


def sign_in(door: str, name: str, password: str, address: str = "192.0.2.7") -> tuple[int, str]:
    answer = Client().post(
        door, {"username": name, "password": password, "next": "/inbox/"}, REMOTE_ADDR=address
    )
    return answer.status_code, answer.content.decode()


def denied() -> list[tuple[str, str]]:
    rows = Event.objects.filter(action="access.denied").order_by("pk")
    return list(rows.values_list("actor", "reason"))


@pytest.mark.parametrize("door", DOORS)
def test_a_password_that_is_guessed_too_often_is_no_longer_looked_at(
    door: str, ada: User, looked_at: list[object]
) -> None:
    answers = [sign_in(door, "ada", "wrong", f"192.0.2.{n}") for n in range(12)]
    assert [status for status, _ in answers] == [200] * 10 + [429] * 2
    assert re.search(f"{WAIT} (90|[78][0-9]) seconds[.]", answers[-1][1])
    assert len(looked_at) == 10
    right = sign_in(door, "ada", PASSWORD, "192.0.2.99")
    assert right[0] == 429
    assert (
        denied()
        == [(f"user:{ada.pk}", "wrong_password")] * 10 + [(f"user:{ada.pk}", "too_fast")] * 3
    )


def test_both_doors_count_together_and_a_client_hears_when_to_come_back(ada: User) -> None:
    for n in range(10):
        sign_in(DOORS[n % 2], "ada", "wrong", f"192.0.2.{n}")
    for door in DOORS:
        answer = Client().post(door, {"username": "ADA", "password": PASSWORD})
        assert answer.status_code == 429
        assert 60 < int(answer["Retry-After"]) <= 90


@pytest.mark.parametrize("door", DOORS)
def test_an_address_that_tries_many_names_is_stopped_and_costs_the_accounts_nothing(
    door: str, ada: User
) -> None:
    statuses = [sign_in(door, f"name{n}", "wrong")[0] for n in range(31)]
    assert statuses == [200] * 30 + [429]
    assert [sign_in(door, "ada", "wrong")[0] for _ in range(11)] == [429] * 11
    assert sign_in(door, "ada", PASSWORD, "192.0.2.8")[0] == 302


@pytest.mark.parametrize("door", DOORS)
def test_a_name_that_nobody_has_is_answered_as_one_that_somebody_has(door: str, ada: User) -> None:
    known, unknown = (
        [sign_in(door, name, "wrong", f"192.0.2.{n}") for n in range(11)] for name in ("ada", "bob")
    )
    assert [status for status, _ in known] == [status for status, _ in unknown]
    for seen, other in zip(known, unknown, strict=True):
        assert (WAIT in seen[1]) == (WAIT in other[1])
    assert {actor for actor, _ in denied()} == {f"user:{ada.pk}", ""}


def test_time_gives_a_try_back(ada: User) -> None:
    for n in range(11):
        sign_in(DOORS[0], "ada", "wrong", f"192.0.2.{n}")
    Bucket.objects.update(full_at=F("full_at") - dt.timedelta(seconds=90))
    assert sign_in(DOORS[0], "ada", PASSWORD)[0] == 302


def test_the_right_password_does_not_count(ada: User) -> None:
    assert [sign_in(DOORS[0], "ada", PASSWORD)[0] for _ in range(40)] == [302] * 40


def test_a_right_password_is_no_way_to_guess_more_from_one_address(ada: User) -> None:
    for n in range(30):
        sign_in(DOORS[0], f"name{n}", "wrong")
        sign_in(DOORS[0], "ada", PASSWORD)
    assert sign_in(DOORS[0], "name31", "wrong")[0] == 429


def test_the_admin_lets_in_staff_only_and_says_so_on_the_trail() -> None:
    owner = factories.UserFactory.create(username="eve")
    assert sign_in("/admin/login/", "eve", PASSWORD)[0] == 200
    assert denied() == [(f"user:{owner.pk}", "not_allowed")]


def test_neither_the_trail_nor_a_bucket_holds_what_was_typed_or_where_it_came_from() -> None:
    sign_in(DOORS[0], "hunter2@example.com", "wrong", "192.0.2.7")
    kept = [*Event.objects.values_list(), *Bucket.objects.values_list()]
    assert kept
    assert "hunter2" not in str(kept)
    assert "192.0.2.7" not in str(kept)


@pytest.mark.parametrize("sent", [{}, {"username": "ada"}, {"username": "a\0b", "password": "x"}])
def test_what_is_no_try_costs_nothing(sent: dict[str, str]) -> None:
    assert Client().post(DOORS[0], sent).status_code == 200
    assert not Bucket.objects.exists()


def test_a_limit_of_0_is_none(ada: User, settings: Settings) -> None:
    settings.LOGINS_PER_ACCOUNT = settings.LOGINS_PER_ADDRESS = 0
    assert [sign_in(DOORS[0], "ada", "wrong")[0] for _ in range(35)] == [200] * 35
    assert sign_in(DOORS[0], "ada", PASSWORD)[0] == 302


def test_giving_back_never_makes_a_bucket_more_than_full() -> None:
    tried = Try(username="ada", remote="192.0.2.7", forwarded="")
    throttle.take_login(tried.account, tried.address)
    for _ in range(5):
        throttle.give_back_login(tried.account, tried.address)
    assert [status for status, _ in (sign_in(DOORS[0], "ada", "x") for _ in range(11))] == [
        *[200] * 10,
        429,
    ]
