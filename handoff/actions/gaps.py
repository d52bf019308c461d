"""What an outage kept off the trail: kept on disk when it happens, put on the trail afterwards."""

from django.db import Error as DatabaseError

import audit.trail
from audit import spool
from handoff.actions.writing import writing
from handoff.errors import DeskUnavailable, OutcomeUnrecorded
from handoff.selectors.tokens import Caller


def note_unavailable(
    error: DeskUnavailable | OutcomeUnrecorded, *, caller: Caller | None, tool: str
) -> None:
    """The trace of a tool call that was answered 503: on the trail, in an outage in the spool.

    Never raises.
    """
    cause = error.__cause__
    if not isinstance(cause, DatabaseError):
        try:
            with writing():
                audit.trail.record(
                    "tool.call_failed",
                    actor=f"agent:{caller.agent.name}" if caller else "",
                    agent=caller.agent.name if caller else "",
                    token=caller.token if caller else "",
                    tool=tool,
                    reason=error.code,
                )
        except DatabaseError as problem:
            cause = problem
        else:
            return
    keep_gap(error.code, cause, caller=caller, tool=tool, attempt=getattr(error, "attempt", ""))


def keep_gap(
    reason: str,
    cause: BaseException,
    *,
    caller: Caller | None = None,
    tool: str = "",
    session: str = "",
    attempt: str = "",
) -> None:
    """Keep what the trail should say and cannot. Never raises."""
    spool.keep(
        reason,
        failure=type(cause).__name__,
        agent=caller.agent.name if caller else "",
        token=caller.token if caller else "",
        tool=tool,
        session=session,
        attempt=attempt,
    )


def settle_gaps() -> int:
    """Put what was kept on the trail, as `audit.gap` rows; how many. Raises database errors."""
    return spool.settle(writing)
