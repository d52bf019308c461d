"""What an outage kept off the trail: kept on disk when it happens, put on the trail afterwards."""

from django.db import Error as DatabaseError

import audit.trail
from audit import spool
from handoff.actions.writing import writing
from handoff.errors import DeskUnavailable, OutcomeUnrecorded
from handoff.selectors.tokens import Caller


def note_failed_call(reason: str, *, caller: Caller | None, tool: str) -> None:
    """`tool.call_failed` about a call whose answer is certain already, so it never raises."""
    try:
        with writing():
            audit.trail.record(
                "tool.call_failed",
                actor=f"agent:{caller.agent.name}" if caller else "",
                agent=caller.agent.name if caller else "",
                token=caller.token if caller else "",
                tool=tool,
                reason=reason,
            )
    except DatabaseError as problem:
        keep_gap(reason, problem, caller=caller, tool=tool)


def note_unavailable(
    error: DeskUnavailable | OutcomeUnrecorded, *, caller: Caller | None, tool: str
) -> None:
    """The trace of a tool call that is answered 503: on the trail, in an outage in the spool.

    Never raises.
    """
    cause = error.__cause__
    if isinstance(cause, DatabaseError):
        attempt = error.attempt if isinstance(error, OutcomeUnrecorded) else ""
        keep_gap(error.code, cause, caller=caller, tool=tool, attempt=attempt)
    else:
        note_failed_call(error.code, caller=caller, tool=tool)


def keep_gap(
    reason: str,
    cause: BaseException,
    *,
    caller: Caller | None = None,
    tool: str = "",
    attempt: str = "",
) -> None:
    """Keep what the trail should say and cannot. Never raises."""
    spool.keep(
        reason,
        failure=type(cause).__name__,
        agent=caller.agent.name if caller else "",
        token=caller.token if caller else "",
        tool=tool,
        attempt=attempt,
    )


def settle_gaps() -> int:
    """Put what was kept on the trail, as `audit.gap` rows; how many. Raises database errors."""
    return spool.settle(writing)
