"""`/release TOKEN`: whoever has the line from the dispatch ends that handoff."""

import dataclasses
import hmac
from enum import StrEnum

from django.db.models.functions import Now

from handoff.actions import throttle
from handoff.actions.refusals import note_denied
from handoff.actions.release import Ending, end, end_late, lock
from handoff.actions.writing import writing
from handoff.contract.commands import ReleaseCommand
from handoff.contract.kinds import OPEN, Outcome, ReleaseKind, SessionStatus
from handoff.contract.limits import MESSAGE_MAX
from handoff.contract.text import one_line
from handoff.contract.values import clean_values
from handoff.errors import NotFound
from handoff.models import Session
from handoff.selectors import inboxes, payloads


class Became(StrEnum):
    """What a good token did."""

    RELEASED = "released"
    LATE = "late"
    """The handoff had been released without a return, and its return clock still ran."""
    NOTHING = "nothing"
    """Somebody had answered before."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Done:
    session: Session
    became: Became


def release_as_owner_by_token(
    command: ReleaseCommand,
    *,
    user_pk: int,
    name: str,
    outcome: Outcome = Outcome.RESOLVED,
    only: int | None = None,
) -> Done:
    """Release the session that the token names, as `token`, for an owner of its agent; with
    `only`, no other session than that one.

    Raises NotFound, the same for a token that nobody has, for another owner's and for one of a
    handoff that takes no answer any more; and TooFast for who tried too many of those.
    """
    throttle.take_guess(user_pk)
    session = _named(command.token, user_pk=user_pk, only=only)
    done = _release(session, command, user_pk=user_pk, name=name, outcome=outcome)
    if done is None:
        note_denied("release_token", actor=f"owner:{user_pk}")
        raise NotFound("That release line is not recognised.")
    throttle.give_back_guess(user_pk)
    return done


def _named(token: str, *, user_pk: int, only: int | None) -> Session | None:
    mine = inboxes.sessions_of(user_pk)
    named = mine.filter(release_token=token) if only is None else mine.filter(pk=only)
    found = named.first() if token else None
    if found is None or not hmac.compare_digest(found.release_token.encode(), token.encode()):
        return None
    return found


def _release(
    named: Session | None, command: ReleaseCommand, *, user_pk: int, name: str, outcome: Outcome
) -> Done | None:
    if named is None:
        return None
    said = "\n".join(filter(None, (command.note, command.rest)))
    ending = Ending(
        kind=ReleaseKind.TOKEN,
        actor=f"owner:{user_pk}",
        outcome=outcome,
        message=one_line(said)[:MESSAGE_MAX].rstrip(),
        note=said,
        answered_by=name,
        returned=clean_values(payloads.fields_of(named), {}),
    )
    with writing():
        session, conversation = lock(named.pk)
        if session.returned_at is not None:
            return Done(session=session, became=Became.NOTHING)
        if session.status not in OPEN and not _takes_answers(session):
            return None
        if end(session, conversation, ending):
            return Done(session=session, became=Became.RELEASED)
        if end_late(session, conversation, ending):
            return Done(session=session, became=Became.LATE)
        return Done(session=session, became=Became.NOTHING)


def _takes_answers(session: Session) -> bool:
    """While its return clock runs; never when the handoff failed."""
    live = session.links.filter(revoked_at=None, expires_at__gt=Now())
    return session.status != SessionStatus.FAILED and live.exists()
