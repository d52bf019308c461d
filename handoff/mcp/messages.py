"""JSON-RPC 2.0 as MCP's Streamable HTTP carries it: one message a request, one answer.

Two eras (modelcontextprotocol.io): up to 2025-11-25 a client begins with `initialize`; from
2026-07-28 on each request names its version in `_meta`, and three headers mirror the body.
"""

import base64
import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Final

from handoff.contract import jsontext

HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Versions that begin with `initialize`, newest first."""
STATELESS: Final = ("2026-07-28",)
SUPPORTED: Final = (*STATELESS, *HANDSHAKE)
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022

_WRAPPED: Final = re.compile(r"=\?base64\?(.*)\?=")

type RequestId = str | int | None


class RpcError(Exception):
    """What becomes a JSON-RPC error; `status` is the HTTP status that goes with it."""

    def __init__(
        self, code: int, message: str, *, status: int = 400, data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data
        self.request_id: RequestId = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Message:
    """A readable request; a notification has no `id` and gets no answer."""

    method: str
    params: Mapping[str, Any]
    request_id: RequestId
    is_notification: bool
    version: str
    """The protocol version that it speaks; the oldest for a client that names none."""

    @property
    def is_stateless(self) -> bool:
        return self.version in STATELESS

    @property
    def meta(self) -> Mapping[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, Mapping) else {}


def read(body: bytes, headers: Mapping[str, str]) -> Message:
    """The message of a POST; raises RpcError."""
    try:
        value = jsontext.loads(body)
    except jsontext.JSONProblem as problem:
        raise RpcError(PARSE_ERROR, "The message is not readable JSON.") from problem
    if not isinstance(value, dict):
        raise RpcError(INVALID_REQUEST, "Send one JSON-RPC message, not a batch.")
    request_id = value.get("id")
    try:
        return _message(value, headers)
    except RpcError as error:
        error.request_id = request_id if _is_id(request_id) else None
        raise


def _message(value: dict[str, Any], headers: Mapping[str, str]) -> Message:
    method, params = value.get("method"), value.get("params") or {}
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str) or not method:
        raise RpcError(INVALID_REQUEST, "This is not a JSON-RPC 2.0 request.")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object.")
    if "id" in value and not _is_id(value["id"]):
        raise RpcError(INVALID_REQUEST, "id must be a text or a whole number.")
    message = Message(
        method=method,
        params=params,
        request_id=value.get("id"),
        is_notification="id" not in value,
        version=_version(params, headers),
    )
    if message.is_stateless and not message.is_notification:
        _check_mirrors(message, headers)
    return message


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _version(params: dict[str, Any], headers: Mapping[str, str]) -> str:
    named = headers.get("mcp-protocol-version", "").strip()
    meta = params.get("_meta")
    within = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if named in STATELESS and within is None:
        raise RpcError(INVALID_PARAMS, f"_meta must name the protocol version as {VERSION_KEY}.")
    if within is not None and within != named:
        raise RpcError(
            HEADER_MISMATCH, "The header MCP-Protocol-Version and _meta name different versions."
        )
    if named and named not in SUPPORTED:
        raise RpcError(
            UNSUPPORTED_VERSION,
            f"This server speaks {', '.join(SUPPORTED)}.",
            data={"supported": list(SUPPORTED), "requested": named[:40]},
        )
    return named or HANDSHAKE[-1]


def _check_mirrors(message: Message, headers: Mapping[str, str]) -> None:
    if headers.get("mcp-method", "").strip() != message.method:
        raise RpcError(HEADER_MISMATCH, "The header Mcp-Method must repeat the method.")
    name = message.params.get("name")
    if message.method == "tools/call" and _decoded(headers.get("mcp-name", "").strip()) != name:
        raise RpcError(HEADER_MISMATCH, "The header Mcp-Name must repeat the tool's name.")


def _decoded(value: str) -> str:
    """A header's text: as it stands, or out of the form in which a client wraps what does not
    survive HTTP; a wrapped text that can't be read equals no name.
    """
    wrapped = _WRAPPED.fullmatch(value)
    if wrapped is None:
        return value
    try:
        return base64.b64decode(wrapped[1], validate=True).decode()
    except ValueError:  # not base64, or not UTF-8
        return ""


def result_of(message: Message, result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": message.request_id, "result": dict(result)}


def error_of(error: RpcError) -> dict[str, Any]:
    said: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        said["data"] = error.data
    return {"jsonrpc": "2.0", "id": error.request_id, "error": said}
