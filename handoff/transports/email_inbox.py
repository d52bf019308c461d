"""A look into the mailbox that replies go to: what is new, each message read on its own.

The cursor is `UIDVALIDITY:UID`, with a third number while a message withstands being fetched.
What lay in the mailbox before the first look is not read, with one exception: while handoffs are
open, an answer may be among it, and the mail of two days is. The same goes for a mailbox that was
numbered anew; what was read before is known by its Message-ID.
"""

import dataclasses
import datetime as dt
import re
import time
from collections.abc import Set
from typing import Final, Self

from handoff.errors import TransportError
from handoff.outbound.imap import Mailbox, open_mailbox
from handoff.outbound.mail_url import MailServer
from handoff.transports.email_read import MAIL_MAX, Delivered, read_mail
from handoff.transports.inbound import BODY_MAX, Came, Dropped, Polled

MESSAGES_MAX: Final = 30
"""In one look; the next one goes on there."""
SPARE_SECONDS: Final = 1.0
"""The least time that another message is worth fetching with."""
TRIES: Final = 3
"""How often a message is asked for that the connection breaks at, before it is left out."""
_LOOK_BACK: Final = dt.timedelta(days=2)
_CURSOR: Final = re.compile(r"(\d{1,10}):(\d{1,10})(?::(\d))?")
_LEFT_OUT: Final = "A message in the mailbox was left out: the server does not hand it over."


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cursor:
    validity: int
    uid: int
    """The last message that was read."""
    tries: int = 0
    """How often the next one could not be fetched."""

    @classmethod
    def read(cls, text: str) -> Self | None:
        found = _CURSOR.fullmatch(text)
        if found is None:
            return None
        return cls(validity=int(found[1]), uid=int(found[2]), tries=int(found[3] or 0))

    def __str__(self) -> str:
        return f"{self.validity}:{self.uid}" + (f":{self.tries}" if self.tries else "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """The mailbox of a channel, and what of it is ours."""

    server: MailServer
    folder: str
    own: Set[str]
    """Addresses that this desk sends from, in lower case."""
    account: str
    """What goes into the events."""


def look(place: Place, cursor: str, *, answers_expected: bool, deadline: float) -> Polled:
    """What came since `cursor`; "" for the first look. Raises TransportError when nothing could be
    read; a failure after some messages is left to the next look.
    """
    with open_mailbox(place.server, place.folder, deadline=deadline) as mailbox:
        at = Cursor.read(cursor)
        if at is not None and at.validity == mailbox.validity:
            waiting = mailbox.after(at.uid)
        elif at is not None or answers_expected:
            at = Cursor(validity=mailbox.validity, uid=0)
            waiting = mailbox.since((dt.datetime.now(dt.UTC) - _LOOK_BACK).date())
            if not waiting:
                at = dataclasses.replace(at, uid=mailbox.newest())
        else:
            at = Cursor(validity=mailbox.validity, uid=mailbox.newest())
            waiting = []
        return _read(mailbox, place, waiting[:MESSAGES_MAX], at, deadline=deadline)


def _read(
    mailbox: Mailbox, place: Place, waiting: list[int], at: Cursor, *, deadline: float
) -> Polled:
    events: list[Came] = []
    hint = ""
    for uid in waiting:
        if events and deadline - time.monotonic() < SPARE_SECONDS:
            break
        try:
            # where the whole does not come through in time, its beginning may
            fetched = mailbox.fetch(uid, cap=BODY_MAX if at.tries else MAIL_MAX)
        except TransportError as error:
            if events:
                break
            if at.tries + 1 < TRIES:
                tried = dataclasses.replace(at, tries=at.tries + 1)
                return Polled(cursor=str(tried), hint=error.hint)
            fetched = None
        if fetched is None:
            hint = _LEFT_OUT
            events.append(_left_out(place, at.validity, uid))
        else:
            mail = Delivered(content=fetched.content, whole=fetched.whole, at=fetched.at)
            events.append(read_mail(mail, own=place.own, account=place.account))
        at = Cursor(validity=at.validity, uid=uid)
    return Polled(events=tuple(events), cursor=str(at), hint=hint)


def _left_out(place: Place, validity: int, uid: int) -> Dropped:
    return Dropped(keys=(f"imap:{validity}:{uid}",), account=place.account, reason="not_fetched")
