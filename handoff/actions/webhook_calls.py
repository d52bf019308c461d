"""Makes one call to a receiver, and threads that make those that are due.

A receiver that hangs holds the thread that talks to it and no other. Those that may hang hold half
of the threads at most, and one of each agent; an agent holds half of them at most.
"""

import collections
import logging
import threading
import time
from functools import partial
from typing import Final

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connections
from django.views.decorators.debug import sensitive_variables

import audit.trail
from handoff import push
from handoff.actions.webhook_places import AgentPlaces
from handoff.actions.webhook_queue import (
    LEASE_SECONDS,
    Heard,
    Taken,
    claim,
    note,
    record,
)
from handoff.actions.webhooks import locked
from handoff.actions.writing import patiently, writing
from handoff.contract.kinds import TransportErrorKind
from handoff.contract.webhooks import TEST_TYPE, CallKind, Fate, headers, test_message_id
from handoff.errors import TransportError
from handoff.models import Webhook, WebhookCall
from handoff.models.sealed import Unreadable
from handoff.outbound.http import HttpAnswer, call, retry_after
from handoff.selectors import webhooks

log = logging.getLogger(__name__)
ANSWER_BYTES: Final = 64 * 1024
"""What is read of an answer; its status counts all the same when there is more."""
RECORD_SECONDS: Final = LEASE_SECONDS - 5
_SUCCESS: Final = range(200, 300)
_REDIRECTS: Final = range(300, 400)
_GONE: Final = 410
_trials: Final = AgentPlaces(2, words="Another test of a webhook is under way.", retry_after=10)
_FATES: Final = {
    TransportErrorKind.CONNECT: Fate.NOT_CONNECTED,
    TransportErrorKind.PERMISSION: Fate.NOT_ALLOWED,
    TransportErrorKind.BAD_FORMAT: Fate.NOT_ALLOWED,
}


def deliver_due() -> int:
    """Make every call that is due, one after the other; returns how many. For whoever has time."""
    made = 0
    while not push.stopping and (taken := claim()) is not None:
        deliver(taken)
        made += 1
    return made


def deliver(taken: Taken) -> None:
    """Make one call that is ours, and write down what became of it, with a database that is busy
    or lost for as long as the lease holds: what was taken and is not written down comes again.
    """
    rows = WebhookCall.objects.select_related("webhook__agent", "event__message")
    row = rows.filter(pk=taken.call).first()
    if row is not None:  # else the webhook was deleted meanwhile
        heard = _made(row)
        patiently(partial(record, taken, heard), until=time.monotonic() + RECORD_SECONDS)


def test(webhook: Webhook, *, actor: str) -> WebhookCall:
    """Call a webhook once with `webhook.test`, whatever its state, and change nothing about it.

    Waits for the receiver. Raises Busy while another of the agent's, or two of others, wait, and
    NotFound when it was deleted meanwhile.
    """
    with _trials.place(webhook.agent_id):
        with writing():
            row = WebhookCall.objects.create(
                webhook=locked(webhook),
                kind=CallKind.TEST,
                type=TEST_TYPE,
                message_id=test_message_id(),
            )
        row.refresh_from_db()
        heard = _made(row)
        with writing():
            locked(webhook)
            note(row.pk, heard)
            audit.trail.record(
                "webhook.tested",
                actor=actor,
                agent=webhook.agent.name,
                reason=heard.fate,
                failure="" if heard.fate is Fate.DELIVERED else heard.words,
                details={"webhook": webhook.public_id, "works": heard.fate is Fate.DELIVERED},
            )
    row.refresh_from_db()
    return row


@sensitive_variables("keys", "signed")
def _made(row: WebhookCall) -> Heard:
    began = time.monotonic()
    try:
        keys = webhooks.secrets_of(row.webhook)
    except Unreadable:
        return Heard(Fate.NOT_SIGNED, 0, words="no key opens the secret that signs its calls")
    body = webhooks.body(row.webhook, row)
    signed = headers(keys, message=row.message_id, at=row.at, body=body)
    try:
        answer = call(
            "POST",
            row.webhook.url,
            deadline=began + settings.DISPATCH_SECONDS,
            headers={"Content-Type": "application/json", **signed},
            content=body,
            cap=ANSWER_BYTES,
            trusted=False,
            secrets=keys,
        )
    except TransportError as error:
        return _unheard(error, time.monotonic() - began)
    return _heard(answer, time.monotonic() - began)


def _heard(answer: HttpAnswer, seconds: float) -> Heard:
    status = answer.status
    if status in _SUCCESS:
        return Heard(Fate.DELIVERED, seconds, status)
    fate = Fate.REDIRECT if status in _REDIRECTS else Fate.STATUS
    if status == _GONE:
        fate = Fate.GONE
    said = answer.body[: 4 * audit.trail.TEXT_MAX].decode("utf-8", "replace")
    return Heard(fate, seconds, status, _wait(answer), f"{status} {said}")


def _wait(answer: HttpAnswer) -> float | None:
    seconds = retry_after(answer)
    return seconds if seconds is not None and seconds >= 0 else None  # "nan" is neither


def _unheard(error: TransportError, seconds: float) -> Heard:
    code = error.provider_code or ""
    if code.isdecimal() and int(code) in _SUCCESS:  # it is just too long
        return Heard(Fate.DELIVERED, seconds, int(code))
    fate = _FATES.get(error.kind, Fate.NO_ANSWER)
    status = int(code) if code.isdecimal() else None
    words = error.operator_detail.replace("the provider", "the receiver")
    return Heard(fate, seconds, status, words=words)


class Callers:
    """The threads of one process that call receivers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[threading.Thread, Taken] = {}

    def look(self) -> int:
        """Start a thread for each call that is due, as far as there are places; how many.

        Waits for nobody. A thread that is through takes the next call by itself.
        """
        _hear_of_events()
        started = 0
        while self._begin():
            started += 1
        return started

    def wait(self, seconds: float) -> bool:
        """Until no call is under way, at most so long; False when one still is."""
        end = time.monotonic() + seconds
        while running := self._threads():
            left = end - time.monotonic()
            if left <= 0:
                return False
            running[0].join(left)
        return True

    def _begin(self) -> bool:
        with self._lock:
            taken = self._take(list(self._running.values()))
            if taken is None:
                return False
            thread = threading.Thread(target=self._run, args=(taken,), name="webhooks", daemon=True)
            thread.start()
            self._running[thread] = taken
            return True

    def _run(self, first: Taken) -> None:
        me = threading.current_thread()
        taken: Taken | None = first
        try:
            while taken is not None:
                deliver(taken)
                taken = self._next(me)
        except (OperationalError, InterfaceError) as problem:
            log.error("webhooks lost the database; what is due stays due: %s", problem)
        except DatabaseError:
            log.exception("the database refused a webhook; what is due stays due")
        finally:
            connections.close_all()
            with self._lock:
                self._running.pop(me, None)

    def _next(self, me: threading.Thread) -> Taken | None:
        with self._lock:
            taken = self._take([one for thread, one in self._running.items() if thread is not me])
            if taken is not None:
                self._running[me] = taken
            return taken

    def _take(self, busy: list[Taken]) -> Taken | None:
        places = settings.WEBHOOK_PLACES
        if push.stopping or len(busy) >= places:
            return None
        half = max(1, places // 2)
        hard = [one.agent for one in busy if one.hard]
        held = collections.Counter(one.agent for one in busy)
        full = [agent for agent, number in held.items() if number >= half]
        return claim(easy_only=len(hard) >= half, easy_of=hard, none_of=full)

    def _threads(self) -> list[threading.Thread]:
        with self._lock:
            return list(self._running)


def _hear_of_events() -> None:
    """From now on, an event of an agent that has webhooks wakes the worker."""
    for agent in set(webhooks.live().values_list("agent_id", flat=True)):
        push.rouse("work", on=f"agent:{agent}")


_callers: Final = Callers()
look: Final = _callers.look
wait: Final = _callers.wait
