"""The list: groups, order, search, pages, and how many queries it takes."""

import datetime as dt
import re

import pytest
from django.test import Client
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from handoff.models import Channel, Session
from handoff.selectors import inboxlists
from tests import factories, programs
from tests.inbox.conftest import Desk


def subjects(page: str) -> list[str]:
    """What stands in the list, in its order."""
    return re.findall(r'class="entry-link".*?>(.*?)</a>', page, re.DOTALL)


def groups(page: str) -> list[str]:
    return re.findall(r'<h2 class="group" id="group-(\w+)"', page)


def unreachable(desk: Desk, name: str, **args: object) -> Session:
    channel = factories.email_channel(
        desk.agent, smtp_url=f"smtp://127.0.0.1:{programs.free_port()}", label=name
    )
    return factories.requested(
        desk.agent, channel, factories.conversation(desk.agent, external_id=name), **args
    )


def test_what_is_open_comes_first_the_most_urgent_and_then_the_oldest(
    desk: Desk, inbox: Client
) -> None:
    for name, urgency in [("one", "normal"), ("two", "high"), ("three", "low"), ("four", "high")]:
        desk.asked(name, urgency=urgency, expected_action=f"Please look at {name}.")

    found = subjects(inbox.get("/inbox/").content.decode())

    assert found == [f"Please look at {name}." for name in ("two", "four", "one", "three")]


def test_every_state_has_its_group(desk: Desk, inbox: Client) -> None:
    unreachable(desk, "broken")
    desk.asked("active")
    Session.objects.filter(pk=desk.asked("waiting").pk).update(status="dispatching")
    Session.objects.filter(pk=desk.asked("unknown").pk).update(status="unknown")
    done, late = desk.asked("done"), desk.asked("late")
    for session in (done, late):
        inbox.post(f"/inbox/h/{session.public_id}/cancel/", {"reason": ""})
    factories.answer(late, factories.form(late))

    overview = inboxlists.overview(desk.owner.pk)

    assert [(section.group.value, section.total) for section in overview.sections] == [
        ("active", 1),
        ("waiting", 1),
        ("late", 1),
        ("failed", 2),
        ("done", 1),
    ]
    page = inbox.get("/inbox/").content.decode()
    assert groups(page) == ["active", "waiting", "late", "failed", "done"]
    assert "Failed: nobody was reached" in page
    assert "Answered late: resolved" in page


def test_an_old_failure_and_an_old_late_return_are_done(desk: Desk) -> None:
    failed, late = unreachable(desk, "broken"), desk.asked("late")
    factories.answer(late, factories.form(late))
    long_ago = now() - inboxlists.RECENT - dt.timedelta(minutes=1)
    Session.objects.filter(pk=failed.pk).update(created_at=long_ago)
    Session.objects.filter(pk=late.pk).update(late=True, returned_at=long_ago)

    sections = inboxlists.overview(desk.owner.pk).sections

    assert [(section.group, section.total) for section in sections] == [("done", 2)]


def test_the_list_says_who_holds_it_and_counts_both_clocks_in_words(
    desk: Desk, inbox: Client
) -> None:
    session = desk.requested()
    page = inbox.get("/inbox/").content.decode()
    assert "nobody holds it" in page

    inbox.post(f"/inbox/h/{session.public_id}/claim/")
    page = inbox.get("/inbox/").content.decode()

    assert "held by <bdi>Ada Owner</bdi>" in page
    assert re.search(r"back to the agent in (29|30)\s+minutes unless somebody acts", page)
    assert re.search(r"form open for (3 days|2 days, 23 hours)", page.replace("\xa0", " "))


@pytest.mark.parametrize(
    "searched", ["parcel", "PARCEL", "Zoe", "zoe@example.com", "order-77", "blue door"]
)
def test_a_search_finds_texts_and_subscribers(desk: Desk, inbox: Client, searched: str) -> None:
    desk.asked("somebody else")
    wanted = factories.conversation(
        desk.agent, external_id="order-77", name="Zoe", email="zoe@example.com"
    )
    desk.requested(wanted, expected_action="Find the lost parcel.")
    Desk(desk.owner, desk.agent, desk.channel, wanted).says("It has a blue door.", client_id="1")

    found = inbox.get("/inbox/", {"q": searched}).content.decode()

    assert subjects(found) == ["Find the lost parcel."]


@pytest.mark.parametrize(
    "searched", ["nothing of this", "\x00", "%", "'; --", "\u202e", "x" * 5000]
)
def test_a_search_for_anything_else_finds_nothing_and_breaks_nothing(
    desk: Desk, inbox: Client, searched: str
) -> None:
    desk.requested()
    answer = inbox.get("/inbox/", {"q": searched})
    assert answer.status_code == 200
    assert "Nothing was found." in answer.content.decode()


def test_a_long_group_is_cut_and_has_pages_of_its_own(desk: Desk, inbox: Client) -> None:
    Channel.objects.update(contact_limit_per_hour=100)
    names = [f"visitor {number:02}" for number in range(inboxlists.PAGE_ROWS + 2)]
    for name in names:
        desk.asked(name, expected_action=f"Answer {name} please.")

    whole = inbox.get("/inbox/").content.decode()
    first = inbox.get("/inbox/", {"group": "active"}).content.decode()
    second = inbox.get("/inbox/", {"group": "active", "page": "2"}).content.decode()
    beyond = inbox.get("/inbox/", {"group": "active", "page": "ninety"}).content.decode()

    assert len(subjects(whole)) == inboxlists.OVERVIEW_ROWS
    assert f"Show all {len(names)}" in whole
    assert subjects(first) + subjects(second) == [f"Answer {name} please." for name in names]
    assert "Page 2 of 2" in second
    assert subjects(beyond) == subjects(first)
    assert "Nothing is in this group" in inbox.get("/inbox/?group=late").content.decode()
    assert inbox.get("/inbox/?group=nonsense").status_code == 200


def test_the_number_of_queries_does_not_grow_with_the_list(
    desk: Desk, inbox: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        session = desk.asked(f"visitor {number}")
        inbox.post(f"/inbox/h/{session.public_id}/claim/")
    with django_assert_max_num_queries(12):
        inbox.get("/inbox/")
    with django_assert_max_num_queries(9):
        inbox.get("/inbox/?group=active&page=1")
    with django_assert_max_num_queries(16):
        inbox.get("/inbox/?q=visitor")
