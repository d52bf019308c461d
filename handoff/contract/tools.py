"""The tools as a model is offered them: names, descriptions and JSON Schemas (draft 2020-12).

The schemas protect nothing, since several frameworks do not enforce them: the server checks every
argument again. The text is the same for the same facts, so that prompt caches hold.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from handoff.contract import limits
from handoff.contract.answers import ChannelName
from handoff.contract.files import FILES_PER_MESSAGE
from handoff.contract.kinds import FieldType, Outcome, Urgency

type Schema = dict[str, Any]

_SESSION: Final[Schema] = {
    "type": "string",
    "description": "The handoff_session_id of the handoff, hs_…",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Offered:
    """What decides which tools an agent is offered now."""

    channels: Sequence[ChannelName]
    """Those available right now, by id."""
    has_session: bool
    may_cancel: bool
    """An open or unknown session that it asked for."""
    holds: bool
    """It holds a handoff as a sibling."""
    call_seconds: float = limits.CALL_SECONDS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    name: str
    title: str
    description: str
    parameters: Schema
    read_only: bool = False
    repeats_safely: bool = False
    """Calling it twice with the same arguments changes nothing more."""


def tools(offered: Offered) -> list[Tool]:
    """The tools that are offered, by name."""
    found = [_ask_a_person()]
    if offered.may_cancel:
        found.append(_cancel())
    if offered.holds:
        found += [_release(), _reply()]
    if offered.channels:
        found.append(_request(offered))
    if offered.has_session:
        found.append(_status())
    return sorted(found, key=lambda tool: tool.name)


def _request(offered: Offered) -> Tool:
    listed = "\n".join(str(channel) for channel in offered.channels)
    return Tool(
        name="handoff_request",
        title="Hand over to a person or another agent",
        description=(
            "Hands this conversation to a person or another agent through one of your channels, "
            "and asks them for typed values. Until they hand it back, the visitor's messages go "
            "to them and not to you. The answer says whether they were reached; believe only "
            f"that. It may take up to {offered.call_seconds:g} seconds. Channels:\n{listed}"
        ),
        parameters=_object(
            {
                "channel_id": {
                    "type": "integer",
                    "enum": sorted(channel.id for channel in offered.channels),
                    "description": "Whom to ask: the id of a channel that is available now.",
                },
                "summary": _text(
                    "What is happening, who the visitor is and what they need.", limits.SUMMARY
                ),
                "expected_action": _text(
                    "The concrete next step that you want from them.", limits.EXPECTED_ACTION
                ),
                "urgency": {
                    "type": "string",
                    "enum": list(Urgency),
                    "description": "Default: normal.",
                },
                "contact_back_email": {
                    "type": "string",
                    "format": "email",
                    "description": "Where they can write to the visitor. "
                    "Default: the visitor's address, when it is known.",
                },
                "include_transcript": {
                    "type": "boolean",
                    "description": "Whether they see the recent conversation. Default: true.",
                },
                "extra_context": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "description": "More facts for them by name, at most "
                    f"{limits.EXTRA_CONTEXT_BYTES} bytes as JSON.",
                },
                "expected_return": {
                    "type": "array",
                    "maxItems": limits.FIELDS_MAX,
                    "description": "The values that you need back, as fields of a form.",
                    "items": _field(),
                },
            },
            required=("channel_id", "summary", "expected_action"),
        ),
    )


def _field() -> Schema:
    return _object(
        {
            "name": {
                "type": "string",
                "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$",
                "description": "Unique within the list, ignoring case.",
            },
            "type": {"type": "string", "enum": list(FieldType)},
            "enum_values": {
                "type": "array",
                "items": {"type": "string", "maxLength": limits.ENUM_VALUE_MAX},
                "maxItems": limits.ENUM_VALUES[1],
                "description": "The choices; for the type enum only.",
            },
            "label": {"type": "string", "maxLength": limits.FIELD_LABEL_MAX},
            "description": {"type": "string", "maxLength": limits.FIELD_TEXT_MAX},
            "required": {"type": "boolean", "description": "Default: false."},
            "placeholder": {
                "type": "string",
                "maxLength": limits.FIELD_TEXT_MAX,
                "description": "An example of an answer.",
            },
        },
        required=("name", "type"),
    )


def _release() -> Tool:
    return Tool(
        name="handoff_release",
        title="Hand back",
        description=(
            "Hands a conversation that was given to you back to the agent it came from, with the "
            "values it asked for. Values that can't be used are named and block nothing."
        ),
        parameters=_object(
            {
                "handoff_session_id": _SESSION,
                "outcome": {"type": "string", "enum": list(Outcome)},
                "message": {
                    "type": "string",
                    "maxLength": limits.MESSAGE_MAX,
                    "description": "A word to the other agent.",
                },
                "return_values": {
                    "type": "object",
                    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
                    "description": "The values by field name, as the handoff's schema says.",
                },
            },
            required=("handoff_session_id", "outcome"),
        ),
        repeats_safely=True,
    )


def _reply() -> Tool:
    return Tool(
        name="handoff_reply",
        title="Answer the visitor",
        description="Says something to the visitor of a handoff that was given to you.",
        parameters=_object(
            {
                "handoff_session_id": _SESSION,
                "text": {"type": "string", "minLength": 1, "maxLength": limits.TURN_TEXT_MAX},
                "files": {
                    "type": "array",
                    "items": {"type": "string"},
                    "maxItems": FILES_PER_MESSAGE,
                    "description": "Ids of files that were uploaded to this handoff.",
                },
            },
            required=("handoff_session_id", "text"),
        ),
    )


def _status() -> Tool:
    return Tool(
        name="handoff_status",
        title="Look at a handoff",
        description="Tells how a handoff stands, whether it was delivered and what came back.",
        parameters=_object({"handoff_session_id": _SESSION}, required=("handoff_session_id",)),
        read_only=True,
        repeats_safely=True,
    )


def _cancel() -> Tool:
    return Tool(
        name="handoff_cancel",
        title="Withdraw a handoff",
        description="Withdraws a handoff that you asked for; the recipient is told.",
        parameters=_object(
            {
                "handoff_session_id": _SESSION,
                "reason": {"type": "string", "maxLength": limits.MESSAGE_MAX},
            },
            required=("handoff_session_id",),
        ),
        repeats_safely=True,
    )


def _ask_a_person() -> Tool:
    return Tool(
        name="ask_a_person",
        title="Ask a person",
        description=(
            "The last resort: puts a question to whoever answers for this desk. The answer says "
            "whether anybody was asked; an answer to the question comes later, if at all."
        ),
        parameters=_object({"question": _text("The question.", limits.QUESTION)}, ("question",)),
    )


def _text(description: str, size: tuple[int, int]) -> Schema:
    least, most = size
    return {
        "type": "string",
        "minLength": least,
        "maxLength": most,
        "description": f"{description} {least} to {most} characters.",
    }


def _object(properties: dict[str, Schema], required: Sequence[str]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
