"""One page of the owner inbox: a conversation with its handoffs, or a detached handoff."""

import datetime as dt
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from handoff.contract import ids
from handoff.contract.kinds import OPEN, Author, ChannelKind, SessionStatus
from handoff.contract.text import visible
from handoff.models import Agent, Conversation, File, Message, Session
from handoff.selectors import inboxes, inboxwords, payloads

LINES: Final = 200
HANDOFFS: Final = 20
_RELEASABLE: Final = OPEN | {SessionStatus.UNKNOWN}
_EXTENDABLE: Final = frozenset({SessionStatus.ACTIVE, SessionStatus.UNKNOWN})


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
    files: tuple[File, ...] = ()


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
    may_extend: bool
    may_remind: bool
    is_mine: bool
    """The owner who looks at it holds it."""
    held_by: int | None
    others: tuple[tuple[int, str], ...]
    """The other owners whom it can be given to, with their names; without who holds it."""
    is_unseen: bool
    """It waits in an owner inbox, and nobody had it before them yet."""

    @property
    def form_path(self) -> str:
        """Where its owner fills the return form in: a page of `returnforms`, which is above us."""
        return f"/r/owner/{self.row.handoff}/"

    @property
    def may_move(self) -> bool:
        """Whether its holder can change."""
        return self.row.status == SessionStatus.ACTIVE

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
    later: int | None
    """The event number after which there are more; None when the newest are among `lines`."""
    strips: tuple[Handoff, ...]
    """The handoffs that are not done, the open one first."""
    past: tuple[Handoff, ...]

    @property
    def handoffs(self) -> tuple[Handoff, ...]:
        return (*self.strips, *self.past)

    @property
    def detached(self) -> str:
        """The public id of the handoff without a conversation; "" on a conversation's page."""
        return "" if self.conversation else self.handoffs[0].row.handoff

    @property
    def reply_to(self) -> Handoff | None:
        """The handoff that a reply belongs to."""
        return next((strip for strip in self.strips if strip.may_reply), None)


def of_conversation(
    owner_pk: int, public_id: str, *, before: int | None = None, after: int | None = None
) -> Thread | None:
    """The owner's conversation with its newest lines, or those before or after an event number.

    None for another owner's conversation and for none.
    """
    rows = Conversation.objects.select_related("agent").filter(
        agent__in=Agent.objects.filter(owners=owner_pk), public_id=public_id
    )
    row = rows.first() if ids.is_public(public_id) else None
    if row is None:
        return None
    sessions = list(inboxes.sessions_of(owner_pk).filter(conversation=row)[:HANDOFFS])
    owners = _owners(row.agent)
    handoffs = [_handoff(session, owner_pk, owners) for session in sessions]
    newest = handoffs[0] if handoffs else None
    strips = sorted(
        (item for item in handoffs if _stands_out(item, newest)),
        key=lambda item: item.row.status not in OPEN,
    )
    lines, earlier, later = _lines(row, before, after)
    return Thread(
        conversation=row.public_id,
        subscriber=visible(row.subscriber_name or row.subscriber_email or row.external_id),
        email=visible(row.subscriber_email),
        external_id=visible(row.external_id),
        agent=visible(str(row.agent)),
        lines=lines,
        earlier=earlier,
        later=later,
        strips=tuple(strips),
        past=tuple(item for item in handoffs if item not in strips),
    )


def of_detached(owner_pk: int, session: Session) -> Thread:
    """The owner's handoff without a conversation, read through `inboxes.session_of`."""
    handoff = _handoff(session, owner_pk, _owners(session.agent))
    return Thread(
        conversation="",
        subscriber="",
        email="",
        external_id="",
        agent=handoff.row.agent,
        lines=(),
        earlier=None,
        later=None,
        strips=() if handoff.is_done else (handoff,),
        past=(handoff,) if handoff.is_done else (),
    )


def _stands_out(item: Handoff, newest: Handoff | None) -> bool:
    """A failed handoff is final: it stands on top until there is a newer one."""
    if item.row.status == SessionStatus.FAILED:
        return item is newest
    return not item.is_done


def _owners(agent: Agent) -> tuple[tuple[int, str], ...]:
    """Who can hold a handoff of an agent, by name."""
    found = agent.owners.filter(is_active=True)
    return tuple(sorted(((one.pk, inboxes.owner_name(one)) for one in found), key=itemgetter(1)))


def _lines(
    row: Conversation, before: int | None, after: int | None
) -> tuple[tuple[Line, ...], int | None, int | None]:
    """One page of lines, and the numbers before and after which there are more."""
    every = row.messages.filter(superseded=False)
    if before is None and after is not None and every.filter(event_id__gt=after).exists():
        found = list(every.filter(event_id__gt=after).order_by("event_id")[:LINES])
    else:
        wanted = every if before is None else every.filter(event_id__lt=before)
        found = list(reversed(wanted.order_by("-event_id")[:LINES]))
    if not found:
        return (), None, None
    payloads.with_files(found)
    first, last = found[0].event_id, found[-1].event_id
    is_newest = before is None and after is None
    has_later = not is_newest and every.filter(event_id__gt=last).exists()
    has_earlier = every.filter(event_id__lt=first).exists()
    return tuple(map(_line, found)), first if has_earlier else None, last if has_later else None


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
        files=tuple(message.files.all()) if message.has_files else (),
    )


def _handoff(session: Session, owner_pk: int, owners: tuple[tuple[int, str], ...]) -> Handoff:
    row = inboxes.row(session, closes=payloads.return_until(session))
    attempt = max(session.attempts.all(), key=lambda item: item.number, default=None)
    active = session.status == SessionStatus.ACTIVE
    released = session.status == SessionStatus.RELEASED
    inbox = session.channel.kind == ChannelKind.OWNER_INBOX
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
        may_extend=session.status in _EXTENDABLE,
        may_remind=session.status in _EXTENDABLE and row.return_until is not None,
        is_mine=session.holder_id == owner_pk,
        held_by=session.holder_id,
        others=tuple((pk, name) for pk, name in owners if pk not in (owner_pk, session.holder_id)),
        is_unseen=active and inbox and not any(item.delivery for item in session.attempts.all()),
    )
