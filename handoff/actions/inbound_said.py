"""A person wrote to us: a reply into the conversation, the release line, or a late answer.

Whatever they wrote, they must be the recipient, in the place that the channel names; then an id of
ours decides which handoff they mean. An address alone never does.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from django.db.models.functions import Now

from handoff.actions import inbound_files, throttle
from handoff.actions.inbound_outcomes import Applied, Became, Carry, Wait
from handoff.actions.refusals import note_inbound
from handoff.actions.relatives import note_heard, spoken_to
from handoff.actions.release import lock
from handoff.actions.release_by_token import (
    Became as Answered,
)
from handoff.actions.release_by_token import (
    answer_in_words,
    named_by_token,
    takes_answers,
    words_of,
)
from handoff.actions.reply import reply
from handoff.contract.commands import ReleaseCommand, read_release, without_capabilities
from handoff.contract.kinds import SessionStatus
from handoff.contract.limits import NAME_MAX, TURN_TEXT_MAX
from handoff.contract.text import as_name, scrub
from handoff.errors import TooFast
from handoff.models import InboundEvent, Session
from handoff.selectors import inbound, recipientwords
from handoff.selectors.inbound import Meant
from handoff.transports.inbound import Said

DISPATCHING_SECONDS: Final = 1.0
"""Until the next look whether a dispatch is over, which an answer has overtaken."""
EARLIER_SECONDS: Final = 0.1
ACTOR: Final = "recipient"
_AN_ADDRESS: Final = re.compile(r"@|(?:\d[\s().-]*){7}")


def apply_said(row: InboundEvent, said: Said) -> Applied | Carry | Wait:
    """What somebody wrote, applied. Inside `writing()`; nothing is locked yet but the row."""
    with recipientwords.spoken_in(row.channel):
        here = spoken_to(row.channel, said)
        if not here:
            return _unmatched(row, "not_the_recipient")
        found = inbound.meant(said, here)
        command = read_release(said.text)
        if command is not None:
            return _obey(row, said, command, found, here)
        if found.session is not None:
            return _pass_on(row, said, found.session, here)
        note_heard(here)
        if found.several:
            return Applied(became=Became.WHICH, answer=recipientwords.which(), is_aside=True)
        return _unmatched(row, "no_handoff")


def _unmatched(row: InboundEvent, reason: str) -> Applied:
    """Nobody is answered: whoever wrote may be a machine, or a stranger who would learn by it."""
    note_inbound("inbound.unmatched", row.channel, reason)
    return Applied(became=Became.UNMATCHED)


def _obey(
    row: InboundEvent, said: Said, command: ReleaseCommand, found: Meant, here: Sequence[int]
) -> Applied:
    """`/release TOKEN`, of a handoff of these channels; alone in its line it may mean the handoff
    in whose thread it stands. What is wrong with it is told to nobody.
    """
    try:
        throttle.take_guess_from(row.channel_id, said.sender_id)
    except TooFast:
        note_heard(here)
        note_inbound("inbound.refused", row.channel, "too_many_guesses")
        first = throttle.is_first(f"guesses:{row.channel_id}")
        words = recipientwords.too_many_guesses() if first else ""
        return Applied(became=Became.TOO_MANY, answer=words)
    named = named_by_token(command.token, here)
    if command.bare and found.by_reference:
        named = found.session
    done = None
    if named is not None:
        named, _ = lock(named.pk)
        note_heard(here)
        words = without_capabilities(scrub(words_of(command)))
        done = answer_in_words(named.pk, words=words, actor=ACTOR, name=_name(said, named))
    if named is None or done is None or done.became is Answered.NOTHING:
        note_heard(here)
        note_inbound("inbound.refused", row.channel, "release_token")
        return Applied(became=Became.NOT_RECOGNISED, answer=recipientwords.not_recognised())
    throttle.give_back_guess_from(row.channel_id, said.sender_id)
    if done.became is Answered.LATE or named.status == SessionStatus.UNKNOWN:
        return _late(done.session, said)
    words = " ".join([recipientwords.released(), *_without_files(said)])
    return Applied(became=Became.RELEASED, session=done.session, answer=words)


def _pass_on(
    row: InboundEvent, said: Said, meant: Session, here: Sequence[int]
) -> Applied | Carry | Wait:
    """A plain message to the handoff that it is about."""
    session, _ = lock(meant.pk)
    if session.status == SessionStatus.DISPATCHING:
        return Wait(seconds=DISPATCHING_SECONDS, session=session)
    if _bring_forward_earlier(row, session):
        return Wait(seconds=EARLIER_SECONDS, session=session)
    text = without_capabilities(scrub(said.text))
    if session.status == SessionStatus.ACTIVE and session.conversation_id is not None:
        if any(file.waits for file in said.files):
            return Carry(conversation_pk=session.conversation_id)
        return _say(row, said, session, text, here)
    note_heard(here)
    if session.status == SessionStatus.ACTIVE:
        return Applied(became=Became.DETACHED, session=session, answer=recipientwords.detached())
    if text and session.returned_at is None and takes_answers(session):
        answer_in_words(session.pk, words=text, actor=ACTOR, name=_name(said, session))
        return _late(session, said)
    first = throttle.is_first(f"closed:{session.pk}")
    words = recipientwords.closed() if first else ""
    return Applied(
        became=Became.CLOSED, session=session, answer=words, done=recipientwords.closed()
    )


def _bring_forward_earlier(row: InboundEvent, session: Session) -> bool:
    """What was written before this and waited for the dispatch is passed on before this; False when
    there is nothing. What broke when it was tried holds up no other.
    """
    earlier = InboundEvent.objects.filter(
        session=session, processed_at=None, pk__lt=row.pk, attempts=0
    )
    free = earlier.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)
    InboundEvent.objects.filter(pk__in=list(free)).update(next_attempt_at=Now())
    return earlier.exists()


def _say(
    row: InboundEvent, said: Said, session: Session, text: str, here: Sequence[int]
) -> Applied:
    """To the subscriber; the recipient did something, so the idle clock begins anew."""
    try:
        throttle.take_reply(session.pk)
    except TooFast:
        note_heard(here)
        note_inbound("inbound.refused", row.channel, "too_many_replies")
        first = throttle.is_first(f"replies:{session.pk}")
        words = recipientwords.too_many_replies()
        return Applied(
            became=Became.TOO_MANY, session=session, answer=words if first else "", done=words
        )
    note_heard(here)
    files, refused = inbound_files.sayable(said, session.conversation_id or 0)
    asides = [recipientwords.only_text()] if said.attachments else []
    lost = recipientwords.not_carried(refused, left_out=said.left_out)
    text = text or ", ".join(file.name for file in files)
    if text:
        text, cut = _fitting(text)
        asides += cut
        reply(
            session.pk,
            text=text,
            name=_name(said, session),
            actor=ACTOR,
            client_id=_client_id(row),
            files=[file.public_id for file in files],
        )
    else:
        Session.objects.filter(pk=session.pk).update(recipient_active_at=Now())
    return Applied(
        became=Became.REPLIED if text else Became.NO_TEXT,
        session=session,
        answer=" ".join([*lost, *asides]),
        is_aside=not lost,
        done=recipientwords.passed_on() if text else recipientwords.nothing_to_do(),
    )


def _fitting(text: str) -> tuple[str, list[str]]:
    """As much of it as a line holds, and what there is to say of that."""
    if len(text) <= TURN_TEXT_MAX:
        return text, []
    return text[: TURN_TEXT_MAX - 1].rstrip() + "…", [recipientwords.cut()]


def _late(session: Session, said: Said) -> Applied:
    words = " ".join([recipientwords.answered_late(), *_without_files(said)])
    return Applied(became=Became.LATE, session=session, answer=words)


def _without_files(said: Said) -> list[str]:
    """What hands back takes words only."""
    return [recipientwords.only_text()] if said.files or said.left_out else []


def _name(said: Said, session: Session) -> str:
    """What the subscriber sees of whoever wrote: the name that they gave, unless that would tell an
    address or a number; else the channel's.
    """
    name = as_name(said.sender_name)
    if not name or name == said.sender_id or _AN_ADDRESS.search(name):
        name = session.channel.label
    return name[:NAME_MAX].strip()


def _client_id(row: InboundEvent) -> str:
    """The event's own, so that it is said once whatever happens to its row."""
    named = f"{row.channel_id}:{row.key}".encode()
    return "in." + hashlib.sha256(named).hexdigest()[:48]
