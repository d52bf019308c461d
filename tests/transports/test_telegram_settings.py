"""The settings of a Telegram channel: what is taken, and what is said about the rest."""

from typing import Any

import pydantic
import pytest

from handoff.contract.wording import problems_of
from handoff.transports import transport_class
from handoff.transports.telegram import Telegram
from handoff.transports.telegram_settings import Mode, TelegramSettings
from tests.transports.telegram_samples import settings


def problems(**changes: Any) -> dict[str, str]:
    with pytest.raises(pydantic.ValidationError) as caught:
        settings(**changes)
    return {item["field"]: item["problem"] for item in problems_of(caught.value)}


def test_the_kind_is_carried() -> None:
    assert transport_class("telegram") is Telegram


def test_the_shortest_configuration_is_a_token_and_a_chat() -> None:
    made = TelegramSettings.model_validate({"bot_token": "123456789:AAEabc", "chat_id": "42"})
    assert (made.chat_id, made.topic, made.mode, made.webhook_secret) == (
        "42",
        None,
        Mode.WEBHOOK,
        "",
    )


def test_every_problem_is_named_at_once() -> None:
    found = problems(bot_token=None, chat_id="Support", topic_id=0, mode="push", colour="blue")
    assert set(found) == {"bot_token", "chat_id", "topic_id", "mode", "colour"}


@pytest.mark.parametrize("chat", [42, "42", " -1001234567890 ", -1001234567890, "@support_crew"])
def test_a_chat_is_a_number_or_a_public_name(chat: str | int) -> None:
    assert settings(chat_id=chat).chat_id == str(chat).strip()


@pytest.mark.parametrize("chat", ["", "0", "-0", "1.5", 1.5, True, "Support", "@a b", "42/7", "٤٢"])
def test_anything_else_is_no_chat(chat: object) -> None:
    assert set(problems(chat_id=chat)) == {"chat_id"}


@pytest.mark.parametrize("token", ["", "abc", "123", "123:", "123:a b", "123:a/b", "0:abc", "1:ä"])
def test_what_is_no_token_is_refused_without_repeating_it(token: str) -> None:
    [(field, words)] = problems(bot_token=token).items()
    assert field == "bot_token"
    assert "BotFather" in words or not token
    assert not token or f"'{token}'" not in words


def test_general_is_the_topic_that_is_never_named() -> None:
    assert settings(topic_id=1).topic is None
    assert settings(topic_id="7").topic == 7


def test_no_secret_shows_itself() -> None:
    made = settings()
    assert made.bot_token not in repr(made)
    assert made.webhook_secret not in repr(made)
    assert made.secret_keys >= {"bot_token", "webhook_secret"}
    assert made.made_keys == {"webhook_secret"}


@pytest.mark.parametrize("secret", ["a b", "a+b", "ä", "x" * 257])
def test_a_secret_that_telegram_would_refuse_is_refused(secret: str) -> None:
    assert set(problems(webhook_secret=secret)) == {"webhook_secret"}
