"""A Telegram channel against the fake, and what its people get."""

import time
from typing import Any

from handoff.transports.base import Outgoing, Receipt
from handoff.transports.telegram import Telegram
from handoff.transports.telegram_settings import TelegramSettings
from tests.fakes.telegram import BOT_TOKEN
from tests.fakes.telegram_chats import MIA

SECRET = "handoff-test_secret"


def settings(**changes: Any) -> TelegramSettings:
    """Settings to write to Mia; None takes a key out."""
    given = {"bot_token": BOT_TOKEN, "chat_id": MIA.id, "webhook_secret": SECRET, **changes}
    return TelegramSettings.model_validate({k: v for k, v in given.items() if v is not None})


def channel(**changes: Any) -> Telegram:
    return Telegram(settings(**changes))


def send(message: Outgoing, *, seconds: float = 5, **changes: Any) -> Receipt:
    return channel(**changes).send(message, deadline=time.monotonic() + seconds)
