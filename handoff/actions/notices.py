"""Tells people who wrote to us what became of it: a sentence each, at most once."""

import dataclasses
import datetime as dt
import time
from collections.abc import Collection
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Now

from handoff.actions.channels import keep_changed, note_failure, note_success, sending_transport
from handoff.actions.dispatch import Sent, send_once
from handoff.actions.writing import writing
from handoff.errors import TransportError
from handoff.models import Channel, InboundEvent
from handoff.transports.base import Notice
from handoff.transports.inbound import READER, Said

FRESH: Final = dt.timedelta(hours=1)
"""What nobody could be told for so long would only confuse them."""
AT_ONCE: Final = 20


@dataclasses.dataclass(frozen=True)
class Owed:
    """One sentence that is ours to send."""

    event: int
    channel: int


def claim(*, busy: Collection[int] = ()) -> Owed | None:
    """Take the sentence that is owed for longest, of a channel that is not busy; None when there is
    none. Whoever took it sends it: if they are killed before, it is lost, and never said twice.
    """
    found = _owed().annotate(through=Coalesce("session__channel", "channel"))
    for event, channel in found.order_by("processed_at").values_list("pk", "through")[:AT_ONCE]:
        if channel in busy:
            continue
        with writing():
            if _owed().filter(pk=event).update(answered_at=Now()):
                return Owed(event, channel)
    return None


def _owed() -> QuerySet[InboundEvent]:
    unsaid = InboundEvent.objects.filter(answered_at=None).exclude(answer="")
    return unsaid.filter(processed_at__gt=Now() - FRESH)


def send(owed: Owed) -> None:
    """Send it, outside any transaction; a failure is kept with the channel and not tried again."""
    row = InboundEvent.objects.select_related("session").get(pk=owed.event)
    channel = Channel.objects.select_related("agent").get(pk=owed.channel)
    said = READER.validate_json(row.body)
    if not isinstance(said, Said):
        return
    notice = Notice(
        place=said.place,
        text=row.answer,
        thread_key=said.thread_key,
        answers=said.message_id,
        session=row.session.public_id if row.session else "",
        language=channel.language,
    )
    sent = _sent(channel, notice)
    with writing():
        if sent.error is not None:
            note_failure(channel, sent.error)
        elif sent.receipt is not None:
            note_success(channel)
            keep_changed(channel, sent.receipt.settings)


def _sent(channel: Channel, notice: Notice) -> Sent:
    try:
        transport = sending_transport(channel)
    except TransportError as error:
        return Sent(None, error)
    return send_once(transport, notice, deadline=time.monotonic() + settings.DISPATCH_SECONDS)
