"""Deliberately broken variants of the product: the checks of this folder must fail on each.

`TEST_BROKEN` names the one that a server runs.
"""

import contextvars
import functools
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any, Final

from django.db.models import Q
from django.utils.module_loading import import_string

from handoff.actions import answer, calls, dispatch, endings, request, turns
from handoff.actions.dispatch import Sent
from handoff.actions.repeats import Intent
from handoff.actions.turns import Turn
from handoff.actions.writing import writing
from handoff.api import resources
from handoff.contract.answers import Answer
from handoff.contract.kinds import SessionStatus
from handoff.contract.turns import TurnBody
from handoff.models import Conversation, ReturnLink, Session
from handoff.models.session import SessionQuerySet
from handoff.realtime import reading
from handoff.transports.base import Receipt

VARIABLE: Final = "TEST_BROKEN"
WINDOW_SECONDS: Final = 0.02
_seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="")
_active: contextvars.ContextVar[Session | None] = contextvars.ContextVar("active")


class Variant(StrEnum):
    READ_THEN_WRITE = "reads the status, then writes it without asking again"
    SEND_THEN_COMMIT = "sends, then commits"
    MARK_THEN_SEND = "marks as accepted, then sends"
    FORGETS_KEYS = "keeps no key"
    ROUTES_UNLOCKED = "decides where a line goes before it holds the lock"
    SPEAKS_UNLOCKED = "decides whether the bot may speak before it holds the lock"
    NO_BACK_PRESSURE = "hands over every frame at once, whether its client reads or not"
    ONE_THREAD = "does all that sockets and polls want of the database on one thread"


def install() -> None:
    match os.environ.get(VARIABLE):
        case Variant.READ_THEN_WRITE:
            _read_then_write()
        case Variant.SEND_THEN_COMMIT:
            _send_then_commit()
        case Variant.MARK_THEN_SEND:
            _mark_then_send()
        case Variant.FORGETS_KEYS:
            calls.Intent = _without_key  # type: ignore[assignment,attr-defined]
        case Variant.ROUTES_UNLOCKED:
            _routes_unlocked()
        case Variant.SPEAKS_UNLOCKED:
            _speaks_unlocked()
        case Variant.NO_BACK_PRESSURE:
            del import_string("config.server.DeskServer").handle_reply
        case Variant.ONE_THREAD:
            reading._readers = reading._writers = ThreadPoolExecutor(1)


def _read_then_write() -> None:
    def looks_first[**P, T](
        plain: Callable[P, T], session_pk: Callable[[Any], int]
    ) -> Callable[P, T]:
        @functools.wraps(plain)
        def wrapped(*args: P.args, **named: P.kwargs) -> T:
            pk = session_pk(args[0])
            found = _seen.set(Session.objects.values_list("status", flat=True).get(pk=pk))
            time.sleep(WINDOW_SECONDS)
            try:
                return plain(*args, **named)
            finally:
                _seen.reset(found)

        return wrapped

    def advance(
        self: SessionQuerySet, pk: int, *, old: frozenset[SessionStatus], where: Q, **fields: Any
    ) -> bool:
        return _seen.get() in old and self.filter(pk=pk).update(**fields) == 1

    def of_link(link: ReturnLink) -> int:
        return link.session_id

    plain_advance = SessionQuerySet.advance

    def either(self: SessionQuerySet, pk: int, **named: Any) -> bool:
        if not _seen.get():
            return plain_advance(self, pk, **named)
        return advance(self, pk, **{"where": Q(), **named})

    SessionQuerySet.advance = either  # type: ignore[method-assign]
    endings.release = looks_first(endings.release, int)  # type: ignore[attr-defined]
    endings._end_quiet = looks_first(endings._end_quiet, int)
    answer.answer_form = looks_first(answer.answer_form, of_link)


def _send_then_commit() -> None:
    """One transaction around it all: the person is contacted before anything is committed."""
    plain = request._contact

    @functools.wraps(plain)
    def contact(*args: Any, **named: Any) -> Answer:
        with writing():
            return plain(*args, **named)

    request._contact = contact


def _mark_then_send() -> None:
    plain = dispatch.dispatch

    @functools.wraps(plain)
    def marked(attempt_pk: int, *args: Any, **named: Any) -> Sent:
        dispatch.record_outcome(attempt_pk, Sent(Receipt(provider_message_id="marked")))
        return plain(attempt_pk, *args, **named)

    dispatch.dispatch = marked


def _without_key(**fields: Any) -> Intent:
    return Intent(**{**fields, "key": ""})


def _routes_unlocked() -> None:
    _looks_before_the_lock()
    plain = turns._subscriber_turn

    def routing(row: Conversation, body: TurnBody, active: Session | None) -> Turn:
        return plain(row, body, _active.get())

    turns._subscriber_turn = routing


def _speaks_unlocked() -> None:
    _looks_before_the_lock()
    plain = turns._agent_turn

    def speaking(row: Conversation, body: TurnBody, active: Session | None) -> Turn:
        return plain(row, body, _active.get())

    turns._agent_turn = speaking


def _looks_before_the_lock() -> None:
    plain = turns.post_turn

    def post_turn(conversation: Conversation, body: TurnBody) -> Turn:
        mine = Session.objects.filter(conversation=conversation, status=SessionStatus.ACTIVE)
        _active.set(mine.select_related("channel").first())
        time.sleep(WINDOW_SECONDS)
        return plain(conversation, body)

    resources.post_turn = post_turn  # type: ignore[attr-defined]
