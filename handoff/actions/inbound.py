"""Keeps what providers deliver, each event once, before anybody answers them; it is applied later.

The key of an event is unique in its channel, and the insert decides: a second delivery finds it and
does nothing.
"""

import datetime as dt
import hashlib
from collections.abc import Sequence
from typing import Final

from django.db import IntegrityError
from django.db.models.functions import Now

from handoff.actions.inbound_outcomes import Became
from handoff.actions.refusals import note_inbound
from handoff.actions.relatives import relatives
from handoff.actions.writing import nudge_on_commit, writing
from handoff.models import Channel, InboundEvent
from handoff.transports.inbound import Came

_KEY_MAX: Final = 200
KEPT: Final = dt.timedelta(days=30)
"""What a person wrote stands in the conversation; as it came, it only helps to find a fault."""


def accept(channel: Channel, events: Sequence[Came]) -> list[int]:
    """Keep what came for a channel, or with its secret for one that shares it; the new rows.

    They are committed when this returns, all or none.
    """
    with writing():
        return keep(channel, events)


def keep(channel: Channel, events: Sequence[Came]) -> list[int]:
    """The same inside `writing()`."""
    homes: dict[str, Channel | None] = {}
    kept = []
    for event in events:
        if event.account not in homes:
            homes[event.account] = _home(channel, event.account)
        home = homes[event.account]
        if home is None:
            note_inbound("inbound.unmatched", channel, "unknown_account")
            continue
        row = _insert(home, event)
        if row is None:
            note_inbound("inbound.duplicate", home, event.type)
        else:
            kept.append(row)
    if kept:
        nudge_on_commit("work")
    return kept


def forget_bodies() -> int:
    """Empty what was written, once it has long had its effect; the key stays, so that a repeat
    stays one. Returns how many were emptied.
    """
    old = InboundEvent.objects.filter(processed_at__lt=Now() - KEPT).exclude(body="")
    return old.update(body="", answer="")


def _home(channel: Channel, account: str) -> Channel | None:
    """Where events of an account are kept, by whichever address they came: else they would count
    twice.
    """
    if not account:
        return channel
    return next((one.channel for one in relatives(channel, account)), None)


def _insert(channel: Channel, event: Came) -> int | None:
    """The new row; None when one of the event's keys is known."""
    first, *further = dict.fromkeys(map(_storable, event.keys))
    row = InboundEvent(channel=channel, key=first, body=event.model_dump_json())
    others = [
        InboundEvent(channel=channel, key=key, outcome=Became.FURTHER_KEY, processed_at=Now())
        for key in further
    ]
    try:
        with writing():  # a repeat undoes its own insert and no other
            InboundEvent.objects.bulk_create(sorted([row, *others], key=lambda one: one.key))
    except IntegrityError:
        return None
    return row.pk


def _storable(key: str) -> str:
    """The key itself, or a digest where a column could not hold it."""
    if len(key) <= _KEY_MAX and key.isascii() and key.isprintable():
        return key
    return "sha256:" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
