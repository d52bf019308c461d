"""Writes down what was refused at a door before any tool ran."""

from collections.abc import Sequence

from django.db import Error as DatabaseError

import audit.trail
from handoff.actions import folding
from handoff.actions.folding import Fold, Who
from handoff.actions.writing import writing
from handoff.errors import HandoffError, NotAuthorised, NotYours, TooFast
from handoff.models import Channel
from handoff.selectors.tokens import Caller


def note_refusal(error: HandoffError, *, caller: Caller | None, tool_call: bool) -> None:
    """One audit row for a 400, 401, 403, 413 or 429; in a flood, one for all of a minute.

    It names an agent only once its secret verified.
    """
    action = _action(error, tool_call=tool_call)
    if not action:
        return
    reason = error.reason if isinstance(error, NotAuthorised) else error.code
    who = Who(agent=caller.agent.name, token=caller.token) if caller else Who()
    _note(action, who, reason, actor=_actor(who))


def note_denied(reason: str, *, actor: str) -> None:
    """The same for whoever was not let in with a password: `access.denied`."""
    _note("access.denied", Who(), reason, actor=actor)


def note_inbound(action: str, channel: Channel | None, reason: str) -> None:
    """The same for what came from a provider, or says so, and had no effect: `inbound.refused`,
    `inbound.duplicate` and `inbound.unmatched`, each with a minute of its own.

    `channel` is None when there is no such webhook; `reason` is a code.
    """
    who = Who(action=action)
    if channel is not None:
        who = Who(agent=channel.agent.name, channel=channel.pk, action=action)
    _note(action, who, reason, actor="")


def write_folds(*, unfinished: bool = False) -> int:
    """Write the minutes that are over, or at the end of the process all; how many."""
    over = folding.take_over(unfinished=unfinished)
    if not over:
        return 0
    try:
        with writing():
            _write(over)
    except DatabaseError:
        folding.give_back(over)
        raise
    return len(over)


def _action(error: HandoffError, *, tool_call: bool) -> str:
    if isinstance(error, NotAuthorised | NotYours):
        return "tool.callback_refused" if tool_call else "access.denied"
    if not tool_call:
        return ""
    return "tool.call_rejected" if isinstance(error, TooFast) else "tool.call_malformed"


def _note(action: str, who: Who, reason: str, *, actor: str) -> None:
    over = folding.take_over()
    listed = folding.is_listed(who, reason)
    if not (over or listed):
        return
    try:
        with writing():
            _write(over)
            if listed:
                audit.trail.record(
                    action,
                    actor=actor,
                    agent=who.agent,
                    token=who.token,
                    channel=who.channel,
                    reason=reason,
                )
    except DatabaseError:
        folding.give_back(over)
        raise


def _write(folds: Sequence[Fold]) -> None:
    for fold in folds:
        audit.trail.record(
            fold.who.action or "tool.calls_folded",
            actor=_actor(fold.who),
            agent=fold.who.agent,
            token=fold.who.token,
            channel=fold.who.channel,
            reason=f"more than {folding.ROWS_A_MINUTE} refusals in a minute",
            details={"calls": fold.folded.total(), **fold.folded},
        )


def _actor(who: Who) -> str:
    return f"agent:{who.agent}" if who.agent and not who.action else ""
