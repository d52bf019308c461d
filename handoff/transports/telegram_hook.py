"""Telegram's webhook: one update a call, with a secret of ours in a header.

It carries no signature and no time, so that a repeat is known by its number alone. A call that is
not answered 2xx comes again for a day: what cannot be read is taken, and dropped.
"""

import hmac
from typing import Final

from handoff.contract import jsontext
from handoff.transports.inbound import Hook, HookAnswer, HookCall, Received
from handoff.transports.telegram_settings import TelegramSettings
from handoff.transports.telegram_updates import read_update

HEADER: Final = "x-telegram-bot-api-secret-token"
_TAKEN: Final = HookAnswer(status=200)


class TelegramHook(Hook[TelegramSettings]):
    """One bot has one webhook: channels of the same bot hear each other's chats through it."""

    def receive(self, call: HookCall) -> Received:
        """403 without the secret, else 200: with what a person said, or with nothing."""
        if call.method != "POST":
            return Received(answer=HookAnswer(status=405, headers={"Allow": "POST"}))
        secret = self.settings.webhook_secret
        given = call.headers.get(HEADER, "")
        if not secret or not hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode()):
            return Received(answer=HookAnswer(status=403), refused="bad_secret")
        try:
            update = jsontext.loads(call.body)
        except jsontext.JSONProblem:
            return Received(answer=_TAKEN, refused="unreadable")
        event = read_update(update, self.settings)
        return Received(answer=_TAKEN, events=(event,) if event else ())

    def account(self) -> str:
        return self.settings.chat_id

    def shares_secret(self, other: TelegramSettings) -> bool:
        mine, theirs = self.settings.bot_token.encode(), other.bot_token.encode()
        return hmac.compare_digest(mine, theirs)
