"""A tool that makes no session runs once for a key: its answer is kept, and a repeat reads it."""

import datetime as dt
import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.db.models.functions import Now

from handoff.actions import repeats
from handoff.actions.writing import writing
from handoff.contract import answers
from handoff.contract.answers import Answer
from handoff.errors import DeskUnavailable, Refused
from handoff.models import Agent, IdempotencyRecord

GRACE_SECONDS: Final = 5.0


def once(agent: Agent, tool: str, repeat: repeats.Key, run: Callable[[], Answer]) -> Answer:
    """The answer of `run`, or of the earlier call with the same key.

    Nothing is kept of a refusal. An earlier call that never came to its answer, because its process
    was killed, is answered as unknown. Raises what `run` raises, and Refused `idempotency_reused`
    and `still_running`.
    """
    if not repeat.key:
        return run()
    with writing():
        record, first = IdempotencyRecord.objects.get_or_create(
            agent=agent,
            tool=tool,
            key=repeat.key,
            defaults={"request_hash": repeat.request_hash},
        )
    if not first:
        return _of_earlier(record, repeat)
    try:
        answer = run()
    except (Refused, DeskUnavailable):
        with writing():
            record.delete()
        raise
    with writing():
        IdempotencyRecord.objects.filter(pk=record.pk).update(
            answer={"text": answer.text, "is_error": answer.is_error, "result": answer.result}
        )
    return answer


def _of_earlier(record: IdempotencyRecord, repeat: repeats.Key) -> Answer:
    repeats.check_same(record, repeat)
    with repeats.waiting() as may_wait:
        until = time.monotonic() + (repeats.STILL_RUNNING_SECONDS if may_wait else 0)
        while record.answer is None and time.monotonic() < until:
            time.sleep(0.1)
            record.refresh_from_db(fields=["answer"])
    if record.answer is not None:
        return Answer(**record.answer, replayed=True)
    patience = dt.timedelta(seconds=settings.CALL_SECONDS + GRACE_SECONDS)
    if IdempotencyRecord.objects.filter(pk=record.pk, created_at__lt=Now() - patience).exists():
        return answers.desk_fault()
    raise Refused(
        "still_running",
        "The same question is still being put to somebody. Do not ask again.",
    )
