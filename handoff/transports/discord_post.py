"""One post to Discord: where it goes, what it says, and what is left out of it when refused."""

import dataclasses
from typing import Any, Final

from django.utils.translation import gettext

from handoff.transports.base import Notice, Outgoing, Request
from handoff.transports.chat_text import compose
from handoff.transports.discord_errors import INVALID_FORM, NO_HISTORY, THREAD_CLOSED
from handoff.transports.discord_settings import DiscordSettings
from handoff.transports.discord_text import Markdown, button, nonce
from handoff.transports.recipient_place import place

NO_EMBEDS: Final = 4
"""A flag of a message: Discord fetches no page that it names."""
SHORTER: Final = 1500
"""What Discord found too long, and we did not, is tried once more at this length."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Post:
    message: Outgoing
    settings: DiscordSettings
    to: str = ""
    """The channel or the thread; "" for a webhook, which has its own."""
    answers: str = ""
    """The message under which it stands, "" for none."""
    plain: bool = False
    """Shorter, and without a button."""

    @property
    def path(self) -> str:
        if self.to:
            return f"/channels/{self.to}/messages"
        webhook, token = self.settings.webhook
        # without `wait` Discord names no id, and no error
        return f"/webhooks/{webhook}/{token}?wait=true&with_components=true"

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "content": compose(
                self.message,
                Markdown(SHORTER) if self.plain else Markdown(),
                answering=answering(self.message, self.settings),
                is_heard=bool(self.settings.public_key or self.settings.poll_replies),
            ),
            "allowed_mentions": {"parse": []},
            "flags": NO_EMBEDS,
        }
        if self.to:
            body |= {"nonce": nonce(self.message), "enforce_nonce": True}
        if self.answers:
            body["message_reference"] = {"message_id": self.answers, "fail_if_not_exists": False}
        if (components := button(self.message)) and not self.plain:
            body["components"] = components
        return body

    def eased(self, code: str | None) -> "Post | None":
        """What to try in place of a post that was refused with `code`; None for nothing."""
        in_thread = self.to and self.to != self.settings.channel_id
        if code in THREAD_CLOSED and in_thread:
            answers = _first(self.message)
            return dataclasses.replace(self, to=self.settings.channel_id, answers=answers)
        if code == NO_HISTORY and self.answers:
            return dataclasses.replace(self, answers="")
        if code == INVALID_FORM and not self.plain:
            return dataclasses.replace(self, plain=True)
        return None


def post(message: Outgoing, settings: DiscordSettings) -> Post:
    """In the handoff's thread where it has one; else in the channel, under its first message."""
    if not settings.bot_token:
        return Post(message=message, settings=settings)
    if isinstance(message, Notice):
        return Post(message=message, settings=settings, to=message.place, answers=message.answers)
    if isinstance(message, Request) or not message.thread_key:
        answers = "" if isinstance(message, Request) else _first(message)
        return Post(message=message, settings=settings, to=settings.channel_id, answers=answers)
    return Post(message=message, settings=settings, to=message.thread_key)


def answering(message: Outgoing, settings: DiscordSettings) -> str:
    """How to write to the visitor; "" where nobody would hear it, or nobody is there to read it."""
    if not isinstance(message, Request) or message.idle_minutes is None:
        return ""
    with place(message.language, message.timezone):
        if settings.poll_replies:
            return gettext("What you write in the thread of this message goes to the visitor.")
        if settings.public_key:
            return gettext("Write to the visitor with /reply, in the thread of this message.")
    return ""


def _first(message: Outgoing) -> str:
    if isinstance(message, Notice):
        return ""
    return message.earlier_ids[0] if message.earlier_ids else ""
