"""How fast a caller may be: token buckets in our own database, shared by all processes.

Every verb has its limit in the settings; 0 there switches one off. Inside a transaction a take
belongs to it: what is rolled back was not counted.
"""

import contextlib
import datetime as dt
import math
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.db import IntegrityError, connection
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Greatest, Now
from django.utils.crypto import salted_hmac

from handoff.actions import lots
from handoff.actions.writing import queued, writing
from handoff.errors import (
    Invalid,
    Malformed,
    NotFound,
    NotYours,
    Refused,
    Reused,
    TooFast,
)
from handoff.models import Agent, Bucket, Conversation, ReturnLink
from handoff.selectors.tokens import Caller

SECOND: Final = 1.0
MINUTE: Final = 60.0
QUARTER_HOUR: Final = 900.0
HOUR: Final = 3600.0
SENDER_SALT: Final = "handoff.sender"
_TRIES: Final = 5


def take(bucket: str, *, rate: float, burst: int, tokens: int = 1) -> None:
    """Take one token, or several; raises TooFast with the seconds until there are so many again.

    `rate` is tokens a second, `burst` what a full bucket holds. The database's clock decides, in
    one conditional UPDATE: a token moves the time at which the bucket is full by 1/`rate`, and
    that time is at most `burst` tokens ahead.
    """
    token = dt.timedelta(seconds=1 / rate)
    price, room = token * tokens, token * (burst - tokens)
    for _ in range(_TRIES):
        if _spend(bucket, price=price, room=room):
            return
        seconds = _seconds_to_wait(bucket, room=room)
        if seconds is not None:
            raise TooFast(seconds)
        if _begin(bucket, price=price):
            return
    raise TooFast(1)  # the sweep took the row each time: a moment later it will not


def _spend(bucket: str, *, price: dt.timedelta, room: dt.timedelta) -> bool:
    with queued():
        return (
            Bucket.objects.filter(name=bucket, full_at__lte=Now() + room).update(
                full_at=Greatest(F("full_at"), Now()) + price
            )
            == 1
        )


def _begin(bucket: str, *, price: dt.timedelta) -> bool:
    """Take from a full bucket; False when somebody else was first."""
    try:
        with writing():
            Bucket.objects.create(name=bucket, full_at=Now() + price)
    except IntegrityError:
        return False
    return True


def _seconds_to_wait(bucket: str, *, room: dt.timedelta) -> int | None:
    """At least 1; None when there is no such bucket, which is a full one."""
    ahead = ExpressionWrapper(F("full_at") - Now(), output_field=DurationField())
    found = Bucket.objects.filter(name=bucket).values_list(ahead, flat=True).first()
    return None if found is None else max(1, math.ceil((found - room).total_seconds()))


def forget_full() -> int:
    """Remove the rows of buckets that are full again, which say nothing; how many."""
    with queued():
        return Bucket.objects.filter(full_at__lt=Now()).delete()[0]


def take_handoff(agent: Agent) -> None:
    """A new handoff: somebody is about to be contacted."""
    _take(f"handoff:{agent.pk}", settings.HANDOFFS_PER_MINUTE, MINUTE)


def take_turn(conversation: Conversation) -> None:
    """A new turn of a conversation."""
    _take(f"turn:{conversation.pk}", settings.TURNS_PER_SECOND, SECOND)


def take_file(conversation: Conversation) -> None:
    """A file of a conversation, before it is stored."""
    _take(f"file:{conversation.pk}", settings.FILES_PER_MINUTE, MINUTE)


def take_call(caller: Caller) -> None:
    """Any other call: one that has no limit of its own, or came to nothing under it.

    They are the many, so outside a transaction they are taken a second's worth at a time: a
    process may let through so many more, within the life of a lot, than the limit says.
    """
    limit = settings.CALLS_PER_MINUTE
    bucket = f"call:{caller.token_pk}"
    lot = int(limit / MINUTE)
    if lot < 2 or connection.in_atomic_block:
        _take(bucket, limit, MINUTE)
    elif not lots.spend(bucket):
        try:
            take(bucket, rate=limit / MINUTE, burst=limit, tokens=lot)
        except TooFast:  # the last ones go singly
            _take(bucket, limit, MINUTE)
        else:
            lots.keep(bucket, lot - 1)


@contextlib.contextmanager
def counting(caller: Caller, *, has_limit: bool) -> Iterator[None]:
    """Around a call: counts it once, and one whose verb has a limit of its own only if it fails."""
    if not has_limit:
        take_call(caller)
    try:
        yield
    except (Invalid, Malformed, NotFound, NotYours, Refused, Reused):
        if has_limit:
            take_call(caller)
        raise


def take_refused(address: str) -> None:
    """A call that is about to be answered by 401; `address` is hashed."""
    _take(f"refused:{address}", settings.REFUSALS_PER_MINUTE, MINUTE)


def take_form(link: ReturnLink) -> None:
    """A posted return form."""
    _take(f"form:{link.pk}", settings.FORMS_PER_MINUTE, MINUTE)


def take_beacon(link: ReturnLink) -> None:
    """A browser's word that somebody has the form before them."""
    _take(f"beacon:{link.pk}", settings.FORMS_PER_MINUTE, MINUTE)


def take_lost(address: str) -> None:
    """An address under `/r/` that is no link of ours; `address` is hashed."""
    _take(f"lost:{address}", settings.LOST_LINKS_PER_MINUTE, MINUTE)


def take_guess(user_pk: int) -> None:
    """An owner's `/release TOKEN`, before the token is looked at."""
    _take(f"guess:{user_pk}", settings.RELEASE_GUESSES_PER_MINUTE, MINUTE)


def give_back_guess(user_pk: int) -> None:
    """It was a good token."""
    _give_back(f"guess:{user_pk}", settings.RELEASE_GUESSES_PER_MINUTE, MINUTE)


def take_guess_from(channel_pk: int, sender: str) -> None:
    """A recipient's `/release TOKEN`, before the token is looked at; `sender` is hashed here."""
    _take(_by(channel_pk, sender), settings.RELEASE_GUESSES_PER_MINUTE, MINUTE)


def give_back_guess_from(channel_pk: int, sender: str) -> None:
    """It was a good token."""
    _give_back(_by(channel_pk, sender), settings.RELEASE_GUESSES_PER_MINUTE, MINUTE)


def _by(channel_pk: int, sender: str) -> str:
    hashed = salted_hmac(SENDER_SALT, sender, algorithm="sha256").hexdigest()[:32]
    return f"guess:{channel_pk}:{hashed}"


def take_reply(session_pk: int) -> None:
    """What a recipient says in an active handoff: two machines may have begun to talk."""
    _take(f"reply:{session_pk}", settings.REPLIES_PER_HOUR, HOUR)


def take_reminder(session_pk: int) -> None:
    """A notice that an owner has sent again: one a minute, whoever of them asks."""
    _take(f"reminder:{session_pk}", 1, MINUTE)


def is_first(about: str) -> bool:
    """Whether nothing was said about this within the last hour; then it counts as said."""
    try:
        take(f"said:{about}", rate=1 / HOUR, burst=1)
    except TooFast:
        return False
    return True


def take_login(account: str, address: str) -> None:
    """A password is about to be checked; both are hashed.

    An address that is too fast takes nothing from the account, which others may be trying to use.
    """
    _take(_from(address), settings.LOGINS_PER_ADDRESS, QUARTER_HOUR)
    _take(_into(account), settings.LOGINS_PER_ACCOUNT, QUARTER_HOUR)


def give_back_login(account: str, address: str) -> None:
    """It was the right password: as if it had not been counted."""
    _give_back(_from(address), settings.LOGINS_PER_ADDRESS, QUARTER_HOUR)
    _give_back(_into(account), settings.LOGINS_PER_ACCOUNT, QUARTER_HOUR)


def _from(address: str) -> str:
    return f"login-from:{address}"


def _into(account: str) -> str:
    return f"login-into:{account}"


def _take(bucket: str, limit: int, seconds: float) -> None:
    if limit > 0:
        take(bucket, rate=limit / seconds, burst=limit)


def _give_back(bucket: str, limit: int, seconds: float) -> None:
    if limit > 0:
        token = dt.timedelta(seconds=seconds / limit)
        with queued():
            Bucket.objects.filter(name=bucket).update(full_at=F("full_at") - token)
