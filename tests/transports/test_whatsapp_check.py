"""What the Test button and the button beside it learn from Meta; nobody gets a message."""

import time
from typing import Any

import pytest

from handoff.errors import TransportError
from handoff.transports.base import TestReport
from handoff.transports.whatsapp import WhatsApp
from tests.fakes.providers import Providers
from tests.fakes.whatsapp import NUMBER_ID, WABA, FakeWhatsApp
from tests.fakes.whatsapp_rules import MetaError
from tests.transports.whatsapp_samples import TEMPLATE, channel, documented


def test_the_test_button_names_the_number_and_the_template(
    providers: Providers, meta: FakeWhatsApp
) -> None:
    report = _tested(**TEMPLATE)
    assert report.works
    assert report.lines[0] == "The number is +1 555-078-3881, shown as Shop."
    assert "Its status is CONNECTED." in report.lines
    assert report.lines[-1] == (
        "The template handoff_request is approved in en, and its variables fit."
    )
    assert [(got.method, got.path) for got in providers.requests("whatsapp")] == [
        ("GET", f"/v25.0/{NUMBER_ID}"),
        ("GET", f"/v25.0/{WABA}/message_templates"),
    ]
    assert meta.sent == []


def test_the_test_button_says_what_is_missing(meta: FakeWhatsApp) -> None:
    lines = _tested(app_secret="", template_name="").lines
    assert "app_secret is empty: replies and delivery reports are refused." in lines
    assert "No template is named" in lines[-1]
    report = _tested(**{**TEMPLATE, "waba_id": ""})
    assert report.works
    assert report.lines[-1] == "waba_id is empty, so the template was not looked up."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"template_name": "handoff"}, "The account has no template handoff:"),
        ({"template_language": "en_US"}, "The template is not there in en_US, but in de, en:"),
        ({"template_has_button": False}, "text has 3 variables; with template_has_button off"),
        ({"template_name": "handoff_plain"}, "text has 4 variables; with template_has_button on"),
        ({"waba_id": "7"}, "no such WhatsApp Business Account for this token: correct waba_id"),
    ],
)
def test_a_template_that_does_not_fit_is_told(
    meta: FakeWhatsApp, changes: dict[str, Any], words: str
) -> None:
    meta.templates += documented(language="de")
    report = _tested(**{**TEMPLATE, **changes})
    assert not report.works
    assert words in report.lines[-1]


@pytest.mark.parametrize("status", ["PENDING", "REJECTED", "PAUSED"])
def test_a_template_that_is_not_approved_is_told(meta: FakeWhatsApp, status: str) -> None:
    meta.templates = documented(status)
    report = _tested(**TEMPLATE)
    assert not report.works
    assert report.lines[-1] == f"Meta has not approved the template; its status is {status}."


def test_a_template_lookup_that_fails_says_so_beside_the_number(
    providers: Providers, meta: FakeWhatsApp
) -> None:
    providers.script("whatsapp", [MetaError(10).answer()], path="message_templates")
    report = _tested(**TEMPLATE)
    assert not report.works
    assert report.lines[0].startswith("The number is +1 555-078-3881")
    assert "whatsapp_business_management" in report.lines[-1]


@pytest.mark.parametrize("status", ["BANNED", "DISCONNECTED"])
def test_a_number_that_cannot_send_does_not_work(meta: FakeWhatsApp, status: str) -> None:
    meta.number["status"] = status
    assert not _tested().works


@pytest.mark.parametrize(
    ("changes", "hint"),
    [({"access_token": "x"}, "system user token"), ({"phone_number_id": "7"}, "phone number ID")],
)
def test_a_number_that_cannot_be_looked_up_is_an_error_with_a_hint(
    meta: FakeWhatsApp, changes: dict[str, Any], hint: str
) -> None:
    with pytest.raises(TransportError) as caught:
        _tested(**changes)
    assert hint in caught.value.hint


def test_the_app_is_subscribed_to_the_account(meta: FakeWhatsApp) -> None:
    report = channel().set_up("subscribe", hook_url="", deadline=time.monotonic() + 5)
    assert (report.works, meta.subscribed) == (True, True)
    without = channel(waba_id="").set_up("subscribe", hook_url="", deadline=time.monotonic() + 5)
    assert not without.works
    assert [item.key for item in WhatsApp.set_ups] == ["subscribe"]


def _tested(**changes: Any) -> TestReport:
    return channel(**changes).test(deadline=time.monotonic() + 5)
