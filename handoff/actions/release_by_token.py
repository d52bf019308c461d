"""`/release TOKEN`, and the words of a recipient that answer a handoff without the form."""

import dataclasses
import hmac
from collections.abc import Collection
from enum import StrEnum

from django.db.models import QuerySet
from django.db.models.functions import Now

from handoff.actions import throttle
from handoff.actions.refusals import note_denied
from handoff.actions.release import Ending, end, end_late, lock
from handoff.actions.writing import writing
from handoff.contract.commands import ReleaseCommand
from handoff.contract.kinds import OPEN, Outcome, ReleaseKind, SessionStatus
from handoff.contract.limits import MESSAGE_MAX, MULTILINE_MAX
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
    mine = inboxes.sessions_of(user_pk)
    named = _named(command.token, mine if only is None else mine.filter(pk=only))
    actor, words = f"owner:{user_pk}", words_of(command)
    done = (
        answer_in_words(named.pk, words=words, actor=actor, name=name, outcome=outcome)
        if named
        else None
    )
    if done is None:
        note_denied("release_token", actor=actor)
        raise NotFound("That release line is not recognised.")
    throttle.give_back_guess(user_pk)
    return done


def named_by_token(token: str, channels: Collection[int]) -> Session | None:
    """The session of these channels whose release token this is."""
    return _named(token, Session.objects.filter(channel__in=channels))


def _named(token: str, among: QuerySet[Session]) -> Session | None:
    found = among.filter(release_token=token).first() if token else None
    if found is None or not hmac.compare_digest(found.release_token.encode(), token.encode()):
        return None
    return found


def words_of(command: ReleaseCommand) -> str:
    """What stands after the token, and in the lines below it."""
    return "\n".join(filter(None, (command.note, command.rest)))


def answer_in_words(
    session_pk: int, *, words: str, actor: str, name: str, outcome: Outcome = Outcome.RESOLVED
) -> Done | None:
    """Give control back as `token`, with `words` as the message and no values: a release, or after
    one without a return a late return.

    None when the handoff takes no answer any more; nothing is written then.
    """
    with writing():
        session, conversation = lock(session_pk)
        if session.returned_at is not None:
            return Done(session=session, became=Became.NOTHING)
        if session.status not in OPEN and not takes_answers(session):
            return None
        ending = Ending(
            kind=ReleaseKind.TOKEN,
            actor=actor,
            outcome=outcome,
            message=one_line(words)[:MESSAGE_MAX].rstrip(),
            note=words[:MULTILINE_MAX],
            answered_by=name,
            returned=clean_values(payloads.fields_of(session), {}),
        )
        over = session.status == SessionStatus.RELEASED
        if not over and end(session, conversation, ending):
            return Done(session=session, became=Became.RELEASED)
        if end_late(session, conversation, ending):
            return Done(session=session, became=Became.LATE)
        return Done(session=session, became=Became.NOTHING)


def takes_answers(session: Session) -> bool:
    """While its return clock runs; never when the handoff failed."""
    live = session.links.filter(revoked_at=None, expires_at__gt=Now())
    return session.status != SessionStatus.FAILED and live.exists()
