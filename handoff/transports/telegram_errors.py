"""What a refusal of the Bot API means (channels.md 3.3): the code first, then the description."""

import dataclasses
import re
from enum import StrEnum
from typing import Any, Final

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.contract.text import one_line
from handoff.errors import TransportError
from handoff.outbound.http import HttpAnswer, rate_limited, unclear


class Mend(StrEnum):
    """What to change about a message before it is worth sending once more."""

    NEW_CHAT = "the group has a new number"
    NO_TOPIC = "the topic is gone"
    NO_REPLY = "the message that it answers is gone"
    NO_BUTTON = "the address does not go on a button"
    PLAIN = "the markup is not taken"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refusal:
    error: TransportError
    mend: Mend | None = None
    new_chat: str = ""
    """For Mend.NEW_CHAT."""


@dataclasses.dataclass(frozen=True)
class _Row:
    says: str
    """A part of the description, in small letters."""
    kind: Kind
    hint: str
    mend: Mend | None = None


_ASK_BOTFATHER: Final = (
    "Telegram does not take bot_token: ask BotFather for it with /mybots, API Token, and enter it "
    "again."
)
NO_CHAT: Final = (
    "The bot knows no such chat. A person must open the chat with the bot and press Start first; "
    "to a group the bot must be added. Then check chat_id."
)
_START: Final = "The person must open the chat with the bot and press Start first."
_MEMBER: Final = "The bot is not in the group any more: add it again."
_RIGHTS: Final = "The bot may not write there: let it send messages, or choose another chat."
_OURS: Final = "Telegram did not take the form of the message; this is a fault of the desk."
_TOPIC: Final = "The topic is gone: name another in topic_id, or leave it empty."
_BY_CODE: Final[dict[int, tuple[_Row, ...]]] = {
    400: (
        _Row("chat not found", Kind.NOT_FOUND, NO_CHAT),
        _Row("group chat was deactivated", Kind.NOT_FOUND, NO_CHAT),
        _Row("upgraded to a supergroup", Kind.NOT_FOUND, NO_CHAT),
        _Row("message thread not found", Kind.NOT_FOUND, _TOPIC, Mend.NO_TOPIC),
        _Row("topic_deleted", Kind.NOT_FOUND, _TOPIC, Mend.NO_TOPIC),
        _Row("topic_closed", Kind.PERMISSION, "The topic is closed: open it again."),
        _Row("replied not found", Kind.BAD_FORMAT, _OURS, Mend.NO_REPLY),
        _Row("replied message not found", Kind.BAD_FORMAT, _OURS, Mend.NO_REPLY),
        _Row("button_url_invalid", Kind.BAD_FORMAT, _OURS, Mend.NO_BUTTON),
        _Row("inline keyboard button", Kind.BAD_FORMAT, _OURS, Mend.NO_BUTTON),
        _Row("message is too long", Kind.TOO_LONG, _OURS, Mend.PLAIN),
        _Row("can't parse entities", Kind.BAD_FORMAT, _OURS, Mend.PLAIN),
        _Row("not enough rights", Kind.PERMISSION, _RIGHTS),
        _Row("have no rights", Kind.PERMISSION, _RIGHTS),
        _Row("need administrator rights", Kind.PERMISSION, _RIGHTS),
        _Row("chat_write_forbidden", Kind.PERMISSION, _RIGHTS),
        _Row("chat_send_plain_forbidden", Kind.PERMISSION, _RIGHTS),
        _Row("chat_restricted", Kind.PERMISSION, _RIGHTS),
        _Row(
            "bad webhook",
            Kind.BAD_FORMAT,
            "Telegram posts only to a public https address with a valid certificate, on port 443, "
            "80, 88 or 8443: correct PUBLIC_BASE_URL, or choose the mode poll.",
        ),
    ),
    403: (
        _Row(
            "bot was blocked by the user",
            Kind.RECIPIENT_UNREACHABLE,
            "The person has blocked the bot: they must unblock it in Telegram.",
        ),
        _Row(
            "user is deactivated",
            Kind.RECIPIENT_UNREACHABLE,
            "The person's Telegram account is gone: choose another recipient.",
        ),
        _Row("can't initiate conversation", Kind.RECIPIENT_UNREACHABLE, _START),
        _Row("can't send messages to bots", Kind.NOT_FOUND, "chat_id names a bot, not a person."),
        _Row("chat was deleted", Kind.NOT_FOUND, "The group is gone: choose another chat."),
        _Row("bot was kicked", Kind.PERMISSION, _MEMBER),
        _Row("bot is not a member", Kind.PERMISSION, _MEMBER),
    ),
    404: (_Row("method not found", Kind.BAD_FORMAT, _OURS),),
    409: (
        _Row(
            "other getupdates request",
            Kind.TRANSIENT,
            "Another program, or another channel, asks for the updates of this bot, too. Give "
            "each a bot of its own.",
        ),
        _Row(
            "webhook",
            Kind.TRANSIENT,
            "A webhook is set for this bot, so that it cannot be polled: press “Connect replies”.",
        ),
    ),
}
_OTHERWISE: Final[dict[int, tuple[Kind, str]]] = {
    401: (Kind.AUTH, _ASK_BOTFATHER),
    403: (Kind.PERMISSION, _RIGHTS),
    404: (Kind.AUTH, _ASK_BOTFATHER),
    409: (Kind.TRANSIENT, "Something else uses this bot at the same time."),
    421: (Kind.AUTH, "This Bot API server serves other bots: look at TELEGRAM_API_BASE."),
}
_ADDRESS: Final = re.compile(r"\w+://[^\s']+")
"""What Telegram quotes of ours may be the address of the form."""


def refusal(answer: HttpAnswer, *, sends: bool) -> Refusal:
    """What an answer says that isn't `ok`.

    `sends` says that the call posts a message, which may then be there although nobody says so:
    so it is with all that begins with 5, be it JSON or a proxy's page.
    """
    said = answer.json() or {}
    code, words = said.get("error_code"), said.get("description")
    if said.get("ok") is not False or not isinstance(code, int) or not isinstance(words, str):
        limited = answer.status == 429
        return Refusal(error=rate_limited(answer) if limited else unclear(answer, sends=sends))
    parameters = said.get("parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    if code == 429:
        return Refusal(error=rate_limited(answer, _whole(parameters.get("retry_after"))))
    if code >= 500:
        return Refusal(error=unclear(answer, sends=sends))
    if new_chat := _whole(parameters.get("migrate_to_chat_id")):
        return Refusal(
            error=_error(
                Kind.NOT_FOUND,
                code,
                words,
                f"The group became a supergroup: its new chat_id is {new_chat}.",
            ),
            mend=Mend.NEW_CHAT,
            new_chat=str(new_chat),
        )
    for row in _BY_CODE.get(code, ()):
        if row.says in words.lower():
            return Refusal(error=_error(row.kind, code, words, row.hint), mend=row.mend)
    kind, hint = _OTHERWISE.get(code, (Kind.BAD_FORMAT, _OURS))
    return Refusal(error=_error(kind, code, words, hint))


def _error(kind: Kind, code: int, words: str, hint: str) -> TransportError:
    said = _ADDRESS.sub("…", one_line(words))
    return TransportError(
        kind, f"Telegram refused with {code}: {said}", provider_code=str(code), hint=hint
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
