"""The settings of a WhatsApp channel: every problem is named, and a secret shows nowhere."""

from typing import Any

import pydantic
import pytest

from handoff.transports.whatsapp_settings import WhatsAppSettings, is_business_scoped
from tests.fakes.whatsapp import PERSON
from tests.transports.whatsapp_samples import SETTINGS, settings_of


def problems(values: dict[str, Any]) -> set[str]:
    with pytest.raises(pydantic.ValidationError) as caught:
        WhatsAppSettings.model_validate(values)
    return {str(error["loc"][0]) for error in caught.value.errors()}


def test_three_keys_are_enough() -> None:
    chosen = WhatsAppSettings.model_validate(
        {"access_token": "EAAG", "phone_number_id": "1065", "to": "+49 151 23456789"}
    )
    assert chosen.to == PERSON
    assert (chosen.app_secret, chosen.template_name, chosen.template_language) == ("", "", "en")


def test_every_problem_is_named_at_once() -> None:
    assert problems(
        {
            "phone_number_id": "+1 555 078 3881",
            "to": "Mia",
            "app_secret": "two words",
            "waba_id": "waba",
            "template_name": "Handoff request",
            "template_language": "English",
            "api_base": "https://elsewhere.example",
        }
    ) == {
        "access_token", "phone_number_id", "to", "app_secret", "waba_id", "template_name",
        "template_language", "api_base",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("+49 (151) 234-567.89", PERSON),
        (4915123456789, PERSON),
        ("US.13491208655302741918", "US.13491208655302741918"),
        ("US.ENT.11815799212886844830", "US.ENT.11815799212886844830"),
    ],
)
def test_a_person_is_a_number_or_a_business_scoped_id(given: object, kept: str) -> None:
    assert settings_of(to=given).to == kept
    assert is_business_scoped(kept) is ("." in kept)


@pytest.mark.parametrize(
    "given",
    ["", "0151 2345678", "12345", "+49 151 23456789 12345", "49x151", "us.1349", "US.", 1.5],
)
def test_anything_else_is_nobody(given: object) -> None:
    assert problems({**SETTINGS, "to": given}) == {"to"}


def test_secrets_are_write_only_and_ours_is_made() -> None:
    assert WhatsAppSettings.secret_keys == {"access_token", "app_secret"}
    assert WhatsAppSettings.made_keys == {"verify_token"}
    shown = repr(settings_of())
    for key in ("access_token", "app_secret", "verify_token"):
        assert SETTINGS[key] not in shown
