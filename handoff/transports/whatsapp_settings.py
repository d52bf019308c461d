"""The settings of one WhatsApp channel (channels.md 1.7), checked by name and all at once."""

import re
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field

from handoff.transports.base import TransportSettings

_BUSINESS_SCOPED: Final = re.compile(r"[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}")
"""The id of a person whose number we are not shown (BSUID), such as US.13491208655302741918."""
_NUMBER: Final = re.compile(r"[1-9][0-9]{5,14}")
_BETWEEN_DIGITS: Final = re.compile(r"[\s().-]+")


def is_business_scoped(person: str) -> bool:
    """Whether an id is one of those that stand in place of a number."""
    return _BUSINESS_SCOPED.fullmatch(person) is not None


def _person(text: str) -> str:
    """The digits of a number with its country code, as Meta writes it, or a business-scoped id."""
    if is_business_scoped(text):
        return text
    digits = _BETWEEN_DIGITS.sub("", text).removeprefix("+")
    if not _NUMBER.fullmatch(digits):
        raise ValueError("must be one number with its country code, such as +49 151 23456789")
    return digits


def _graph_id(text: str) -> str:
    if text and not re.fullmatch(r"[0-9]{1,32}", text):
        raise ValueError("must be the digits that Meta shows as the ID, not a phone number")
    return text


def _no_space(text: str) -> str:
    if not re.fullmatch(r"[\x21-\x7e]*", text):
        raise ValueError("must be one word, as Meta shows it")
    return text


def _template_name(text: str) -> str:
    if text and not re.fullmatch(r"[a-z0-9_]{1,512}", text):
        raise ValueError("must be the template's name: small letters, digits and _")
    return text


def _language(text: str) -> str:
    if not re.fullmatch(r"[a-z]{2,3}(_[A-Z]{2,4})?", text):
        raise ValueError("must be the template's language code at Meta, such as en or pt_BR")
    return text


class WhatsAppSettings(TransportSettings):
    secret_keys: ClassVar[frozenset[str]] = frozenset({"access_token", "app_secret"})
    made_keys: ClassVar[frozenset[str]] = frozenset({"verify_token"})

    access_token: Annotated[str, AfterValidator(_no_space), Field(min_length=1, repr=False)]
    """The token of a system user; one from the app's own page expires within a day."""
    phone_number_id: Annotated[
        str, Field(min_length=1, coerce_numbers_to_str=True), AfterValidator(_graph_id)
    ]
    """Which of your numbers writes: its phone number ID, not the number itself."""
    to: Annotated[str, Field(coerce_numbers_to_str=True), AfterValidator(_person)]
    """Who gets the messages: one number with its country code, or a business-scoped user ID."""
    app_secret: Annotated[str, AfterValidator(_no_space), Field(repr=False)] = ""
    """Verifies what Meta sends us. Empty: replies and delivery reports are refused."""
    waba_id: Annotated[str, Field(coerce_numbers_to_str=True), AfterValidator(_graph_id)] = ""
    """The WhatsApp Business Account ID: for the test of the template, and to subscribe the app."""
    template_name: Annotated[str, AfterValidator(_template_name)] = ""
    """The approved template that is sent when the person was silent for a day. Empty: none."""
    template_language: Annotated[str, AfterValidator(_language)] = "en"
    """The language code under which Meta approved it."""
    template_has_button: bool = False
    """Whether it has the button with the form's address; its text then has no address."""
    verify_token: Annotated[str, AfterValidator(_no_space), Field(repr=False)] = ""
    """What Meta is to send when it verifies the webhook."""
