"""What a refusal of Slack means (channels.md 4.4). Errors come with HTTP 200 and `"ok": false`."""

import re
from typing import Any, Final

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.contract.text import one_line
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, rate_limited, unclear

_REINSTALL: Final = (
    "Slack does not take bot_token any more: reinstall the app under OAuth & Permissions and "
    "enter the new token."
)
_NO_CHANNEL: Final = (
    "There is no such channel, or the bot was not invited to this private channel: check "
    "channel_id, then type /invite @ and the bot's name there."
)
_INVITE: Final = "Invite the bot: type /invite @ and its name in the channel."
_OURS: Final = "Slack did not take the form of the message; this is a fault of the desk."
_MAY_NOT: Final = "Whoever runs the workspace does not let the app post in this channel."
_LATER: Final = "Slack has a problem of its own for the moment; see status.slack.com."
_TOO_LONG: Final = ("msg_too_long", "msg_blocks_too_long", "too_many_attachments")
_BAD_FORMAT: Final = (
    "invalid_blocks",
    "no_text",
    "invalid_arg_name",
    "invalid_charset",
    "invalid_json",
)
PLAINER: Final = frozenset((*_TOO_LONG, *_BAD_FORMAT))
"""Codes after which a shorter text without blocks is worth one try."""
THREAD_GONE: Final = frozenset(
    {"thread_not_found", "cannot_reply_to_message", "restricted_action_non_threadable_channel"}
)
"""Codes after which the same post goes to the channel itself."""
_TABLE: Final[dict[str, tuple[Kind, str]]] = {
    **dict.fromkeys(
        ("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"),
        (Kind.AUTH, _REINSTALL),
    ),
    "missing_scope": (Kind.PERMISSION, ""),
    "channel_not_found": (Kind.NOT_FOUND, _NO_CHANNEL),
    "is_archived": (Kind.NOT_FOUND, "The channel is archived: unarchive it, or choose another."),
    "not_in_channel": (Kind.PERMISSION, f"The bot is not in the channel. {_INVITE}"),
    "restricted_action_read_only_channel": (
        Kind.PERMISSION,
        "Only some people may post in this channel: let the app, or choose another channel.",
    ),
    **dict.fromkeys(("restricted_action", "ekm_access_denied"), (Kind.PERMISSION, _MAY_NOT)),
    **dict.fromkeys(_TOO_LONG, (Kind.TOO_LONG, _OURS)),
    **dict.fromkeys(_BAD_FORMAT, (Kind.BAD_FORMAT, _OURS)),
    **dict.fromkeys(("service_unavailable", "request_timeout"), (Kind.TRANSIENT, _LATER)),
    **dict.fromkeys(THREAD_GONE, (Kind.BAD_FORMAT, "The thread is gone from the channel.")),
}
_LIMITED: Final = frozenset({"ratelimited", "rate_limited"})
_PERHAPS_DONE: Final = frozenset({"internal_error", "fatal_error"})
"""Slack documents both with “It's possible some aspect of the operation succeeded”, so that on
a send they refuse nothing."""
_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,79}")
_SCOPES: Final = re.compile(r"[a-z.,: _]{1,100}")


def refusal(answer: HttpAnswer, *, sends: bool) -> TransportError:
    """The TransportError for an answer that isn't `ok`.

    `sends` says that the call posts a message, which may then be there although nobody says so.
    """
    said = answer.json() or {}
    found = said.get("error")
    code = found if isinstance(found, str) and _CODE.fullmatch(found) else ""
    if answer.status == 429 or code in _LIMITED:
        return rate_limited(answer)
    if not code or said.get("ok") is not False:
        return unclear(answer, sends=sends)
    if code in _PERHAPS_DONE:
        kind, hint = (Kind.UNKNOWN_OUTCOME if sends else Kind.TRANSIENT), _LATER
    else:
        kind, hint = _TABLE.get(code, (Kind.BAD_FORMAT, f"Slack says {code}: look it up there."))
    if code == "missing_scope":
        hint = lacks(_needed(said))
    return TransportError(
        kind, f"Slack refused: {_words(code, said)}", provider_code=code, hint=hint
    )


def lacks(scope: str) -> str:
    """What to do about a scope that the app doesn't have."""
    return f"The app lacks the scope {scope}: add it under OAuth & Permissions, then reinstall it."


def _needed(said: dict[str, Any]) -> str:
    needed = said.get("needed")
    known = isinstance(needed, str) and _SCOPES.fullmatch(needed)
    return str(needed) if known else "that this needs"


def _words(code: str, said: dict[str, Any]) -> str:
    """The code, and what Slack says about it, such as which block is too long."""
    metadata = said.get("response_metadata")
    lists = (said.get("errors"), metadata.get("messages") if isinstance(metadata, dict) else None)
    more = [
        one_line(text)
        for found in lists
        if isinstance(found, list)
        for text in found
        if isinstance(text, str)
    ]
    return "; ".join([code, *dict.fromkeys(more)])
