"""The tools of an agent that holds a hop, as calls: arguments in, a sentence out."""

import pydantic

from handoff import links
from handoff.actions.arguments import invalid
from handoff.actions.sibling_calls import release_as_sibling, reply_as_sibling
from handoff.contract.answers import Answer
from handoff.contract.sibling_calls import ReleaseArguments, ReplyArguments, parse
from handoff.contract.turns import ToolCall
from handoff.contract.wording import problems_of
from handoff.errors import NotFound, Refused
from handoff.models import Agent, Session
from handoff.selectors import hops, payloads, toolanswers


def behalf(agent: Agent, call: ToolCall) -> Session | None:
    """The hop that a call is made for; None for none.

    Raises Refused: an agent that holds hops has to say, and may only name one that it holds.
    """
    named = call.on_behalf_of
    if named:
        session = _given(agent, named)
        if not hops.held(agent).filter(pk=session.pk).exists():
            raise Refused("not_holder", hops.NOT_HOLDER)
        return session
    if "on_behalf_of" not in call.model_fields_set:
        held = list(hops.held(agent).values_list("public_id", flat=True)[:20])
        if held:
            problem = f"is required while you hold handoffs: one of {', '.join(held)}, or null"
            raise invalid([{"field": "on_behalf_of", "problem": problem}], tool=call.name)
    return None


def release_call(agent: Agent, call: ToolCall) -> Answer:
    """`handoff_release`; raises Refused."""
    args = _arguments(ReleaseArguments, call)
    session = _given(agent, args.handoff_session_id)
    first = release_as_sibling(agent, session.pk, args)
    session = payloads.sessions().get(pk=session.pk)
    return toolanswers.of_release(session, already=not first)


def reply_call(agent: Agent, call: ToolCall, *, key: str) -> Answer:
    """`handoff_reply`; raises Refused. The same `Idempotency-Key` says it once."""
    args = _arguments(ReplyArguments, call)
    session = _given(agent, args.handoff_session_id)
    client_id = links.digest(f"{session.public_id} {key}") if key else None
    try:
        first = reply_as_sibling(
            agent, session.pk, text=args.text, client_id=client_id, files=args.files
        )
    except NotFound as error:
        if not args.files:
            raise
        problem = "must have been uploaded to this handoff and sent with nothing yet"
        raise invalid([{"field": "files", "problem": problem}], tool=call.name) from error
    session = payloads.sessions().get(pk=session.pk)
    return toolanswers.of_reply(session, already=not first)


def _given(agent: Agent, public_id: str) -> Session:
    try:
        return hops.given(agent, public_id)
    except NotFound as error:
        raise Refused("not_holder", error.sentence) from error


def _arguments[A: ReleaseArguments | ReplyArguments](model: type[A], call: ToolCall) -> A:
    try:
        return parse(model, call.args)
    except pydantic.ValidationError as error:
        raise invalid(problems_of(error), tool=call.name) from error
