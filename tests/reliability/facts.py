"""The checks: what in the rows, and in what people got, contradicts the failure model.

Each returns its faults as sentences; none is what a test wants, or some of a broken variant.
"""

import collections
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tests.reliability.mails import Mail
from tests.reliability.rows import Row, Rows

RELEASED: Final = "handoff.released"
CANCELLED: Final = "handoff.cancelled"
LATE: Final = "handoff.late_return"
_ENDS: Final = f"('{RELEASED}', '{CANCELLED}', '{LATE}')"
_NOTE_WORDS: Final = {
    "form": "the recipient (",
    "owner": "the owner has handed control back",
    "subscriber": "the visitor asked to be back with the bot",
    "idle_timeout": "nothing was heard from the recipient",
    "cancelled": "the handoff was cancelled",
}
_OUTCOMES: Final = {
    "accepted": "handoff.dispatched",
    "refused": "handoff.dispatch_failed",
    "unknown": "handoff.dispatch_unknown",
}


def release_faults(rows: Rows) -> list[str]:
    """One release event for each session that ended, and the same said everywhere: in the
    session, the event log, the trail, the note, the set of values that counts.
    """
    events = _grouped(
        rows.read(f"SELECT session_id AS k, type AS v FROM handoff_event WHERE type IN {_ENDS}")
    )
    trail = _grouped(
        rows.read(f"SELECT session AS k, action AS v FROM audit_event WHERE action IN {_ENDS}")
    )
    reasons = _grouped(
        rows.read(
            "SELECT session AS k, reason AS v FROM audit_event"
            f" WHERE action IN ('{RELEASED}', '{CANCELLED}')"
        )
    )
    note_types = _grouped(
        rows.read("SELECT session_id AS k, note_type AS v FROM handoff_message WHERE note_type<>''")
    )
    notes = _grouped(
        rows.read(
            "SELECT session_id AS k, text AS v FROM handoff_message"
            f" WHERE note_type IN ('{RELEASED}', '{CANCELLED}')"
        )
    )
    faults = []
    for session in rows.read(
        'SELECT id, public_id, status, "release" AS kind, late, was_unknown, conversation_id'
        " FROM handoff_session"
    ):
        name, pk, kind = session["public_id"], session["id"], session["kind"]
        wanted = _ends(session)
        said = {"events": events[pk], "trail": trail[name]}
        if session["conversation_id"] is not None:
            said["notes"] = note_types[pk]
        faults += [
            f"{name} ended as {kind or session['status']}, its {where} say {sorted(found)}"
            for where, found in said.items()
            if sorted(found) != sorted(wanted)
        ]
        if any(reason != kind for reason in reasons[name]):
            faults.append(f"{name} ended as {kind}, the trail says {reasons[name]}")
        if any(_NOTE_WORDS.get(kind, "") not in text for text in notes[pk]):
            faults.append(f"{name} ended as {kind}, a note says {notes[pk]}")
    return faults + value_faults(rows)


def _ends(session: Row) -> list[str]:
    if session["status"] != "released":
        return []
    if session["kind"] == "form" and session["was_unknown"]:
        return [LATE]
    first = CANCELLED if session["kind"] == "cancelled" else RELEASED
    return [first, LATE] if session["late"] else [first]


def value_faults(rows: Rows) -> list[str]:
    """The values of a session are those of the one submission that counts."""
    counted = _grouped(
        rows.read(
            "SELECT session_id AS k, entries FROM handoff_submission WHERE kind <> 'amendment'"
        ),
        value="entries",
    )
    faults = []
    for session in rows.read("SELECT id, public_id, returned, returned_at FROM handoff_session"):
        mine = counted[session["id"]]
        if len(mine) != (1 if session["returned_at"] else 0):
            faults.append(f"{session['public_id']} counts {len(mine)} sets of values")
        elif mine and mine[0].get("notes") != session["returned"]["values"].get("notes"):
            faults.append(f"{session['public_id']} holds the values of another form")
    return faults


def contact_faults(rows: Rows, mails: Iterable[Mail]) -> list[str]:
    """Every request that a person got was committed before, was sent once for each call and
    attempt, and is what its attempt and the trail say; no attempt is left open.
    """
    requests = [mail for mail in mails if mail.is_request]
    got = collections.Counter((mail.session, mail.number) for mail in requests)
    asked = collections.Counter(mail.mark for mail in requests)
    trail = _grouped(
        rows.read(
            "SELECT attempt AS k, action AS v FROM audit_event WHERE action IN"
            f" {tuple(_OUTCOMES.values())}"
        )
    )
    requested = _grouped(
        rows.read("SELECT session AS k, id AS v FROM audit_event WHERE action='handoff.requested'")
    )
    faults = [
        f"{session}, attempt {number}: sent {times} times"
        for (session, number), times in got.items()
        if times > 1
    ]
    faults += [f"{mark}: asked {times} times" for mark, times in asked.items() if times > 1]
    known = set()
    for attempt in rows.read(
        "SELECT a.public_id, a.number, a.status, s.public_id AS session FROM handoff_attempt a"
        " JOIN handoff_session s ON s.id = a.session_id"
    ):
        place = (attempt["session"], attempt["number"])
        known.add(place)
        name, status = f"{place[0]}, attempt {place[1]}", attempt["status"]
        if status == "accepted" and not got[place]:
            faults.append(f"{name}: marked as accepted, and never sent")
        if status == "refused" and got[place]:
            faults.append(f"{name}: marked as refused, and it was taken")
        if status == "sending":
            faults.append(f"{name}: unresolved")
        elif trail[attempt["public_id"]] != [_OUTCOMES[status]]:
            faults.append(f"{name}: {status}, the trail says {trail[attempt['public_id']]}")
        if len(requested[place[0]]) != 1:
            faults.append(f"{name}: requested {len(requested[place[0]])} times in the trail")
    return faults + [
        f"{session}, attempt {number}: sent, and no row knows of it"
        for session, number in got
        if (session, number) not in known
    ]


def _grouped(rows: Iterable[Row], *, value: str = "v") -> Mapping[object, list[Any]]:
    found: collections.defaultdict[object, list[Any]] = collections.defaultdict(list)
    for row in rows:
        found[row["k"]].append(row[value])
    return found
