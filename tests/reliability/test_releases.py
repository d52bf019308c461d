"""Rows 2 and 3: rivals release one session at the same moment, and forms come in parallel.

All through the real doors of a running server; what the rows say afterwards is checked whole.
"""

import collections
import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.reliability import facts, races
from tests.reliability.doors import Doors, Reply, ask_for_the_bot
from tests.reliability.figures import report
from tests.reliability.outside.broken import Variant
from tests.reliability.place import Place
from tests.reliability.rows import Rows
from tests.reliability.sizes import sizes
from tests.reliability.stories import new_mark

AT_ONCE: Final = 3
"""Sessions that are fought over at the same time; each has four rivals."""
JITTER_SECONDS: Final = 0.25
"""More than the slowest door takes, so that each rival is first now and then."""
SWEEPS_OFTEN: Final = {"HANDOFF_WORKER_SECONDS": "0.05"}


class Contest:
    """Four rivals for each session: the form, the owner's button, the agent's cancel, and in
    turn the visitor who wants the bot back or the idle clock, which runs out at that moment.
    """

    def __init__(self, place: Place, doors: Doors) -> None:
        self._place = place
        self._doors = doors

    def hold(self, size: int) -> None:
        """So many contests, some at a time."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for contest in [pool.submit(self._one, number) for number in range(size)]:
                contest.result()

    def _one(self, number: int) -> None:
        doors, mark = self._doors, new_mark()
        session = races.handed_over(doors, mark)
        token = races.token_of(self._place.rows, session)
        named = {"handoff_session_id": session}
        three = [
            partial(doors.form, token, mark, order_status="lost", notes=mark),
            partial(doors.press, "release", session, outcome="declined"),
            partial(doors.tool, "handoff_cancel", named),
        ]
        actors: list[Callable[[], object]] = [partial(races.answered, rival) for rival in three]
        if number % 2:
            actors.append(self._idle_clock(session))
            races.together(actors, within=JITTER_SECONDS)
            return
        with doors.chat(doors.ticket(doors.conversation(mark))) as socket:
            actors.append(partial(ask_for_the_bot, socket))
            races.together(actors, within=JITTER_SECONDS)

    def _idle_clock(self, session: str) -> Callable[[], object]:
        """The channel's clock is one minute; the sweep looks every 50 ms."""
        postgres = not self._place.rows.url.startswith("sqlite")

        def run_out() -> None:
            ago = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=60)
            at = f"{ago:%Y-%m-%d %H:%M:%S.%f}{'+00' if postgres else ''}"
            self._place.rows.write(
                f"UPDATE handoff_session SET recipient_active_at = '{at}'"
                f" WHERE public_id = '{session}'"
            )

        return run_out


@sizes(quick=60, full=2000)
def test_of_four_rivals_one_releases(tmp_path: Path, database_url: str, size: int) -> None:
    place = Place(tmp_path / "desk", database_url)
    with place.serving(**SWEEPS_OFTEN) as doors:
        Contest(place, doors).hold(size)
    assert facts.release_faults(place.rows) == []
    assert place.tracebacks() == []
    kinds = collections.Counter(
        row["kind"] for row in place.rows.read('SELECT "release" AS kind FROM handoff_session')
    )
    assert kinds.total() == size
    won = ", ".join(f"{kind} {times}" for kind, times in sorted(kinds.items()))
    report(2, f"{size} sessions, 4 rivals each: 1 release event each (won: {won})")


@pytest.mark.slow
def test_a_release_that_reads_before_it_writes_is_caught(tmp_path: Path, database_url: str) -> None:
    place = Place(tmp_path / "desk", database_url)
    with place.serving(variant=Variant.READ_THEN_WRITE, **SWEEPS_OFTEN) as doors:
        Contest(place, doors).hold(20)
    found = facts.release_faults(place.rows)
    assert any("its events say" in fault for fault in found)
    assert any("its trail say" in fault for fault in found)


@sizes(quick=25, full=1000)
def test_of_parallel_forms_one_set_of_values_counts(
    tmp_path: Path, database_url: str, size: int
) -> None:
    """Every fourth form is sent twice, as a browser does that heard nothing."""
    place = Place(tmp_path / "desk", database_url)
    sent: dict[str, set[str]] = {}
    posts = 0
    with place.serving() as doors:
        for number in range(size):
            session = races.handed_over(doors, new_mark())
            token = races.token_of(place.rows, session)
            marks = [new_mark() for _ in range(2 + number % 7)]
            twice = [*marks, *marks[::4]]
            replies = races.together([_form(doors, token, mark) for mark in twice])
            assert {reply.status for reply in replies} == {200}
            sent[session] = set(marks)
            posts += len(twice)
    assert facts.release_faults(place.rows) == []
    assert place.tracebacks() == []
    assert kept_entries(place.rows) == sent
    report(
        3,
        f"{size} sessions, {posts} forms in parallel: 1 set of values each,"
        f" the other {sum(map(len, sent.values())) - size} kept as amendments, 0 lost",
    )


def _form(doors: Doors, token: str, mark: str) -> Callable[[], Reply]:
    form = partial(doors.form, token, mark, order_status="lost", notes=mark)
    return partial(races.answered, form)


def kept_entries(rows: Rows) -> dict[str, set[str]]:
    """The mark of every set of entries that a session keeps; each is kept once."""
    kept: dict[str, set[str]] = {}
    for row in rows.read(
        "SELECT s.public_id, u.entries FROM handoff_submission u"
        " JOIN handoff_session s ON s.id = u.session_id"
    ):
        marks = kept.setdefault(row["public_id"], set())
        assert row["entries"]["notes"] not in marks, "a repeat was kept twice"
        marks.add(row["entries"]["notes"])
    return kept
