"""`ask_a_person`: the escalation of last resort. Whatever the route does, the tool answers."""

import dataclasses
import time
from typing import Final

from django.conf import settings
from django.db import Error as DatabaseError

import audit.trail
from handoff.actions import routes
from handoff.actions.ask_subscriber import ask_subscriber
from handoff.actions.routes import Failed, Question
from handoff.actions.writing import writing
from handoff.contract import answers
from handoff.contract.answers import Answer
from handoff.contract.route import Reached, Refusal
from handoff.errors import DeskUnavailable, OutcomeUnrecorded, Refused
from handoff.models import Conversation
from handoff.selectors.tokens import Caller

TOOL: Final = "ask_a_person"
SHIPPED: Final = "handoff.actions.ask_subscriber.ask_subscriber"
"""The route whose recipient reads our own database: its line and its audit row are one commit."""


def ask_a_person(
    caller: Caller, question: str, conversation: Conversation | None, *, started: float
) -> Answer:
    """Put a checked question to the deployment's route, and answer with what is true about that.

    `started` is the `time.monotonic()` of the call's arrival: the whole call has a deadline.
    Raises Refused with the route's own sentence, DeskUnavailable (nobody was asked),
    OutcomeUnrecorded, and what the route threw when that means "stop".
    """
    asking = _Asking(
        caller,
        Question(
            text=question,
            agent=caller.agent.name,
            conversation=conversation.public_id if conversation else None,
        ),
    )
    outcome = _shipped(asking) if settings.ROUTE == SHIPPED else _outside(asking, started)
    if isinstance(outcome, Refusal):
        raise Refused("route_refused", outcome.sentence)
    if isinstance(outcome, Failed):
        return answers.nobody_asked()
    return answers.put_to(outcome.who)


def _shipped(asking: "_Asking") -> Reached | Refusal:
    question = asking.question
    with writing():
        outcome = ask_subscriber(
            question.text,
            agent=question.agent,
            conversation=question.conversation,
            deadline=time.monotonic() + settings.ROUTE_SECONDS,
        )
        asking.note_outcome(outcome)
    return outcome


def _outside(asking: "_Asking", started: float) -> Reached | Refusal | Failed:
    """Nobody is asked before a committed row says that somebody is about to be."""
    outcome: Reached | Refusal | Failed
    with routes.place() as place:
        if place is None:
            outcome = Failed(f"all {settings.ROUTE_PLACES} places for routes are taken")
            with writing():
                asking.note_outcome(outcome)
            return outcome
        with writing():
            asking.note("agent.escalation_started")
        left = started + settings.CALL_SECONDS - 1 - time.monotonic()
        if left <= 0:
            raise DeskUnavailable
        outcome = place.ask(asking.question, seconds=min(settings.ROUTE_SECONDS, left))
    try:
        with writing():
            asking.note_outcome(outcome)
    except DatabaseError as error:
        if isinstance(outcome, Refusal):
            raise DeskUnavailable from error
        raise OutcomeUnrecorded from error
    return outcome


@dataclasses.dataclass(frozen=True)
class _Asking:
    """One question on its way, as the trail sees it: sizes and ids, never the words."""

    caller: Caller
    question: Question

    def note_outcome(self, outcome: Reached | Refusal | Failed) -> None:
        if isinstance(outcome, Reached):
            self.note("agent.escalated")
        elif isinstance(outcome, Refusal):
            self.note("agent.escalation_failed", reason=outcome.sentence)
        else:
            self.note(
                "agent.escalation_failed", reason=answers.NOBODY_ASKED, failure=outcome.failure
            )

    def note(self, action: str, *, reason: str = "", failure: str = "") -> None:
        audit.trail.record(
            action,
            actor=f"agent:{self.question.agent}",
            agent=self.question.agent,
            token=self.caller.token,
            tool=TOOL,
            conversation=self.question.conversation or "",
            reason=reason,
            failure=failure,
            details={
                "route": settings.ROUTE,
                "question_characters": len(self.question.text),
                "places_held": routes.held(),
            },
        )
