"""What ended long ago costs the list nothing: indexes, how far back it goes, how long it takes."""

import re
import time
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from handoff.actions.endings import back_to_bot
from handoff.models import Conversation, Message, Session
from handoff.selectors import inboxes, inboxlists
from handoff.selectors.inboxfilters import Wanted
from tests.inbox.conftest import Desk
from tests.inbox.test_list import subjects
from tests.reliability.figures import report
from tests.reliability.sizes import sizes

INDEXES = {
    "sqlite": {"session_by_status", "session_late"},
    "postgresql": {"session_by_status", "session_late", "session_by_end"},
}
"""SQLite finds what is done by its status, and sorts it."""


def fill(desk: Desk, handoffs: int, lines: int) -> None:
    """So many handoffs that have ended, each with a conversation of so many lines."""
    session = desk.requested()
    back_to_bot(desk.conversation.pk)
    session.refresh_from_db()
    talks = Conversation.objects.bulk_create(
        [
            Conversation(agent=desk.agent, external_id=f"old-{n}", subscriber_name=f"Visitor {n}")
            for n in range(handoffs)
        ]
    )
    copied = {
        name: getattr(session, name)
        for name in ("agent", "channel", "status", "release", "released_at", "expected_action")
    }
    Session.objects.bulk_create(
        [Session(conversation=talk, summary=f"Order {talk.pk}", **copied) for talk in talks]
    )
    said = "The parcel has not come, and nobody at the shop picks the telephone up."
    Message.objects.bulk_create(
        [
            Message(conversation=talk, event_id=n, author="subscriber", text=f"{said} {n}")
            for talk in talks
            for n in range(lines)
        ],
        batch_size=2000,
    )


def plans(queries: CaptureQueriesContext) -> Iterator[str]:
    """How the database goes about each of the queries."""
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    for query in queries.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute(f"{explain} {query['sql']}")
            yield "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.slow
def test_every_group_is_read_by_its_index(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inboxlists, "DONE_MAX", 50)
    fill(desk, 3_000, 4)
    desk.requested()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    with CaptureQueriesContext(connection) as queries:
        inboxlists.overview(desk.owner.pk)
        inboxes.waiting(desk.owner.pk)
    with CaptureQueriesContext(connection) as searching:
        inboxlists.overview(desk.owner.pk, wanted=Wanted(search="giraffe"))

    listed, searched = list(plans(queries)), list(plans(searching))

    wanted = INDEXES[connection.vendor]
    assert {name for name in wanted if any(name in plan for plan in listed)} == wanted
    whole = re.compile(r"(Seq Scan on|SCAN) handoff_(session|message)\b(?! USING)")
    assert [plan for plan in listed + searched if whole.search(plan)] == []


def test_of_what_is_done_the_latest_are_listed_and_searched(
    desk: Desk, inbox: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inboxlists, "DONE_MAX", 3)
    for number in range(5):
        session = desk.requested(expected_action=f"Find parcel {number}.")
        back_to_bot(desk.conversation.pk)
        if not number:
            oldest = session

    def page(**query: str) -> str:
        return inbox.get("/inbox/", query).content.decode()

    latest = [f"Find parcel {number}." for number in (4, 3, 2)]
    assert subjects(page()) == latest
    assert '<span class="badge">3+</span>' in page()
    assert subjects(page(group="done")) == latest
    assert "The latest 3 are listed." in page(group="done")
    assert subjects(page(q="parcel")) == latest
    assert subjects(page(q="parcel 0")) == []
    assert "the latest 3 were looked through" in page(q="parcel 0")
    assert subjects(page(q=oldest.public_id)) == ["Find parcel 0."]
    assert subjects(page(q=desk.conversation.public_id)) == latest
    monkeypatch.setattr(inboxlists, "DONE_MAX", 6)
    assert subjects(page(q="parcel 0")) == ["Find parcel 0."]
    assert "were looked through" not in page(q="parcel 0")


def test_a_page_of_a_search_reads_only_who_waits_again(desk: Desk, inbox: Client) -> None:
    session = desk.requested()
    searched = inbox.get("/inbox/", {"q": "order"}).content.decode()
    plain = inbox.get("/inbox/").content.decode()
    assert 'data-alerts="/inbox/alerts/"' in searched
    assert "data-alerts" not in plain
    with CaptureQueriesContext(connection) as queries:
        alerts = inbox.get("/inbox/alerts/").content.decode()
    assert f'data-waiting="{session.public_id}"' in alerts
    assert "<title>(1) Inbox" in alerts
    assert 'id="list"' not in alerts
    assert len(queries) <= 3
    assert Client().get("/inbox/alerts/").status_code == 302


@sizes(quick=1_000, full=20_000)
def test_the_list_and_its_search_stay_fast_with_many_handoffs(
    desk: Desk, inbox: Client, size: int
) -> None:
    lines = 10
    fill(desk, size, lines)
    asked: dict[str, dict[str, str]] = {
        "list": {},
        "filtered": {"who": "nobody", "urgency": "normal"},
        "last page": {"group": "done", "page": "9999"},
        "found often": {"q": "parcel"},
        "found nowhere": {"q": "giraffe"},
    }
    took = {}
    for name, query in asked.items():
        began = time.perf_counter()
        assert inbox.get("/inbox/", query).status_code == 200
        took[name] = time.perf_counter() - began
    words = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in took.items())
    report("inbox", f"{size} handoffs, {size * lines} lines: {words}")
    assert max(took.values()) < 3 + size / 2_000, words
