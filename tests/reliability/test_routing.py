"""Row 23: each line of a subscriber is handled by the recipient or by the agent, in order."""

import collections
from pathlib import Path

import pytest

from tests.fakes.smtp import SmtpServer
from tests.reliability import routing
from tests.reliability.doors import Doors
from tests.reliability.figures import report
from tests.reliability.mails import Mails
from tests.reliability.outside.broken import Variant
from tests.reliability.place import Place
from tests.reliability.routing import LINES, WRITERS, Talk
from tests.reliability.rows import Row, Rows
from tests.reliability.sizes import sizes


def faults_of(talks: list[Talk], place: Place, doors: Doors, mails: Mails) -> list[str]:
    rows, bounds = messages(place.rows), bypasses(place.rows)
    agent = [line["text"] for line in routing.agents_log(doors)]
    by_talk: dict[str, list[str]] = collections.defaultdict(list)
    owner = {post.mark: talk.mark for talk in talks for post in talk.posts}
    for mark in agent:
        by_talk[owner[mark]].append(mark)
    found: list[str] = []
    for talk in talks:
        found += routing.partition_faults(
            talk,
            rows=rows[talk.mark],
            agent=by_talk[talk.mark],
            mails=mails.of(talk.session),
            lost=routing.undelivered(doors, talk),
        )
        found += routing.bypass_faults(talk, rows[talk.mark], bounds[talk.mark])
    return found + place.tracebacks()


def messages(rows: Rows) -> dict[str, list[Row]]:
    """The subscriber's lines of each conversation, in its order."""
    found: dict[str, list[Row]] = collections.defaultdict(list)
    for row in rows.read(
        "SELECT c.external_id, m.event_id, m.text, m.routed_to FROM handoff_message m"
        " JOIN handoff_conversation c ON c.id = m.conversation_id"
        " WHERE m.author = 'subscriber' ORDER BY m.event_id"
    ):
        found[row["external_id"]].append(row)
    return found


def bypasses(rows: Rows) -> dict[str, dict[str, int]]:
    """The numbers of the events between which each conversation was the recipient's."""
    found: dict[str, dict[str, int]] = collections.defaultdict(dict)
    for row in rows.read(
        "SELECT c.external_id, e.type, e.conversation_number AS n FROM handoff_event e"
        " JOIN handoff_conversation c ON c.id = e.conversation_id"
        " WHERE e.type IN ('handoff.started', 'handoff.released', 'handoff.cancelled')"
    ):
        where = "start" if row["type"] == "handoff.started" else "end"
        assert where not in found[row["external_id"]], "it began or ended twice"
        found[row["external_id"]][where] = row["n"]
    return found


@sizes(quick=450, full=25_000)
def test_each_line_is_handled_by_exactly_one_side(
    tmp_path: Path, database_url: str, size: int
) -> None:
    with SmtpServer() as smtp:
        place = Place(tmp_path / "desk", database_url, smtp_url=smtp.url)
        with place.serving() as doors:
            talks = routing.talks(doors, size // (WRITERS * LINES))
            routing.settle(place.rows)
            assert faults_of(talks, place, doors, Mails(smtp)) == []
    sides = collections.Counter(post.routed_to for talk in talks for post in talk.posts)
    named = place.rows.count("SELECT count(*) AS n FROM handoff_message WHERE undelivered")
    report(
        23,
        f"{sides.total()} lines around {len(talks)} releases: {sides['agent']} to the agent,"
        f" {sides['recipient']} to the recipient ({named} of them named as undelivered),"
        " 0 to both, 0 to neither, 0 out of order",
    )


@pytest.mark.slow
def test_routing_without_the_lock_is_caught(tmp_path: Path, database_url: str) -> None:
    with SmtpServer() as smtp:
        place = Place(tmp_path / "desk", database_url, smtp_url=smtp.url)
        with place.serving(variant=Variant.ROUTES_UNLOCKED) as doors:
            talks = routing.talks(doors, 4)
            routing.settle(place.rows)
            found = faults_of(talks, place, doors, Mails(smtp))
    assert any("bypass" in fault for fault in found)
