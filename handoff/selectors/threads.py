"""One page of the owner inbox: a conversation with its handoffs, or a detached handoff."""

import datetime as dt
from dataclasses import dataclass
from typing import Final

from handoff.contract import ids
from handoff.contract.kinds import OPEN, Author, SessionStatus
from handoff.contract.text import visible
from handoff.models import Agent, Conversation, Message, Session
from handoff.selectors import inboxes, inboxwords, payloads

LINES: Final = 200
HANDOFFS: Final = 20
_RELEASABLE: Final = OPEN | {SessionStatus.UNKNOWN}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the transcript."""

    id: str
    author: str
    label: str
    """Who says it: the name, else the word for the author."""
    kind: str
    """The word for the author when `label` is a name; "" otherwise."""
    text: str
    at: dt.datetime
    is_note: bool
    undelivered: bool


@dataclass(frozen=True, kw_only=True)
class Handoff:
    """One handoff as its owner sees it, with what can be done about it."""

    row: inboxes.Row
    summary: str
    expected_action: str
    context: tuple[tuple[str, str], ...]
    asks: tuple[tuple[str, bool], ...]
    """Label and whether it is required, for each field that the agent wants back."""
    contact: str
    told: str
    """The sentence that the agent was given when nobody was reached, or perhaps nobody."""
    cause: str
    """Why, for owners only; the agent never sees it."""
    reached: str
    note: str
    """The resume note; "" until there is one."""
    remark: str
    """What the person wrote in the note field, line breaks kept."""
    answered_by: str
    may_fill: bool
    may_reply: bool
    may_claim: bool
    may_end: bool

    @property
    def form_path(self) -> str:
        """Where its owner fills the return form in: a page of `returnforms`, which is above us."""
        return f"/r/owner/{self.row.handoff}/"

    @property
    def is_done(self) -> bool:
        return self.row.status == SessionStatus.RELEASED


@dataclass(frozen=True, kw_only=True)
class Thread:
    """Everything on the page. A detached handoff has no conversation and no lines."""

    conversation: str
    subscriber: str
    email: str
    external_id: str
    agent: str
    lines: tuple[Line, ...]
    earlier: int | None
    """The event number before which there are more lines; None when there are none."""
    is_latest: bool
    """The newest lines are among `lines`."""
    strips: tuple[Handoff, ...]
    """The handoffs that are not done, the open one first."""
    past: tuple[Handoff, ...]

    @property
    def detached(self) -> str:
        """The public id of the handoff without a conversation; "" on a conversation's page."""
        return "" if self.conversation else (*self.strips, *self.past)[0].row.handoff

    @property
    def reply_to(self) -> Handoff | None:
        """The handoff that a reply belongs to."""
        return next((strip for strip in self.strips if strip.may_reply), None)


def of_conversation(owner_pk: int, public_id: str, *, before: int | None = None) -> Thread | None:
    """The owner's conversation with its newest lines, or those before an event number.

    None for another owner's conversation and for none.
    """
    rows = Conversation.objects.select_related("agent").filter(
        agent__in=Agent.objects.filter(owners=owner_pk), public_id=public_id
    )
    row = rows.first() if ids.is_public(public_id) else None
    if row is None:
        return None
    sessions = list(inboxes.sessions_of(owner_pk).filter(conversation=row)[:HANDOFFS])
    handoffs = [_handoff(session) for session in sessions]
    newest = handoffs[0] if handoffs else None
    strips = sorted(
        (item for item in handoffs if _stands_out(item, newest)),
        key=lambda item: item.row.status not in OPEN,
    )
    lines, earlier = _lines(row, before)
    return Thread(
        conversation=row.public_id,
        subscriber=visible(row.subscriber_name or row.subscriber_email or row.external_id),
        email=visible(row.subscriber_email),
        external_id=visible(row.external_id),
        agent=visible(str(row.agent)),
        lines=lines,
        earlier=earlier,
        is_latest=before is None,
        strips=tuple(strips),
        past=tuple(item for item in handoffs if item not in strips),
    )


def of_detached(session: Session) -> Thread:
    """A handoff without a conversation, read through `inboxes.session_of`."""
    handoff = _handoff(session)
    return Thread(
        conversation="",
        subscriber="",
        email="",
        external_id="",
        agent=handoff.row.agent,
        lines=(),
        earlier=None,
        is_latest=True,
        strips=() if handoff.is_done else (handoff,),
        past=(handoff,) if handoff.is_done else (),
    )


def _stands_out(item: Handoff, newest: Handoff | None) -> bool:
    """A failed handoff is final: it stands on top until there is a newer one."""
    if item.row.status == SessionStatus.FAILED:
        return item is newest
    return not item.is_done


def _lines(row: Conversation, before: int | None) -> tuple[tuple[Line, ...], int | None]:
    found = row.messages.filter(superseded=False)
    if before is not None:
        found = found.filter(event_id__lt=before)
    newest = list(found.order_by("-event_id")[: LINES + 1])
    shown = newest[:LINES]
    earlier = shown[-1].event_id if len(newest) > LINES else None
    return tuple(_line(message) for message in reversed(shown)), earlier


def _line(message: Message) -> Line:
    word = str(inboxwords.AUTHORS[message.author])
    return Line(
        id=message.public_id,
        author=message.author,
        label=visible(message.name) or word,
        kind=word if message.name else "",
        text=visible(message.text),
        at=message.at,
        is_note=message.author == Author.SYSTEM and bool(message.note_type),
        undelivered=message.undelivered,
    )


def _handoff(session: Session) -> Handoff:
    row = inboxes.row(session, closes=payloads.return_until(session))
    attempt = max(session.attempts.all(), key=lambda item: item.number, default=None)
    active = session.status == SessionStatus.ACTIVE
    released = session.status == SessionStatus.RELEASED
    return Handoff(
        row=row,
        summary=visible(session.summary),
        expected_action=visible(session.expected_action),
        context=tuple((visible(key), visible(value)) for key, value in session.extra_context),
        asks=tuple(
            (visible(field.label or field.name), field.required)
            for field in payloads.fields_of(session)
        ),
        contact=visible(session.contact_back_email),
        told=inboxwords.told_the_agent(session),
        cause=inboxwords.cause(session, attempt),
        reached=inboxwords.reached(session, attempt),
        note=visible(payloads.note_text(session)) if released else "",
        remark=visible(session.note),
        answered_by=visible(session.answered_by),
        may_fill=row.return_until is not None,
        may_reply=active and session.conversation_id is not None,
        may_claim=active and session.holder_id is None,
        may_end=session.status in _RELEASABLE,
    )
