"""What runs in the background, as `django.tasks`. Due rows are the truth; a task only runs soon."""

from django.tasks import task

from handoff.actions.endings import end_expired, end_idle
from handoff.actions.reconcile import forget_keys, resolve_attempts
from handoff.actions.refusals import write_folds
from handoff.actions.relay import deliver_due
from handoff.actions.throttle import forget_full


@task
def deliver() -> int:
    """Send what is due in the outbox."""
    return deliver_due()


@task
def keep_clocks() -> int:
    """End what the idle clock and the return clock have run out for."""
    return end_idle() + end_expired()


@task
def reconcile() -> int:
    """Resolve the attempts that a killed process left open, and forget keys of ended sessions."""
    return resolve_attempts() + forget_keys()


@task
def tidy() -> int:
    """Write down the refusals that were only counted, and forget callers that were slow enough."""
    return write_folds() + forget_full()


def run_due() -> None:
    """Enqueue the work that may be due; the worker calls it when nudged, and every few seconds."""
    deliver.enqueue()
    keep_clocks.enqueue()


def sweep() -> None:
    """Enqueue the slow round: at start, before the desk says it is ready, and every minute."""
    reconcile.enqueue()
    tidy.enqueue()
