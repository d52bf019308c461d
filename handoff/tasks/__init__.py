"""What runs in the background, as `django.tasks`. Due rows are the truth; a task only runs soon."""

from typing import Final

from django.tasks import Task, TaskResultStatus, task

from handoff.actions import alerts, couriers, pollers, webhook_calls
from handoff.actions.endings import end_expired, end_idle
from handoff.actions.files import prune
from handoff.actions.gaps import settle_gaps
from handoff.actions.hops import end_unclaimed, end_unreachable
from handoff.actions.inbound import forget_bodies
from handoff.actions.inbound_apply import apply_due
from handoff.actions.reconcile import forget_keys, resolve_attempts
from handoff.actions.refusals import write_folds
from handoff.actions.throttle import forget_full
from handoff.actions.webhooks import forget_calls


class Unfinished(Exception):
    """Background work failed; the log of django.tasks says how. It is due until it succeeds."""


@task
def deliver() -> int:
    """Have couriers send what is due in the outbox; waits for none of them."""
    return couriers.look()


@task
def alert() -> int:
    """Ask the owners of handoffs that nobody opened in time, and have couriers mail them."""
    return alerts.ask_owners() + alerts.look(run=couriers.errand)


@task
def hear() -> int:
    """Give what providers delivered its effect."""
    return apply_due()


@task
def poll() -> int:
    """Have pollers look into the mailboxes that are due; waits for none of them."""
    return pollers.look()


@task
def call_webhooks() -> int:
    """Have threads call the receivers that are due; waits for none of them."""
    return webhook_calls.look()


@task
def keep_clocks() -> int:
    """End what the idle clock, the return clock or the lease of a hop has run out for."""
    return end_idle() + end_expired() + end_unclaimed() + end_unreachable()


@task
def reconcile() -> int:
    """Resolve the attempts that a killed process left open, and forget keys of ended sessions."""
    return resolve_attempts(run=couriers.errand) + forget_keys()


@task
def settle() -> int:
    """Put what an outage kept off the trail on the trail."""
    return settle_gaps()


@task
def write_down() -> int:
    """Write down the refusals that were only counted."""
    return write_folds()


@task
def forget_callers() -> int:
    """Forget callers that were slow enough."""
    return forget_full()


@task
def forget_words() -> int:
    """Forget what people wrote long ago."""
    return forget_bodies()


@task
def forget_files() -> int:
    """Delete files that were never said, and those whose time is over."""
    return prune()


@task
def forget_answers() -> int:
    """Forget what receivers of webhooks answered long ago."""
    return forget_calls()


TIDYING: Final = (write_down, forget_callers, forget_words, forget_files, forget_answers)
"""Each a task of its own: one that fails is in the log, and the others are done."""


def run_due() -> None:
    """Enqueue the work that may be due; the worker calls it when nudged, and every few seconds."""
    _enqueue(keep_clocks, hear, deliver, alert, call_webhooks, poll)


def sweep() -> None:
    """Enqueue the slow round: at start, before the desk says it is ready, and every minute."""
    _enqueue(reconcile, settle, *TIDYING)


def _enqueue(*work: "Task[[], int]") -> None:
    """Each of them, whatever became of the one before; raises Unfinished at the end.

    A backend that runs a task at once keeps what it raised to itself and to the log.
    """
    failed = [task.name for task in work if task.enqueue().status == TaskResultStatus.FAILED]
    if failed:
        raise Unfinished(", ".join(failed))
