"""Telegram: a bot writes to one chat; what people write there is posted to us, or fetched."""

import time
from typing import Any, ClassVar, Final

from handoff.contract.kinds import ChannelKind
from handoff.outbound.http import unclear
from handoff.transports.base import Notice, Outgoing, Receipt, Request, SetUp, TestReport, Transport
from handoff.transports.inbound import Hook, Polled, Said
from handoff.transports.telegram_api import Done, ask
from handoff.transports.telegram_check import connect_replies, report
from handoff.transports.telegram_draft import Draft, Place, draft
from handoff.transports.telegram_errors import Mend
from handoff.transports.telegram_hook import TelegramHook
from handoff.transports.telegram_settings import Mode, TelegramSettings
from handoff.transports.telegram_updates import HEARD, number_of, read_update

WAIT_SECONDS: Final = 25
"""The longest that Telegram is asked to wait for something to come."""
WAIT_MARGIN: Final = 2.0
"""Seconds before the deadline in which its answer has to arrive."""
UPDATES_MAX: Final = 100


class Telegram(Transport[TelegramSettings]):
    kind = ChannelKind.TELEGRAM
    settings_model = TelegramSettings
    poll_every: ClassVar[float] = 0
    hook: ClassVar[type[Hook[Any]] | None] = TelegramHook
    set_ups: ClassVar[tuple[SetUp, ...]] = (
        SetUp(
            key="replies",
            label="Connect replies",
            explanation="Tells Telegram to post what is written to the bot to this desk; in the "
            "mode poll it takes that back, so that the desk can fetch it. Whatever heard the bot "
            "before does not any more.",
        ),
    )

    def send(self, message: Outgoing, *, deadline: float) -> Receipt:
        """One message; what Telegram does not take in it is taken out, once each.

        See Transport.send. A refusal means that nothing was sent, so that trying the changed
        message doubles nothing. The id is `chat:message`, as a message's number is its chat's.
        """
        wanted = draft(message, self.settings)
        mended: list[Mend] = []
        while True:
            answer = ask(
                self.settings.bot_token,
                "sendMessage",
                wanted.parameters(),
                deadline=deadline,
                sends=True,
            )
            if isinstance(answer, Done):
                return self._receipt(answer, sent=wanted, mended=mended)
            better = wanted.mended(answer)
            if answer.mend is None or answer.mend in mended or better is None:
                raise answer.error
            mended.append(answer.mend)
            wanted = better

    def test(self, *, deadline: float) -> TestReport:
        """getMe, getChat and getWebhookInfo: nobody gets a message."""
        return report(self.settings, deadline=deadline)

    def set_up(self, key: str, *, hook_url: str, deadline: float) -> TestReport:
        if key != "replies":
            raise KeyError(key)
        return connect_replies(self.settings, hook_url=hook_url, deadline=deadline)

    def accepts(self, said: Said, *, recipients: frozenset[str]) -> bool:
        return said.place == str(self._place())

    @property
    def polls(self) -> bool:
        return self.settings.mode is Mode.POLL

    def poll(self, cursor: str, *, threads: tuple[str, ...], deadline: float) -> Polled:
        """getUpdates; asking for what comes after `cursor` tells Telegram to forget the rest."""
        wait = int(deadline - time.monotonic() - WAIT_MARGIN)
        parameters: dict[str, Any] = {
            "timeout": max(0, min(WAIT_SECONDS, wait)),
            "limit": UPDATES_MAX,
            "allowed_updates": HEARD,
        }
        if cursor:
            parameters["offset"] = int(cursor)
        answer = ask(self.settings.bot_token, "getUpdates", parameters, deadline=deadline)
        if not isinstance(answer, Done):
            raise answer.error
        if not isinstance(answer.result, list):
            raise unclear(answer.answer, sends=False)
        events = [read_update(update, self.settings) for update in answer.result]
        numbers = [number for update in answer.result if (number := number_of(update)) is not None]
        # after the last one, not the highest: after a quiet week, or on another server, Telegram
        # begins anew, and goes on from its own beginning when it is asked for what never was
        return Polled(
            events=tuple(event for event in events if event is not None),
            cursor=str(numbers[-1] + 1) if numbers else cursor,
        )

    def _place(self) -> Place:
        return Place(chat_id=self.settings.chat_id, topic=self.settings.topic)

    def _receipt(self, answer: Done, *, sent: Draft, mended: list[Mend]) -> Receipt:
        chat, number = answer.get("chat"), answer.get("message_id")
        chat_id = chat.get("id") if isinstance(chat, dict) else None
        if not isinstance(chat_id, int) or not isinstance(number, int):
            raise unclear(answer.answer, sends=True)
        return Receipt(
            provider_message_id=f"{chat_id}:{number}",
            thread_key=f"{chat_id}:{number}" if isinstance(sent.message, Request) else "",
            raw_excerpt="; ".join(mended),
            settings=self._changed(sent, chat_id=str(chat_id), bot=answer.get("from")) or None,
        )

    def _changed(self, sent: Draft, *, chat_id: str, bot: Any) -> dict[str, Any]:
        """What Telegram knows better: a chat's number, that a topic is gone, the bot's name."""
        changed: dict[str, Any] = {}
        if isinstance(sent.message, Notice):
            return changed
        if chat_id != self.settings.chat_id:
            changed["chat_id"] = chat_id
        if sent.place.topic != self.settings.topic:
            changed["topic_id"] = None
        name = bot.get("username") if isinstance(bot, dict) else None
        if isinstance(name, str) and name != self.settings.bot_username:
            changed["bot_username"] = name
        return changed
