"""The Test button of a Telegram channel, and the button that connects its replies."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings as desk

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.contract.text import one_line
from handoff.errors import TransportError
from handoff.transports.base import TestReport
from handoff.transports.telegram_api import Done, ask
from handoff.transports.telegram_settings import Mode, TelegramSettings
from handoff.transports.telegram_updates import HEARD, chats_in

NAME_MAX: Final = 80
CONNECTIONS: Final = 4
"""How many posts at once Telegram may have under way: after an outage they come in a heap."""
_CONNECT: Final = "Press “Connect replies” on the channel's page."
_NO_ADDRESS: Final = "PUBLIC_BASE_URL is not set, so that Telegram cannot post here: use mode poll."
_PRIVATE: Final = (
    "Group Privacy is on, as it should be: the bot hears replies to its messages and /release, "
    "unless it is an administrator of the group, who hears everything."
)
_NOT_PRIVATE: Final = (
    "Group Privacy is off: during a handoff, whatever is written in the group may go to the "
    "visitor. Turn it on with BotFather (/setprivacy), then take the bot out of the group and add "
    "it again."
)


def report(settings: TelegramSettings, *, deadline: float) -> TestReport:
    """Who the bot is, which chat it writes to, and whether replies there reach the desk."""
    lines: list[str] = []
    problems: list[str] = []
    try:
        bot = _ask(settings, "getMe", {}, deadline=deadline)
        lines.append(f"The token is good: the bot is @{_words(bot.get('username'))}.")
        hook = _ask(settings, "getWebhookInfo", {}, deadline=deadline)
        problems += _deaf(settings, hook)
        chat = _ask(settings, "getChat", {"chat_id": settings.chat_id}, deadline=deadline)
        lines += _about(settings, chat, reads_all=bot.get("can_read_all_group_messages") is True)
        if chat.get("type") == "channel":
            problems.append("Nobody can answer in a channel of Telegram: choose a group instead.")
    except TransportError as error:
        problems += [f"Stopped there: {error.operator_detail}.", error.hint]
        if error.kind is Kind.NOT_FOUND:
            problems += _written_from(settings, hooked=bool(hook.get("url")), deadline=deadline)
    return TestReport(works=not problems, lines=(*lines, *filter(None, problems)))


def connect_replies(settings: TelegramSettings, *, hook_url: str, deadline: float) -> TestReport:
    """Let Telegram post to `hook_url`, or in mode poll to nowhere. Raises TransportError.

    What has come meanwhile is kept, and comes on the new way.
    """
    if settings.mode is Mode.POLL:
        _ask(settings, "deleteWebhook", {"drop_pending_updates": False}, deadline=deadline)
        return TestReport(works=True, lines=("The desk can fetch replies now.",))
    if not hook_url:
        return TestReport(works=False, lines=(_NO_ADDRESS,))
    wanted = {
        "url": hook_url,
        "secret_token": settings.webhook_secret,
        "allowed_updates": HEARD,
        "max_connections": CONNECTIONS,
        "drop_pending_updates": False,
    }
    _ask(settings, "setWebhook", wanted, deadline=deadline)
    return TestReport(works=True, lines=(f"Telegram now posts replies to {hook_url}",))


def _ask(
    settings: TelegramSettings, method: str, parameters: dict[str, Any], *, deadline: float
) -> Done:
    answer = ask(settings.bot_token, method, parameters, deadline=deadline)
    if not isinstance(answer, Done):
        raise answer.error
    return answer


def _deaf(settings: TelegramSettings, hook: Done) -> Iterator[str]:
    """Why nothing that is written in the chat would reach the desk."""
    url = hook.get("url") or ""
    if settings.mode is Mode.POLL:
        if url:
            yield f"{_host(url)} is told what is written to the bot, so that it cannot be fetched."
            yield _CONNECT
        return
    if not desk.PUBLIC_BASE_URL:
        yield _NO_ADDRESS
    elif not url:
        yield f"Telegram is not told yet where to post what is written in the chat. {_CONNECT}"
    elif not url.startswith(f"{desk.PUBLIC_BASE_URL}/hooks/telegram/"):
        yield f"Telegram tells {_host(url)} what is written to the bot, and not this desk."
        yield _CONNECT
    elif hook.get("pending_update_count") and (said := hook.get("last_error_message")):
        yield f"Telegram could not post to this desk at last: {_words(said, 200)}."
        if "403" in said:
            yield f"It has an old secret. {_CONNECT}"


def _about(settings: TelegramSettings, chat: Done, *, reads_all: bool) -> Iterator[str]:
    kind = chat.get("type")
    if kind == "private":
        name = _words(f"{chat.get('first_name') or ''} {chat.get('last_name') or ''}".strip())
        yield f"Messages go to {name}, in the chat with the bot."
        return
    yield f"Messages go to the {_words(kind)} “{_words(chat.get('title'))}”."
    if kind in ("group", "supergroup"):
        yield _NOT_PRIVATE if reads_all else _PRIVATE
    if chat.get("is_forum") is True and settings.topic is None:
        yield "The group has topics; without topic_id they go to General."
    if settings.topic is not None:
        has_none = chat.get("is_forum") is not True
        yield (
            "The group has no topics: leave topic_id empty."
            if has_none
            else "Whether there is a topic of this number shows when a message is sent."
        )


def _written_from(settings: TelegramSettings, *, hooked: bool, deadline: float) -> Iterator[str]:
    """The chats that wrote to the bot and that nobody has fetched; looking forgets none."""
    if settings.mode is Mode.POLL or hooked:
        return
    try:
        found = _ask(settings, "getUpdates", {"timeout": 0}, deadline=deadline)
    except TransportError:
        return  # a help, and no part of the test
    listed = [f"{number} ({_words(name)})" for number, name in chats_in(found.result)]
    yield f"The bot was written to from: {', '.join(listed)}." if listed else ""


def _host(url: Any) -> str:
    """Where another system listens; its path may be its secret."""
    try:
        return urlsplit(str(url)).hostname or "Another system"
    except ValueError:
        return "Another system"


def _words(value: Any, most: int = NAME_MAX) -> str:
    return one_line(value)[:most] if isinstance(value, str) and value else "?"
