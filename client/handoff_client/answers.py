"""Whatever came back over HTTP as one sentence for a model: the table of the desk's contract.

Nothing here raises, and nothing here is silent: a caller always has words that are true.
"""

import dataclasses
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

NO_CREDENTIAL: Final = "Refused. This agent has no credential for calling tools."
NOT_SENDABLE: Final = "Refused. The arguments are not plain JSON; nothing was sent."
UNREADABLE: Final = "The tool callback returned no readable result. Do not say that it worked."
INCOMPLETE: Final = (
    "The tool callback could not be completed. It is not known whether anybody was asked; "
    "do not say that they were."
)
NOT_KNOWN: Final = "It is not known whether anybody was asked."
ERROR_MAX: Final = 4000
"""Characters of a refusal's own words: whoever sits between may send any number."""

DESK_CODES: Final = frozenset(
    {
        "already_released",
        "channel_not_available",
        "contact_limit",
        "cycle",
        "depth_limit",
        "desk_fault",
        "desk_unavailable",
        "dispatch_failed",
        "dispatch_unknown",
        "handoff_already_open",
        "idempotency_reused",
        "invalid_arguments",
        "malformed",
        "no_channels",
        "no_public_url",
        "not_authorised",
        "not_found",
        "not_granted",
        "not_holder",
        "not_yours",
        "outcome_unrecorded",
        "route_refused",
        "still_running",
        "superseded",
        "too_fast",
        "too_large",
        "unknown_tool",
    }
)
"""The desk's codes. A 502 or 504 with none of them is not the desk's own word."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a call comes back with.

    `text` is for the model. `result` is for the program; of an error it is
    `{error, code, details}`, with the desk's code or one of `no_credential`, `not_sendable`,
    `http_<status>`, `unreadable` and `incomplete`.
    """

    text: str
    is_error: bool
    result: dict[str, Any]

    @property
    def code(self) -> str:
        """The code of an error; "" of a success."""
        code = self.result.get("code", "")
        return code if self.is_error and isinstance(code, str) else ""

    @property
    def handoff(self) -> dict[str, Any] | None:
        """The handoff that the answer describes, when it describes one."""
        found = self.result.get("handoff")
        return found if isinstance(found, dict) else None


@dataclasses.dataclass(frozen=True)
class Received:
    """An HTTP answer; `body` is None when it was too large, or ended early."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes | None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def may_pass(self) -> bool:
        """Would the same request be worth making again, later?"""
        return self.status >= 500 or self.status in (408, 425, 429)


def read(received: Received | None) -> Answer:
    """The answer to a tool call; None stands for no HTTP answer at all."""
    if received is None:
        return failure(INCOMPLETE, "incomplete")
    if not received.is_success:
        return refusal(received)
    body = json_object(received.body)
    text = body.get("text") if body is not None else None
    if body is None or not isinstance(text, str) or not text.strip():
        return failure(UNREADABLE, "unreadable", {"status": received.status})
    told = body.get("isError")
    is_error = told if isinstance(told, bool) else text.startswith("Refused.")
    result = body.get("result")
    return Answer(text, is_error, result if isinstance(result, dict) else {})


def refusal(received: Received) -> Answer:
    """What any status but 2xx says."""
    body = json_object(received.body) or {}
    code = body.get("code")
    ours = isinstance(code, str) and code in DESK_CODES
    words = [f"Refused. Tool callback returned HTTP {received.status}."]
    if error := _own_words(body):
        words.append(error)
    if received.status in (502, 504) and not ours:
        words.append(NOT_KNOWN)
    given = body.get("details")
    details = {**(given if isinstance(given, dict) else {}), "status": received.status}
    return failure(" ".join(words), str(code) if ours else f"http_{received.status}", details)


def _own_words(body: Mapping[str, Any]) -> str:
    for name in ("error", "detail", "title"):
        words = body.get(name)
        if isinstance(words, str) and words.strip():
            return words.strip()[:ERROR_MAX]
    return ""


def failure(text: str, code: str, details: Mapping[str, Any] = MappingProxyType({})) -> Answer:
    return Answer(text, True, {"error": text, "code": code, "details": dict(details)})


def json_object(body: bytes | None) -> dict[str, Any] | None:
    """A body as a JSON object that can be written again; None when it is none."""
    if not body:
        return None
    try:
        value = json.loads(body.decode("utf-8"))
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
