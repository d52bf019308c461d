"""One tool call: find the tool, check whose things it names, run it, answer in a sentence."""

import dataclasses
import logging
import time
from collections.abc import Callable
from typing import Any, Final

import pydantic
from django.conf import settings

import audit.trail
from handoff import links
from handoff.actions import gaps, throttle
from handoff.actions.arguments import invalid
from handoff.actions.ask import ask_a_person
from handoff.actions.choosing import chosen
from handoff.actions.conversations import upsert_conversation
from handoff.actions.endings import cancel
from handoff.actions.once import once
from handoff.actions.repeats import Intent, Key
from handoff.actions.request import answer_earlier, hand_over
from handoff.actions.sibling_tools import behalf, release_call, reply_call
from handoff.actions.writing import writing
from handoff.contract import answers, limits, text
from handoff.contract.answers import Answer
from handoff.contract.escalation import parse_escalation
from handoff.contract.kinds import SessionStatus
from handoff.contract.request import (
    ArgumentProblems,
    HandoffRequest,
    canonical,
    parse_request,
)
from handoff.contract.turns import ConversationBody, ToolCall
from handoff.contract.wording import problems_of
from handoff.errors import NotFound, Refused
from handoff.models import Agent, Conversation
from handoff.selectors import conversations, handoffs, payloads, toolanswers
from handoff.selectors.tokens import Caller

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arrival:
    """A readable call with what its headers said and when it came."""

    call: ToolCall
    key: str = ""
    """The `Idempotency-Key` header."""
    started: float = dataclasses.field(default_factory=time.monotonic)


def call_tool(caller: Caller, arrival: Arrival) -> Answer:
    """Run one tool for an agent; every refusal comes back as an answer, with its audit row.

    Raises NotYours, TooFast, DeskUnavailable and OutcomeUnrecorded, which have HTTP answers of
    their own.
    """
    call = arrival.call
    try:
        with throttle.counting(caller, has_limit=call.name == "handoff_request"):
            conversation = _conversation(caller, call)
            tool = TOOLS.get(call.name)
            if tool is None:
                raise Refused(
                    "unknown_tool",
                    f"There is no tool of that name here. Tools: {', '.join(TOOLS)}.",
                    details={"tools": list(TOOLS)},
                )
            answer = tool(caller, arrival, conversation)
    except Refused as refusal:
        answer = answers.refused(refusal.code, refusal.sentence, refusal.details)
        with writing():
            _reject(caller, call.name, refusal)
    if answer.is_error and answer.result.get("code") in ("dispatch_failed", "dispatch_unknown"):
        gaps.note_failed_call(answer.result["code"], caller=caller, tool=call.name)
    return answer


def call_value(caller: Caller, value: dict[str, Any], *, key: str) -> Answer:
    """Run a call as it was sent: an object with a `name`; raises as `call_tool`."""
    started = time.monotonic()
    try:
        call = ToolCall.model_validate(value)
    except pydantic.ValidationError as error:
        throttle.take_call(caller)
        refusal = invalid(problems_of(error), tool=value["name"])
        with writing():
            _reject(caller, value["name"], refusal)
        return answers.refused(refusal.code, refusal.sentence, refusal.details)
    return call_tool(caller, Arrival(call=call, key=key, started=started))


def _reject(caller: Caller, tool: str, refusal: Refused) -> None:
    problems = refusal.details.get("problems", [])
    audit.trail.record(
        "tool.call_rejected",
        actor=f"agent:{caller.agent.name}",
        agent=caller.agent.name,
        other_agent=refusal.other_agent,
        token=caller.token,
        tool=tool,
        reason=refusal.code,
        details={"problems": len(problems), "fields": [item["field"] for item in problems]},
    )


def _conversation(caller: Caller, call: ToolCall) -> Conversation | None:
    named = call.conversation
    if named is None:
        return None
    if not isinstance(named, str):
        body = ConversationBody(external_id=named.external_id)
        with writing():
            row, created = upsert_conversation(caller.agent, body)
            if created and call.name == "handoff_request":
                throttle.take_call(caller)  # or a flood of refused ones would fill the table
        return row
    try:
        return conversations.find(caller.agent, named)
    except NotFound as error:
        raise Refused("not_found", "There is no such conversation.") from error


def _repeat(arrival: Arrival, conversation: Conversation | None) -> Key:
    call = arrival.call
    if len(arrival.key) > limits.IDEMPOTENCY_KEY_MAX:
        problem = f"must have at most {limits.IDEMPOTENCY_KEY_MAX} characters"
        raise invalid([{"field": "Idempotency-Key", "problem": problem}], tool=call.name)
    place = conversation.public_id if conversation else ""
    if call.on_behalf_of:
        place += f" {call.on_behalf_of}"
    request_hash = links.digest(f"{place} {canonical(call.args)}")
    if arrival.key:
        return Key(key=f"key:{arrival.key}", request_hash=request_hash)
    return Key(key=f"run:{call.run}:{request_hash}" if call.run else "", request_hash=request_hash)


def _request(caller: Caller, arrival: Arrival, conversation: Conversation | None) -> Answer:
    parent = behalf(caller.agent, arrival.call)
    repeat = _repeat(arrival, conversation)
    request = _parsed(caller.agent, arrival.call)
    intent = Intent(
        key=repeat.key,
        request_hash=repeat.request_hash,
        request=request,
        conversation=conversation,
        run=arrival.call.run or "",
        parent=parent,
    )
    answer = answer_earlier(caller.agent, intent)
    if answer is None:
        channel = chosen(caller.agent, request.channel_id)
        if not settings.PUBLIC_BASE_URL:
            raise Refused(
                "no_public_url",
                "The desk has no public address configured, so no return link can be made. "
                "Nobody was asked.",
            )
        answer = hand_over(caller, intent, channel, started=arrival.started)
    if answer.replayed or answer.result.get("already"):
        throttle.take_call(caller)  # a repeat is no new handoff
    return answer


def _parsed(agent: Agent, call: ToolCall) -> HandoffRequest:
    try:
        return parse_request(call.args)
    except ArgumentProblems as error:
        problems = _listed(error)
        channel_id = call.args.get("channel_id")
        if isinstance(channel_id, int) and not isinstance(channel_id, bool):
            try:
                chosen(agent, channel_id)
            except Refused as refusal:
                if all(item["field"] != "channel_id" for item in problems):
                    problems.append({"field": "channel_id", "problem": _CHANNELS[refusal.code]})
        raise invalid(problems, tool=call.name) from error


_CHANNELS: Final = {
    "not_granted": "leads to an agent that you may not hand over to any more",
    "channel_not_available": "is not a channel that is available to you",
    "no_channels": "can't be right: no channel is available to you now",
    "contact_limit": "is a channel that was asked as often as it may be within an hour",
}


def _listed(error: ArgumentProblems) -> list[dict[str, str]]:
    return [{"field": item.field, "problem": item.problem} for item in error.problems]


def _session_argument(call: ToolCall, *, others: frozenset[str]) -> str:
    problems = [
        {"field": name, "problem": "is not an argument of this tool"}
        for name in sorted(set(call.args) - others - {"handoff_session_id"})
    ]
    session_id = call.args.get("handoff_session_id")
    if not isinstance(session_id, str) or not session_id.strip():
        problems.append({"field": "handoff_session_id", "problem": "is required: a text hs_…"})
    if problems:
        raise invalid(problems, tool=call.name)
    return str(session_id).strip()


def _ask(caller: Caller, arrival: Arrival, conversation: Conversation | None) -> Answer:
    try:
        question = parse_escalation(arrival.call.args).question
    except ArgumentProblems as error:
        raise invalid(_listed(error), tool=arrival.call.name) from error
    return once(
        caller.agent,
        arrival.call.name,
        _repeat(arrival, conversation),
        lambda: ask_a_person(caller, question, conversation, started=arrival.started),
    )


def _status(caller: Caller, arrival: Arrival, _: Conversation | None) -> Answer:
    session_id = _session_argument(arrival.call, others=frozenset())
    try:
        return toolanswers.of_status(handoffs.find(caller.agent, session_id))
    except NotFound as error:
        raise Refused("not_found", error.sentence) from error


def _cancel(caller: Caller, arrival: Arrival, _: Conversation | None) -> Answer:
    call = arrival.call
    session_id = _session_argument(call, others=frozenset({"reason"}))
    try:
        session = handoffs.find(caller.agent, session_id)
    except NotFound as error:
        raise Refused("not_found", error.sentence) from error
    ended = session.status in (SessionStatus.RELEASED, SessionStatus.FAILED)
    won = not ended and cancel(session, reason=_reason(call), actor=f"agent:{caller.agent.name}")
    return toolanswers.of_cancel(payloads.sessions().get(pk=session.pk), already=not won)


def _reason(call: ToolCall) -> str:
    raw = call.args.get("reason")
    if raw is None:
        return ""
    problem = ""
    if not isinstance(raw, str):
        problem = "must be a text"
    else:
        try:
            cleaned = text.clean(raw)
        except text.TextProblem as error:
            problem = str(error)
        else:
            if len(cleaned) <= limits.MESSAGE_MAX:
                return cleaned
            problem = f"must have at most {limits.MESSAGE_MAX} characters; it has {len(cleaned)}"
    raise invalid([{"field": "reason", "problem": problem}], tool=call.name)


def _release(caller: Caller, arrival: Arrival, _: Conversation | None) -> Answer:
    return release_call(caller.agent, arrival.call)


def _reply(caller: Caller, arrival: Arrival, _: Conversation | None) -> Answer:
    return reply_call(caller.agent, arrival.call, key=arrival.key)


TOOLS: Final[dict[str, Callable[[Caller, Arrival, Conversation | None], Answer]]] = {
    "ask_a_person": _ask,
    "handoff_cancel": _cancel,
    "handoff_release": _release,
    "handoff_reply": _reply,
    "handoff_request": _request,
    "handoff_status": _status,
}
"""Each tool by its name, in the order in which they are listed to a caller."""
