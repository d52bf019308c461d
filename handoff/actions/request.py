"""`handoff_request`: the intent is committed, then somebody is contacted."""

import datetime as dt
import logging
import time
from functools import partial
from typing import Final

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import IntegrityError
from django.db.models.functions import Now

from handoff.actions import dispatch, repeats, throttle
from handoff.actions.channels import note_success
from handoff.actions.choosing import chosen
from handoff.actions.events import emit, locked
from handoff.actions.hops import check_hop
from handoff.actions.repeats import Intent, Made
from handoff.actions.trail import note
from handoff.actions.writing import patiently, writing
from handoff.contract import answers
from handoff.contract.answers import Answer
from handoff.contract.kinds import AttemptStatus, EventType, SessionStatus
from handoff.errors import DeskUnavailable, OutcomeUnrecorded
from handoff.models import (
    Agent,
    Attempt,
    Channel,
    Conversation,
    IdempotencyRecord,
    ReturnLink,
    Session,
)
from handoff.selectors import payloads, toolanswers
from handoff.selectors.tokens import Caller
from handoff.transports import transport_class

log = logging.getLogger(__name__)
OUTCOME_SECONDS: Final = 5.0


def answer_earlier(agent: Agent, intent: Intent) -> Answer | None:
    """The answer of an earlier call that this one repeats, whatever became of its channel since."""
    made = repeats.earlier(agent, intent)
    return _answer(made) if made else None


def hand_over(caller: Caller, intent: Intent, channel: Channel, *, started: float) -> Answer:
    """Contact the channel's recipient and answer with what is true about that.

    `started` is the `time.monotonic()` of the call's arrival: the whole call has a deadline.
    Raises Refused, DeskUnavailable (nobody was contacted) and OutcomeUnrecorded.
    """
    if transport_class(channel.kind).in_database:
        return _answer(_write_intent(caller, intent, channel))
    with repeats.alone(caller.agent, intent) as first:
        if first:
            return _contact(caller, intent, channel, started=started)
    made = repeats.wait_for_earlier(caller.agent, intent)
    if made is None:
        raise repeats.twin_runs()
    return _answer(made)


def _contact(caller: Caller, intent: Intent, channel: Channel, *, started: float) -> Answer:
    deadline = min(
        time.monotonic() + settings.DISPATCH_SECONDS, started + settings.CALL_SECONDS - 1
    )
    with dispatch.slot(channel.pk) as taken:
        made = _write_intent(caller, intent, channel)
        sent = (
            dispatch.dispatch(made.attempt.pk, taken, deadline=deadline) if made.attempt else None
        )
    if made.attempt is None or sent is None:
        return _answer(made)
    # whoever was reached is not denied because of a database that is back within seconds
    until = min(started + settings.CALL_SECONDS - 1, time.monotonic() + OUTCOME_SECONDS)
    try:
        patiently(partial(dispatch.record_outcome, made.attempt.pk, sent), until=until)
    except DatabaseError as error:
        if sent.status == AttemptStatus.REFUSED:
            raise DeskUnavailable from error
        raise OutcomeUnrecorded(made.attempt.public_id) from error
    return _answer(made, until=until)


def _answer(made: Made, *, until: float = 0.0) -> Answer:
    try:
        return patiently(partial(_read, made), until=until)
    except DatabaseError:
        # Somebody may have been contacted: what can't be read any more must not be denied.
        log.exception("the answer could not be read")
        return answers.desk_fault()


def _read(made: Made) -> Answer:
    session = payloads.sessions().get(pk=made.session.pk)
    if made.already or made.replayed:
        session = repeats.settled(session)
    return toolanswers.of_dispatch(session, already=made.already, replayed=made.replayed)


def _write_intent(caller: Caller, intent: Intent, channel: Channel) -> Made:
    made: Made | None = None
    try:
        with writing():
            made = _intent(caller, intent, channel)
    except IntegrityError:
        # A twin with the same key committed between our look and our insert: it answers for us.
        twin = repeats.known(caller.agent, intent)
        if twin is None:
            raise
        return twin
    except DatabaseError as error:
        if made is not None and made.attempt is None:
            # Lost in the commit, and the commit is the contact: it may stand or not.
            raise OutcomeUnrecorded from error
        raise
    return made


def _intent(caller: Caller, intent: Intent, channel: Channel) -> Made:
    conversation = locked(intent.conversation.pk) if intent.conversation else None
    found = repeats.earlier(caller.agent, intent)
    if found is not None:
        return found
    # First the key: a twin queues here, and finds ours once we have committed.
    record = repeats.claim(caller.agent, intent) if intent.key else None
    throttle.take_handoff(caller.agent)
    Channel.objects.select_for_update(no_key=True).get(pk=channel.pk)
    channel = chosen(caller.agent, channel.pk)  # an admin, or other calls, may have been faster
    depth = check_hop(caller.agent, channel, intent.parent)
    session = _new_session(caller.agent, conversation, channel, intent, depth=depth)
    attempt = Attempt.objects.create(session=session)
    if record is not None:
        IdempotencyRecord.objects.filter(pk=record.pk).update(session=session)
    actor = f"agent:{caller.agent.name}"
    note(
        "handoff.requested",
        session,
        actor=actor,
        token=caller.token,
        tool="handoff_request",
        attempt=attempt.public_id,
        details={
            "urgency": session.urgency,
            "fields": len(session.expected_return),
            "summary_characters": len(session.summary),
        },
    )
    note("link.minted", session, actor=actor)
    emit(EventType.REQUESTED, agent=caller.agent, conversation=conversation, session=session)
    if not transport_class(channel.kind).in_database:
        return Made(session, attempt)
    # The recipient reads our rows, so this commit is the contact.
    Attempt.objects.filter(pk=attempt.pk).update(status=AttemptStatus.ACCEPTED, finished_at=Now())
    Session.objects.advance(
        session.pk,
        old=frozenset({SessionStatus.DISPATCHING}),
        status=SessionStatus.ACTIVE,
        recipient_active_at=Now(),
    )
    note_success(channel)
    if session.target_id is not None:
        note("handoff.offered", session, actor=actor, attempt=attempt.public_id)
        note("handoff.delivered", session, actor="desk", attempt=attempt.public_id)
    note("handoff.dispatched", session, actor="desk", attempt=attempt.public_id)
    emit(EventType.STARTED, agent=caller.agent, conversation=conversation, session=session)
    return Made(session, None)


def _new_session(
    agent: Agent, conversation: Conversation | None, channel: Channel, intent: Intent, *, depth: int
) -> Session:
    request = intent.request
    session = Session.objects.create(
        agent=agent,
        conversation=conversation,
        channel=channel,
        run=intent.run,
        target=channel.target,
        parent=intent.parent,
        depth=depth,
        summary=request.summary,
        expected_action=request.expected_action,
        urgency=request.urgency,
        contact_back_email=request.contact_back_email
        or (conversation.subscriber_email if conversation else ""),
        include_transcript=request.include_transcript,
        extra_context=[list(pair) for pair in request.extra_context],
        expected_return=[
            field.model_dump(mode="json", exclude_defaults=True)
            for field in request.expected_return
        ],
        transcript_until=conversation.last_event_id if conversation else 0,
    )
    ReturnLink.objects.create(
        session=session, expires_at=Now() + dt.timedelta(hours=channel.link_hours)
    )
    return session
