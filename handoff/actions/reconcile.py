"""Resolves the attempts that a killed process left open: it is not known what became of them."""

import datetime as dt
from typing import Final

from django.conf import settings
from django.db.models.functions import Now

from handoff.actions.dispatch import Sent, record_outcome
from handoff.contract.kinds import AttemptStatus, TransportErrorKind
from handoff.errors import TransportError
from handoff.models import Attempt

GRACE_SECONDS: Final = 15.0


def resolve_attempts() -> int:
    """Mark every attempt as unknown that is `sending` well past its deadline; how many.

    Nothing is sent again: a person who was reached may still answer through the link.
    """
    patience = dt.timedelta(seconds=settings.CALL_SECONDS + GRACE_SECONDS)
    stuck = Attempt.objects.filter(
        status=AttemptStatus.SENDING, at__lt=Now() - patience
    ).values_list("pk", flat=True)
    lost = Sent(
        None,
        TransportError(
            TransportErrorKind.UNKNOWN_OUTCOME, "the desk stopped before the outcome was written"
        ),
    )
    pks = list(stuck)
    for pk in pks:
        record_outcome(pk, lost)
    return len(pks)
