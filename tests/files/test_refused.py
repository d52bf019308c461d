"""Who comes to the files of a chat without a good ticket: on the trail, and not too often."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions.tickets import mint_ticket
from handoff.models import Bucket, Conversation, File
from tests import factories
from tests.files import samples

pytestmark = pytest.mark.django_db(transaction=True)
DOORS = {
    "upload": lambda ticket: f"/files/?ticket={ticket}",
    "link": lambda ticket: f"/files/f_{'a' * 26}/link/?ticket={ticket}",
}


@pytest.fixture
def place() -> Conversation:
    return factories.conversation(factories.AgentFactory.create(name="shop"))


def trail() -> list[tuple[str, str, str]]:
    rows = AuditEvent.objects.filter(action="access.denied").order_by("pk")
    return list(rows.values_list("action", "reason", "agent"))


def post(path: str, **headers: str) -> Any:
    return Client().post(path, samples.PNG, content_type="image/png", headers=headers)


@pytest.mark.parametrize("path", DOORS.values(), ids=DOORS)
def test_what_is_refused_stands_on_the_trail(
    place: Conversation, path: Callable[[str], str]
) -> None:
    answer = post(path("made-up"))
    assert (answer.status_code, answer.json()) == (401, {"error": "Not authorised."})
    ticket = mint_ticket(place, role="subscriber").ticket
    answer = post(path(ticket), Origin="https://evil.example")
    assert (answer.status_code, answer.json()) == (
        403,
        {"error": "That token is not for this Bot."},
    )
    assert trail() == [("access.denied", "ticket", ""), ("access.denied", "not_yours", "")]
    assert not File.objects.exists()


@pytest.mark.parametrize("path", DOORS.values(), ids=DOORS)
def test_an_address_that_guesses_tickets_is_slowed_down_and_a_good_ticket_is_not(
    place: Conversation, settings: Settings, path: Callable[[str], str]
) -> None:
    settings.REFUSALS_PER_MINUTE = 2
    assert [post(path("made-up")).status_code for _ in range(3)] == [401, 401, 429]
    slowed = post(path("made-up"))
    assert (int(slowed.headers["Retry-After"]) > 0, slowed.json()["code"]) == (True, "too_fast")
    good = mint_ticket(place, role="subscriber").ticket
    assert post(DOORS["upload"](good)).status_code == 201
    assert Bucket.objects.filter(name__startswith="refused:").count() == 1
