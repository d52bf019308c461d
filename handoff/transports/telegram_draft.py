"""One message on its way to Telegram, and what is taken out of it when Telegram refuses it."""

import dataclasses
from typing import Any, Self, assert_never

from django.utils.translation import gettext

from handoff.transports.base import Notice, Outgoing, Request
from handoff.transports.chat_text import compose
from handoff.transports.recipient_place import place
from handoff.transports.telegram_errors import Mend, Refusal
from handoff.transports.telegram_settings import TelegramSettings
from handoff.transports.telegram_text import TelegramHtml, TelegramPlain, opens


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """A chat, and in one with topics the topic."""

    chat_id: str
    topic: int | None = None

    @classmethod
    def read(cls, text: str) -> Self:
        """From what `str()` made."""
        chat_id, _, topic = text.partition("/")
        return cls(chat_id=chat_id, topic=int(topic) if topic.isdecimal() else None)

    def __str__(self) -> str:
        return self.chat_id if self.topic is None else f"{self.chat_id}/{self.topic}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Draft:
    message: Outgoing
    place: Place
    answers: str = ""
    """Provider id of the message that it stands under, wherever that is."""
    has_button: bool = False
    formatted: bool = True

    def mended(self, refusal: Refusal) -> Self | None:
        """The draft without what was refused; None when that was not in it."""
        changes = self._changes(refusal)
        return dataclasses.replace(self, **changes) if changes else None

    def _changes(self, refusal: Refusal) -> dict[str, Any]:
        match refusal.mend:
            case None:
                return {}
            case Mend.NEW_CHAT:
                return {"place": Place(chat_id=refusal.new_chat), "answers": ""}
            case Mend.NO_TOPIC:
                main = Place(chat_id=self.place.chat_id)
                # nothing can stand under a message of another topic
                return {"place": main, "answers": ""} if self.place.topic else {}
            case Mend.NO_REPLY:
                return {"answers": ""} if self.answers else {}
            case Mend.NO_BUTTON:
                return {"has_button": False} if self.has_button else {}
            case Mend.PLAIN:
                return {"formatted": False} if self.formatted else {}
            case _:
                assert_never(refusal.mend)

    def parameters(self) -> dict[str, Any]:
        """What `sendMessage` takes."""
        chat_id = self.place.chat_id
        made: dict[str, Any] = {
            "chat_id": chat_id if chat_id.startswith("@") else int(chat_id),
            "text": self._text(),
            "link_preview_options": {"is_disabled": True},
        }
        if self.formatted:
            made["parse_mode"] = "HTML"
        if self.place.topic is not None:
            made["message_thread_id"] = self.place.topic
        chat, _, number = self.answers.partition(":")
        if chat == chat_id and number.isdecimal():
            made["reply_parameters"] = {
                "message_id": int(number),
                "allow_sending_without_reply": True,
            }
        if self.has_button and isinstance(self.message, Request):
            with place(self.message.language, self.message.timezone):
                button = {"text": gettext("Fill return form"), "url": self.message.return_url}
            made["reply_markup"] = {"inline_keyboard": [[button]]}
        return made

    def _text(self) -> str:
        answering = ""
        # without a conversation nobody is there to read a reply
        if isinstance(self.message, Request) and self.message.idle_minutes is not None:
            with place(self.message.language, self.message.timezone):
                answering = gettext("Reply to this message to write to the visitor.")
        dialect = TelegramHtml() if self.formatted else TelegramPlain()
        return compose(self.message, dialect, answering=answering)


def draft(message: Outgoing, settings: TelegramSettings) -> Draft:
    """The message as it is tried first: under the dispatch of its handoff, or under what it
    answers.
    """
    if isinstance(message, Notice):
        return Draft(message=message, place=Place.read(message.place), answers=message.answers)
    where = Place(chat_id=settings.chat_id, topic=settings.topic)
    if isinstance(message, Request):
        return Draft(message=message, place=where, has_button=opens(message.return_url))
    dispatched = message.thread_key or next(iter(message.earlier_ids), "")
    return Draft(message=message, place=where, answers=dispatched)
