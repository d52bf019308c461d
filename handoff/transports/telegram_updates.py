"""What Telegram tells of a chat: an update read into what a person said, or a group's new number.

https://core.telegram.org/bots/api#update. Only new messages count: an edit must not release.
"""

import datetime as dt
import re
from typing import Final

import pydantic

from handoff.contract.text import one_line, scrub
from handoff.transports.inbound import Moved, Said
from handoff.transports.telegram_draft import Place
from handoff.transports.telegram_settings import TelegramSettings
from handoff.transports.telegram_shapes import Message, Original, Update

HEARD: Final = ("message",)
"""The kinds of update that we ask for."""
NAME_MAX: Final = 80
CHATS_MAX: Final = 10
_FILES: Final = frozenset(
    {
        "animation", "audio", "checklist", "contact", "dice", "document", "game", "location",
        "paid_media", "photo", "poll", "sticker", "story", "venue", "video", "video_note", "voice",
    }
)  # fmt: skip
"""What a message may have besides words; we carry none of it."""
_COMMAND: Final = re.compile(
    r"/(?P<name>[A-Za-z0-9_]{1,32})(?:@(?P<bot>[A-Za-z0-9_]{3,64}))?(?=\s|$)"
)


def read_update(update: object, settings: TelegramSettings) -> Said | Moved | None:
    """The event in an update; None when it is nothing to us. Never raises."""
    try:
        read = Update.model_validate(update)
    except pydantic.ValidationError:
        return None  # another kind of update
    raw = update["message"] if isinstance(update, dict) else {}
    return _moved(read) or _said(read, settings, has_file=not _FILES.isdisjoint(raw))


def _moved(update: Update) -> Moved | None:
    """A group became a supergroup, which both of them say.

    The messages keep their old numbers: nobody can answer those any more, and the supergroup
    counts its own from one (telegramdesktop/tdesktop#7961).
    """
    message = update.message
    old, new = message.chat.id, message.migrate_to_chat_id
    if message.migrate_from_chat_id is not None:
        old, new = message.migrate_from_chat_id, message.chat.id
    if new is None:
        return None
    return Moved(
        keys=(str(update.update_id), f"moved:{old}:{new}"),
        account=str(old),
        at=_moment(message.date),
        settings={"chat_id": str(new)},
        old_prefix=f"{old}:",
        new_prefix=f"{old}:",
    )


def _said(update: Update, settings: TelegramSettings, *, has_file: bool) -> Said | None:
    message = update.message
    text = scrub(message.text or message.caption)
    if not (text or has_file) or message.is_automatic_forward:
        return None
    if (speaker := _speaker(message)) is None:
        return None
    original = _original(message)
    if not _is_meant(text, _bot_name(settings, original)):
        return None
    chat_id = message.chat.id
    thread = message.message_thread_id
    topic = thread if message.is_topic_message else None
    sender_id, sender_name = speaker
    return Said(
        keys=(str(update.update_id),),
        account=str(chat_id),
        at=_moment(message.date),
        sender_id=str(sender_id),
        sender_name=one_line(sender_name)[:NAME_MAX],
        text=text,
        place=str(Place(chat_id=str(chat_id), topic=topic)),
        message_id=f"{chat_id}:{message.message_id}",
        replies_to=(f"{chat_id}:{original.message_id}",) if original else (),
        # outside of topics it is the number of the message that the thread began with
        thread_key=f"{chat_id}:{thread}" if thread is not None and topic is None else "",
        only_one=_may_mean_the_only_one(message, original),
        attachments=int(has_file),
    )


def _speaker(message: Message) -> tuple[int, str] | None:
    """Id and name of who wrote it; None for another bot."""
    if message.sender_chat is not None:
        return message.sender_chat.id, message.sender_chat.title
    sender = message.sender
    if sender is None or sender.is_bot:
        return None
    return sender.id, f"{sender.first_name} {sender.last_name}"


def _original(message: Message) -> Original | None:
    """The message that is answered. Whatever stands in a topic answers the topic's beginning,
    which is nobody's message.
    """
    original = message.reply_to_message
    begins = message.is_topic_message and original is not None
    if begins and original is not None and original.message_id == message.message_thread_id:
        return None
    return original


def _may_mean_the_only_one(message: Message, original: Original | None) -> bool:
    """Not when people of a group answer each other: that is between them."""
    if message.chat.type == "private" or original is None:
        return True
    return original.sender is None or original.sender.is_bot


def _bot_name(settings: TelegramSettings, original: Original | None) -> str:
    """Our bot's, as far as it is known: as Telegram said it at last, or in what is answered."""
    ours = settings.bot_token.partition(":")[0]
    if original is not None and original.sender is not None and str(original.sender.id) == ours:
        return original.sender.username
    return settings.bot_username


def _is_meant(text: str, bot_name: str) -> bool:
    """Whether a person says this to a person, or releases: other commands, such as `/start`, and
    what another bot is told are nothing to a visitor.
    """
    command = _COMMAND.match(text)
    if command is None:
        return True
    if command["name"].lower() != "release":
        return False
    to = command["bot"] or bot_name
    return not bot_name or to.lower() == bot_name.lower()


def _moment(seconds: int) -> dt.datetime | None:
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (OverflowError, OSError, ValueError):
        return None


def chats_in(updates: object) -> list[tuple[int, str]]:
    """Number and name of every chat that something was written in, the newest first."""
    found: dict[int, str] = {}
    for update in reversed(updates) if isinstance(updates, list) else ():
        try:
            message = Update.model_validate(update).message
        except pydantic.ValidationError:
            continue
        speaker = _speaker(message)
        found.setdefault(message.chat.id, message.chat.title or (speaker[1] if speaker else ""))
    return list(found.items())[:CHATS_MAX]


def number_of(update: object) -> int | None:
    """The number that an update is counted by; None for what is no update."""
    number = update.get("update_id") if isinstance(update, dict) else None
    return number if isinstance(number, int) else None
