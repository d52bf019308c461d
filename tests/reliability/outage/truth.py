"""What the rows and the mailbox say about calls that were answered during an outage."""

import dataclasses
from collections import Counter

from tests.reliability.outage.struck import Struck

HALF_FACTS = {
    "sessions and their requests on the trail": (
        "SELECT (SELECT count(*) FROM handoff_session)"
        " - (SELECT count(*) FROM audit_event WHERE action = 'handoff.requested')"
    ),
    "accepted attempts and their rows on the trail": (
        "SELECT (SELECT count(*) FROM handoff_attempt WHERE status = 'accepted')"
        " - (SELECT count(*) FROM audit_event WHERE action = 'handoff.dispatched')"
    ),
    "unknown attempts and their rows on the trail": (
        "SELECT (SELECT count(*) FROM handoff_attempt WHERE status = 'unknown')"
        " - (SELECT count(*) FROM audit_event WHERE action = 'handoff.dispatch_unknown')"
    ),
    "sessions without an attempt": (
        "SELECT count(*) FROM handoff_session s"
        " WHERE NOT EXISTS (SELECT 1 FROM handoff_attempt a WHERE a.session_id = s.id)"
    ),
    "sessions without a link": (
        "SELECT count(*) FROM handoff_session s"
        " WHERE NOT EXISTS (SELECT 1 FROM handoff_returnlink l WHERE l.session_id = s.id)"
    ),
    "attempts that are still open": (
        "SELECT count(*) FROM handoff_attempt WHERE status = 'sending'"
    ),
    "sessions that are still being sent": (
        "SELECT count(*) FROM handoff_session WHERE status = 'dispatching'"
    ),
}
"""Each is 0 once the reconciler ran."""


@dataclasses.dataclass(frozen=True)
class Judgement:
    words: Counter[str]
    """How many answers of each kind were given."""
    gaps: int
    """Rows that stand for an answer 503."""

    @property
    def refusals(self) -> int:
        return self.words["desk_unavailable"] + self.words["outcome_unrecorded"]

    def __str__(self) -> str:
        return ", ".join(f"{count} {word}" for word, count in sorted(self.words.items()))


def judge(struck: Struck) -> Judgement:
    """Compares every answer with what happened; the reconciler must have run."""
    for what, statement in HALF_FACTS.items():
        assert struck.sql(statement) == [(0,)], what
    mails = struck.mails()
    assert max(mails.values(), default=0) <= 1, "somebody was asked twice"
    status = {
        summary.rpartition(" ")[2]: state
        for summary, state in struck.sql("SELECT summary, status FROM handoff_session")
    }
    assert set(mails) <= set(status), "somebody was contacted without a row"
    for answered in struck.answers:
        if not answered.marker:
            continue
        came, state = mails[answered.marker], status.get(answered.marker)
        if answered.word == "handed over":
            assert state == "active", (answered, state)
        elif answered.word == "desk_unavailable":
            assert came == 0, answered
        elif answered.word == "outcome_unrecorded":
            # a COMMIT whose answer was lost may stand: nobody can know
            assert state in ("unknown", "active"), (answered, state)
    [(gaps,)] = struck.sql(
        "SELECT count(*) FROM audit_event WHERE action = 'audit.gap'"
        " OR (action = 'tool.call_failed' AND reason IN ('desk_unavailable', 'outcome_unrecorded'))"
    )
    return Judgement(Counter(answered.word for answered in struck.answers), gaps)
