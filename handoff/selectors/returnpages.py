"""What the pages of the return form show: which page it is, the request, and what was sent."""

import dataclasses
import datetime as dt
from enum import StrEnum

from django.db.models.functions import Now

from handoff import links
from handoff.contract import ids
from handoff.contract.fields import ReturnField
from handoff.contract.kinds import AttemptStatus, FieldType, ReleaseKind, SessionStatus, Urgency
from handoff.contract.literals import as_text, plain_number
from handoff.contract.scalars import Scalar
from handoff.contract.text import visible
from handoff.contract.values import Returned
from handoff.models import ReturnLink, Session, Submission, SubmissionKind
from handoff.selectors import conversations, payloads
from handoff.transports.base import TranscriptLine


class Stage(StrEnum):
    """Which page a return link leads to."""

    OPEN = "open"
    CLOSED = "closed"
    """It ended without an answer; the form can still be sent, as a late return."""
    ANSWERED = "answered"
    EXPIRED = "expired"
    REVOKED = "revoked"
    NOT_STARTED = "not_started"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReturnPage:
    """One handoff as its recipient sees it. Texts of the agent are ready for display."""

    session_pk: int
    stage: Stage
    reference: str
    agent_name: str
    channel_label: str
    timezone: str
    expected_action: str
    summary: str
    urgency: Urgency
    subscriber_name: str
    contact_back_email: str
    extra_context: tuple[tuple[str, str], ...]
    transcript: tuple[TranscriptLine, ...]
    fields: tuple[ReturnField, ...]
    in_conversation: bool
    """A visitor waits in a chat; False for a detached request."""
    bypass: bool
    """The visitor's messages go to the recipient right now."""
    open_until: dt.datetime | None
    release: ReleaseKind | None
    idle_minutes: int
    answered_at: dt.datetime | None
    answered_by: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class SentLine:
    """One field of what was sent."""

    title: str
    type: FieldType
    text: str
    """As the asker gets it; as typed when it is not usable; empty when nothing was sent."""
    usable: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sent:
    """One set of entries, for the browser that sent them."""

    kind: SubmissionKind
    at: dt.datetime
    lines: tuple[SentLine, ...]
    outcome: str
    note: str
    answered_by: str


def find(token: str) -> tuple[ReturnLink, ReturnPage] | None:
    """The link that a signed address names, and its page; None for what we did not sign or do not
    hold. The database's clock says whether it has expired.
    """
    link_id = links.read_return_token(token)
    link = ReturnLink.objects.filter(link_id=link_id).first() if link_id else None
    return (link, behind(link)) if link else None


def behind(link: ReturnLink) -> ReturnPage:
    """The page to which a link leads at this moment."""
    session = payloads.sessions().get(pk=link.session_id)
    live = ReturnLink.objects.filter(pk=link.pk, expires_at__gt=Now()).exists()
    stage = _stage(session, revoked=link.revoked_at is not None, expired=not live)
    return _page(session, stage=stage, open_until=link.expires_at)


def owned(public_id: str, *, user_pk: int) -> ReturnPage | None:
    """The page of a session whose agent this user looks after; None for any other.

    Open as long as any of its links is: an owner's own link is minted when the form is sent.
    """
    rows = payloads.sessions().filter(public_id=public_id, agent__owners=user_pk)
    session = rows.first() if ids.is_public(public_id) else None
    if session is None:
        return None
    until = payloads.return_until(session)
    live = session.links.filter(revoked_at=None, expires_at__gt=Now()).exists()
    stage = _stage(session, revoked=until is None, expired=not live)
    return _page(session, stage=stage, open_until=until)


def sent(session_pk: int, *, submission_id: str) -> Sent | None:
    """What one browser sent; None when there is no such submission of this session."""
    row = (
        Submission.objects.select_related("session")
        .filter(session=session_pk, submission_id=submission_id)
        .first()
    )
    if row is None:
        return None
    fields = payloads.fields_of(row.session)
    kind = SubmissionKind(row.kind)
    returned = Returned() if kind == SubmissionKind.AMENDMENT else payloads.returned_of(row.session)
    return Sent(
        kind=kind,
        at=row.at,
        lines=tuple(_line(field, row.entries, returned) for field in fields),
        outcome=row.outcome,
        note=visible(row.note),
        answered_by=visible(row.answered_by),
    )


def _stage(session: Session, *, revoked: bool, expired: bool) -> Stage:
    if session.status == SessionStatus.FAILED or _withdrawn_unsent(session):
        return Stage.NOT_STARTED
    if revoked:
        return Stage.REVOKED
    if session.returned_at is not None:
        return Stage.ANSWERED
    if expired:
        return Stage.EXPIRED
    return Stage.CLOSED if session.status == SessionStatus.RELEASED else Stage.OPEN


def _withdrawn_unsent(session: Session) -> bool:
    return session.release == ReleaseKind.CANCELLED and all(
        attempt.status == AttemptStatus.REFUSED for attempt in session.attempts.all()
    )


def _page(session: Session, *, stage: Stage, open_until: dt.datetime | None) -> ReturnPage:
    return ReturnPage(
        session_pk=session.pk,
        stage=stage,
        reference=session.public_id,
        agent_name=visible(str(session.agent)),
        channel_label=visible(session.channel.label),
        timezone=session.channel.timezone,
        expected_action=visible(session.expected_action),
        summary=visible(session.summary),
        urgency=Urgency(session.urgency),
        subscriber_name=visible(session.conversation.subscriber_name)
        if session.conversation
        else "",
        contact_back_email=session.contact_back_email,
        extra_context=tuple((visible(key), visible(text)) for key, text in session.extra_context),
        transcript=tuple(
            dataclasses.replace(line, name=visible(line.name), text=visible(line.text))
            for line in conversations.transcript(session)
        ),
        fields=payloads.fields_of(session),
        in_conversation=session.conversation_id is not None,
        bypass=session.status == SessionStatus.ACTIVE and session.conversation_id is not None,
        open_until=open_until,
        release=ReleaseKind(session.release) if session.release else None,
        idle_minutes=session.channel.idle_minutes,
        answered_at=session.returned_at,
        answered_by=visible(session.answered_by),
    )


def _line(field: ReturnField, entries: dict[str, str], returned: Returned) -> SentLine:
    usable = field.name in returned.values
    text = _shown(returned.values[field.name]) if usable else entries.get(field.name, "")
    return SentLine(
        title=visible(field.title),
        type=field.type,
        text=visible(text),
        usable=not any(item.name == field.name for item in returned.invalid),
    )


def _shown(value: Scalar) -> str:
    if isinstance(value, str):
        return value
    return as_text(value) if isinstance(value, bool) else plain_number(value)
