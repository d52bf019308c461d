"""A Telegram channel against the fake, and what its people get."""

import time
from typing import Any

import pytest

from handoff.errors import TransportError
from handoff.transports.base import Outgoing, Receipt
from handoff.transports.inbound import HookCall, Received
from handoff.transports.telegram import Telegram
from handoff.transports.telegram_hook import TelegramHook
from handoff.transports.telegram_settings import TelegramSettings
from tests.fakes.providers import FakeAnswer
from tests.fakes.telegram import BOT_TOKEN
from tests.fakes.telegram_chats import MIA
from tests.transports.mail_samples import LINK, request

SECRET = "handoff-test_secret"


def settings(**changes: Any) -> TelegramSettings:
    """Settings to write to Mia; None takes a key out."""
    given = {"bot_token": BOT_TOKEN, "chat_id": MIA.id, "webhook_secret": SECRET, **changes}
    return TelegramSettings.model_validate({k: v for k, v in given.items() if v is not None})


def channel(**changes: Any) -> Telegram:
    return Telegram(settings(**changes))


def send(message: Outgoing, *, seconds: float = 5, **changes: Any) -> Receipt:
    return channel(**changes).send(message, deadline=time.monotonic() + seconds)


def no(code: int, words: str, **parameters: int) -> FakeAnswer:
    """A refusal as Telegram words it."""
    body: dict[str, Any] = {"ok": False, "error_code": code, "description": words}
    return FakeAnswer(code, json=body | ({"parameters": parameters} if parameters else {}))


def refused(**changes: Any) -> TransportError:
    """The error of one request; no words of it hold what is secret."""
    with pytest.raises(TransportError) as caught:
        send(request(), **changes)
    error = caught.value
    assert error.hint
    words = f"{error} {error.operator_detail} {error.hint}"
    assert BOT_TOKEN.partition(":")[2] not in words
    assert LINK not in words
    return error


def hooked(body: bytes, *, secret: str | None = SECRET, **changes: Any) -> Received:
    """What the webhook of a channel makes of a call."""
    header = {} if secret is None else {"x-telegram-bot-api-secret-token": secret}
    call = HookCall(method="POST", headers=header, query={}, body=body, at=1_796_040_000)
    return TelegramHook(settings(**changes)).receive(call)
