"""The methods: what the server is, which tools there are, and one call."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from handoff.actions.calls import call_value
from handoff.contract import ids
from handoff.contract.answers import Answer
from handoff.contract.tool_formats import ToolFormat, formatted
from handoff.mcp.messages import (
    HANDSHAKE,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    SUPPORTED,
    Message,
    RpcError,
)
from handoff.selectors.offers import offered
from handoff.selectors.tokens import Caller

INSTRUCTIONS: Final = (
    "The handoff desk: asks a person or another agent when you are stuck. Every answer is a "
    "sentence to go by; say only what it says about whether anybody was reached."
)
_SERVER: Final = {"name": "handoff-desk", "title": "Handoff Desk", "version": "1"}
_CAPABILITIES: Final[dict[str, Any]] = {"tools": {"listChanged": False}}
_SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"
_CONVERSATION: Final = "handoff/conversation"
_BEHALF: Final = "handoff/on_behalf_of"
_RUN: Final = "handoff/run"


def answer(message: Message, caller: Caller, headers: Mapping[str, str]) -> dict[str, Any]:
    """The result of one request; raises RpcError and what a call raises."""
    method = _METHODS.get(message.method)
    if method is None or (message.method in _OF_ONE_ERA and not _in_era(message)):
        status = 404 if message.is_stateless else 200
        raise RpcError(METHOD_NOT_FOUND, "There is no such method here.", status=status)
    result = method(message, caller, headers)
    if message.is_stateless:
        result = {**result, "resultType": "complete", "_meta": {_SERVER_KEY: _SERVER}}
    return result


def _in_era(message: Message) -> bool:
    return message.is_stateless is (message.method == "server/discover")


def _initialize(message: Message, _caller: Caller, _headers: Mapping[str, str]) -> dict[str, Any]:
    asked = message.params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in HANDSHAKE else HANDSHAKE[0],
        "capabilities": _CAPABILITIES,
        "serverInfo": _SERVER,
        "instructions": INSTRUCTIONS,
    }


def _discover(_message: Message, _caller: Caller, _headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "supportedVersions": list(SUPPORTED),
        "capabilities": _CAPABILITIES,
        "instructions": INSTRUCTIONS,
        **_UNCACHED,
    }


_UNCACHED: Final[dict[str, Any]] = {"ttlMs": 0, "cacheScope": "private"}


def _ping(_message: Message, _caller: Caller, _headers: Mapping[str, str]) -> dict[str, Any]:
    return {}


def _list(message: Message, caller: Caller, _headers: Mapping[str, str]) -> dict[str, Any]:
    listed = formatted(offered(caller.agent), ToolFormat.MCP, strict=False)
    return {"tools": listed, **(_UNCACHED if message.is_stateless else {})}


def _call(message: Message, caller: Caller, headers: Mapping[str, str]) -> dict[str, Any]:
    name, arguments = message.params.get("name"), message.params.get("arguments")
    if not isinstance(name, str) or not name.strip():
        raise RpcError(INVALID_PARAMS, "A tool is required.")
    if arguments is not None and not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments must be an object.")
    value = {"name": name.strip(), "args": arguments or {}, **_context(message.meta, headers)}
    found = call_value(caller, value, key=headers.get("idempotency-key", "").strip())
    return content(found)


def content(found: Answer) -> dict[str, Any]:
    """An answer as the result of `tools/call`."""
    return {
        "content": [{"type": "text", "text": found.text}],
        "structuredContent": found.result,
        "isError": found.is_error,
    }


def _context(meta: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """Where the call belongs. Never from an argument: a model must not choose its conversation."""
    context: dict[str, Any] = {}
    conversation = headers.get("handoff-conversation", "").strip() or meta.get(_CONVERSATION)
    if isinstance(conversation, str) and conversation:
        known = ids.is_public(conversation)
        context["conversation"] = conversation if known else {"external_id": conversation}
    elif conversation:
        context["conversation"] = conversation
    behalf = headers.get("handoff-on-behalf-of")
    if behalf is not None:
        context["on_behalf_of"] = behalf.strip() or None
    elif _BEHALF in meta:
        context["on_behalf_of"] = meta[_BEHALF]
    if meta.get(_RUN) is not None:
        context["run"] = meta[_RUN]
    return context


type _Method = Callable[[Message, Caller, Mapping[str, str]], dict[str, Any]]
_METHODS: Final[dict[str, _Method]] = {
    "initialize": _initialize,
    "server/discover": _discover,
    "ping": _ping,
    "tools/list": _list,
    "tools/call": _call,
}
_OF_ONE_ERA: Final = frozenset({"initialize", "server/discover", "ping"})
"""`ping` and `initialize` are gone from 2026-07-28 on, when `server/discover` came."""
