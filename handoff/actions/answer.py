"""A person sends the return form: the return, a late return, or entries kept beside it."""

import dataclasses
import datetime as dt
from enum import StrEnum

from django.db.models import Q
from django.db.models.functions import Now

from handoff.actions import throttle
from handoff.actions.events import emit
from handoff.actions.release import Ending, end, end_late, lock
from handoff.actions.trail import note
from handoff.actions.writing import writing
from handoff.contract.kinds import EventType, Outcome, ReleaseKind, SessionStatus
from handoff.contract.limits import MESSAGE_MAX
from handoff.contract.text import one_line
from handoff.contract.values import Returned
from handoff.models import Attempt, ReturnLink, Session, Submission, SubmissionKind
from handoff.selectors import payloads


@dataclasses.dataclass(frozen=True, kw_only=True)
class FormEntries:
    """What the form sent: cleaned already, with the raw entries kept as typed."""

    submission_id: str
    entries: dict[str, str]
    outcome: Outcome
    note: str
    answered_by: str
    returned: Returned


class Received(StrEnum):
    """What became of a form that was sent."""

    RETURNED = "returned"
    LATE = "late"
    REPEATED = "repeated"
    """The same submission came again: nothing changed."""
    KEPT = "kept"
    """Somebody had answered; these entries stand beside that answer."""
    CLOSED = "closed"
    """The link had expired or was revoked, or the handoff never began: nothing was kept."""


def answer_form(link: ReturnLink, form: FormEntries, *, actor: str = "recipient") -> Received:
    """Release the link's session with the form's values; the first form wins.

    `actor` is `owner:<id>` when a signed-in owner fills it in; the release kind is `form` all the
    same. Expiry is decided by the database clock.
    """
    with writing():
        session, conversation = lock(link.session_id)
        if session.submissions.filter(submission_id=form.submission_id).exists():
            return Received.REPEATED
        if session.status == SessionStatus.FAILED or not _is_live(link):
            note("link.refused", session, actor=actor, reason="closed")
            return Received.CLOSED
        ending = Ending(
            kind=ReleaseKind.FORM,
            actor=actor,
            outcome=form.outcome,
            message=one_line(form.note)[:MESSAGE_MAX].rstrip(),
            note=form.note,
            answered_by=form.answered_by,
            returned=form.returned,
        )
        if session.status != SessionStatus.RELEASED and end(session, conversation, ending):
            _keep(session, link, form, SubmissionKind.RETURN)
            return Received.RETURNED
        if end_late(session, conversation, ending):
            _keep(session, link, form, SubmissionKind.LATE)
            return Received.LATE
        _keep(session, link, form, SubmissionKind.AMENDMENT)
        note(
            "handoff.amended",
            session,
            actor=actor,
            details={"entries": len(form.entries)},
        )
        return Received.KEPT


def _is_live(link: ReturnLink) -> bool:
    return ReturnLink.objects.filter(Q(revoked_at=None), pk=link.pk, expires_at__gt=Now()).exists()


def _keep(session: Session, link: ReturnLink, form: FormEntries, kind: SubmissionKind) -> None:
    Submission.objects.create(
        session=session,
        link=link,
        submission_id=form.submission_id,
        kind=kind,
        entries=form.entries,
        outcome=form.outcome,
        note=form.note,
        answered_by=form.answered_by,
    )


def note_posted(link: ReturnLink, *, by_person: bool) -> None:
    """A form was posted; raises TooFast past the link's limit. A person has it open, then."""
    with writing():
        throttle.take_form(link)
        if by_person:
            note_opened(link)


def note_opened(link: ReturnLink) -> None:
    """A person's browser showed the form: a fact beside the attempt, written once.

    Being there keeps the bypass alive, each time.
    """
    with writing():
        session, conversation = lock(link.session_id)
        Session.objects.filter(pk=session.pk, status=SessionStatus.ACTIVE).update(
            recipient_active_at=Now()
        )
        first = ReturnLink.objects.filter(pk=link.pk, opened_at=None).update(opened_at=Now())
        if not first:
            return
        Attempt.objects.filter(session=session, delivery__in=("", "delivered")).update(
            delivery="read", delivery_at=Now()
        )
        note("handoff.delivery_changed", session, actor="recipient", reason="opened")
        emit(
            EventType.DELIVERY_CHANGED,
            agent=session.agent,
            conversation=conversation,
            session=session,
        )


def owner_link(session_pk: int, *, user_pk: int) -> ReturnLink:
    """The link through which a signed-in owner fills the form in; minted on first use."""
    with writing():
        session, _ = lock(session_pk)
        minted_for = f"owner:{user_pk}"
        known = session.links.filter(
            minted_for=minted_for, revoked_at=None, expires_at__gt=Now()
        ).first()
        if known is not None:
            return known
        link = ReturnLink.objects.create(
            session=session,
            minted_for=minted_for,
            expires_at=payloads.return_until(session)
            or Now() + dt.timedelta(hours=session.channel.link_hours),
        )
        note("link.minted", session, actor=minted_for)
        return link
