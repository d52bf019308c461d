"""What a refusal of Discord means (channels.md 5.3): its own code first, then the status."""

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.contract.text import one_line
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, rate_limited, unclear

CLOUDFLARE_SECONDS: Final = 60.0
"""How long to keep away when it is not Discord that says no, but what stands before it."""
INVALID_FORM: Final = "50035"
UNKNOWN_CHANNEL: Final = "10003"
NO_HISTORY: Final = "160002"
THREAD_EXISTS: Final = "160004"
THREAD_CLOSED: Final = frozenset({UNKNOWN_CHANNEL, "50083", "160005"})
"""Of a post into a thread: deleted, archived for good, locked."""

_CREDENTIAL: Final = (
    "Discord does not take bot_token: on the Bot page of the Developer Portal press Reset Token, "
    "and enter the new one."
)
_ACCESS: Final = (
    "The bot is not in the server, or cannot see the channel: invite it with the address in the "
    "guide, and give it View Channel there."
)
_RIGHTS: Final = (
    "The bot sees the channel and may not write there: give it Send Messages, Create Public "
    "Threads, Send Messages in Threads and Read Message History in it."
)
_GONE: Final = "There is no such channel for this bot: copy the channel ID again."
_WEBHOOK: Final = (
    "The webhook is gone, and Discord wants it never to be called again: make a new one and enter "
    "its URL as webhook_url."
)
_OURS: Final = "Discord did not take the form of the message; this is a fault of the desk."
_FORUM: Final = "The channel is a forum, which takes no plain messages: choose a text channel."
_WAIT: Final = "Discord takes fewer messages than this desk sends; it asks to wait."


@dataclasses.dataclass(frozen=True)
class _Row:
    kind: Kind
    hint: str


_BY_CODE: Final[dict[int, _Row]] = {
    40001: _Row(Kind.AUTH, _CREDENTIAL),
    50014: _Row(Kind.AUTH, _CREDENTIAL),
    50001: _Row(Kind.PERMISSION, _ACCESS),
    50013: _Row(Kind.PERMISSION, _RIGHTS),
    50008: _Row(Kind.PERMISSION, "channel_id names no text channel: choose one."),
    50009: _Row(Kind.PERMISSION, "The server's verification level keeps the bot out."),
    50083: _Row(Kind.PERMISSION, "channel_id names an archived thread: choose a text channel."),
    160005: _Row(Kind.PERMISSION, "channel_id names a locked thread: choose a text channel."),
    40333: _Row(
        Kind.PERMISSION, "Cloudflare, before Discord, lets this desk's address not through."
    ),
    50007: _Row(Kind.RECIPIENT_UNREACHABLE, "That person takes no messages from the bot."),
    10003: _Row(Kind.NOT_FOUND, _GONE),
    10004: _Row(Kind.NOT_FOUND, "There is no such server for this bot: copy the server ID again."),
    10008: _Row(Kind.NOT_FOUND, "The message that it is about was deleted."),
    10015: _Row(Kind.NOT_FOUND, _WEBHOOK),
    50027: _Row(Kind.NOT_FOUND, _WEBHOOK),
    200000: _Row(Kind.BAD_FORMAT, "AutoMod of the server blocked the message: let the bot pass."),
    200001: _Row(Kind.BAD_FORMAT, "AutoMod of the server blocked the thread: let the bot pass."),
    50035: _Row(Kind.BAD_FORMAT, _OURS),
    50006: _Row(Kind.BAD_FORMAT, _OURS),
    50109: _Row(Kind.BAD_FORMAT, _OURS),
    160002: _Row(Kind.BAD_FORMAT, "Give the bot Read Message History, so that it can reply."),
    40058: _Row(Kind.BAD_FORMAT, _FORUM),
    220001: _Row(Kind.BAD_FORMAT, _FORUM),
    220002: _Row(Kind.BAD_FORMAT, _FORUM),
    220003: _Row(Kind.BAD_FORMAT, _FORUM),
    40005: _Row(Kind.TOO_LONG, _OURS),
    20016: _Row(Kind.RATE_LIMITED, "The channel is in slow mode: let the bot pass it."),
    20028: _Row(Kind.RATE_LIMITED, _WAIT),
    20029: _Row(Kind.RATE_LIMITED, _WAIT),
    40003: _Row(Kind.RATE_LIMITED, _WAIT),
    40062: _Row(Kind.RATE_LIMITED, _WAIT),
    130000: _Row(Kind.TRANSIENT, "Discord is overloaded; try again later."),
}
_BY_STATUS: Final[dict[int, _Row]] = {
    401: _Row(Kind.AUTH, _CREDENTIAL),
    403: _Row(Kind.PERMISSION, _ACCESS),
    404: _Row(Kind.NOT_FOUND, _GONE),
    413: _Row(Kind.TOO_LONG, _OURS),
}
_OTHERWISE: Final = _Row(Kind.BAD_FORMAT, _OURS)


def refusal(answer: HttpAnswer, *, sends: bool) -> TransportError:
    """What an answer without success says.

    `sends` says that the call posts a message, which may be there after a 5xx that names no
    reason.
    """
    said = answer.json() or {}
    code = said.get("code")
    code = code if isinstance(code, int) and not isinstance(code, bool) else 0
    if answer.status == 429:
        return _limited(answer, said)
    row = _BY_CODE.get(code)
    if row is None and (answer.status < 400 or answer.status >= 500):
        return unclear(answer, sends=sends)
    row = row or _BY_STATUS.get(answer.status, _OTHERWISE)
    faults = tuple(_faults(said.get("errors"), where=""))
    kind = row.kind
    if code == 50035 and any(fault == "content: BASE_TYPE_MAX_LENGTH" for fault in faults):
        kind = Kind.TOO_LONG
    return TransportError(
        kind,
        _words(answer.status, code, said, faults),
        retry_after=_seconds(said) if kind is Kind.RATE_LIMITED else None,
        provider_code=str(code or answer.status),
        hint=row.hint,
    )


def kept_out(answer: HttpAnswer) -> bool:
    """Whether it is what stands before Discord that says no, and to whatever else we ask, too.

    A 429 of Discord's own says how long, and of what (discord-api-docs#5810).
    """
    if answer.status != 429 or _seconds(answer.json() or {}) is not None:
        return False
    return not any(name.startswith("x-ratelimit-") for name in answer.headers)


def _limited(answer: HttpAnswer, said: dict[str, Any]) -> TransportError:
    error = rate_limited(answer, _seconds(said))
    if not kept_out(answer):
        return error
    return rate_limited(answer, max(CLOUDFLARE_SECONDS, error.retry_after or 0.0))


def _seconds(said: dict[str, Any]) -> float | None:
    wait = said.get("retry_after")
    return float(wait) if isinstance(wait, int | float) and not isinstance(wait, bool) else None


def _faults(errors: Any, *, where: str) -> Iterator[str]:
    """`content: BASE_TYPE_MAX_LENGTH` for each fault of a nested form error."""
    if not isinstance(errors, dict):
        return
    for key, inner in errors.items():
        if key != "_errors":
            yield from _faults(inner, where=f"{where}.{key}".lstrip("."))
        elif isinstance(inner, list):
            for fault in inner:
                code = fault.get("code") if isinstance(fault, dict) else None
                yield f"{where or 'body'}: {code or 'unnamed'}"


def _words(status: int, code: int, said: dict[str, Any], faults: tuple[str, ...]) -> str:
    message = said.get("message")
    parts = [f"Discord refused with {status}" + (f", {code}" if code else "")]
    parts += [message] if isinstance(message, str) else []
    parts += [", ".join(faults[:5])] if faults else []
    return one_line(": ".join(parts))
