"""Writes down what was refused at a door before any tool ran."""

import audit.trail
from handoff.actions.writing import writing
from handoff.errors import HandoffError, NotAuthorised, NotYours
from handoff.selectors.tokens import Caller


def note_refusal(error: HandoffError, *, caller: Caller | None, tool_call: bool) -> None:
    """One audit row for a 400, 401, 403 or 413; it names an agent only once its secret verified."""
    reason = error.reason if isinstance(error, NotAuthorised) else error.code
    if not tool_call:
        if not isinstance(error, NotAuthorised | NotYours):
            return
        action = "access.denied"
    elif isinstance(error, NotAuthorised | NotYours):
        action = "tool.callback_refused"
    else:
        action = "tool.call_malformed"
    with writing():
        audit.trail.record(
            action,
            actor=f"agent:{caller.agent.name}" if caller else "",
            agent=caller.agent.name if caller else "",
            token=caller.token if caller else "",
            reason=reason,
        )
