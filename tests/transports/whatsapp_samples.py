"""Channels, messages and webhook calls for the WhatsApp tests."""

import dataclasses
import datetime as dt
import re
import time
from typing import Any, Final

import pytest

from handoff.errors import TransportError
from handoff.transports.base import Outgoing, Receipt
from handoff.transports.inbound import HookCall
from handoff.transports.whatsapp import WhatsApp
from handoff.transports.whatsapp_settings import WhatsAppSettings
from tests.environment import PUBLIC_BASE_URL, ROOT
from tests.fakes.providers import Providers
from tests.fakes.whatsapp import (
    APP_SECRET,
    NUMBER,
    NUMBER_ID,
    PERSON,
    TOKEN,
    WABA,
    signature,
    written,
)
from tests.fakes.whatsapp_rules import Template
from tests.transports import mail_samples

VERIFY: Final = "made-by-the-desk"
SETTINGS: Final[dict[str, Any]] = {
    "access_token": TOKEN,
    "phone_number_id": NUMBER_ID,
    "to": f"+{PERSON}",
    "app_secret": APP_SECRET,
    "waba_id": WABA,
    "verify_token": VERIFY,
}
_BLOCK: Final = re.compile(r"<!-- template (.+?) -->\n\n((?:    .*\n|\n)+)")
TEMPLATE: Final[dict[str, Any]] = {
    "template_name": "handoff_request",
    "template_language": "en",
    "template_has_button": True,
}

# What WhatsApp's own clients format, as the bridges to other chats read it.
_BOUNDARY = r"(?:(?<=[\s>_*~])|^)"
FORMATS: Final = re.compile(
    rf"{_BOUNDARY}\*(?=\S)(.+?)(?<=\S)\*(?![A-Za-z0-9])"
    rf"|{_BOUNDARY}_(?=\S)(.+?)(?<=\S)_(?![A-Za-z0-9])"
    rf"|{_BOUNDARY}~(?=\S)(.+?)(?<=\S)~(?![A-Za-z0-9])"
    r"|```((?:.|\n)+?)```"
    rf"|{_BOUNDARY}`(?=\S)([^`\n]+?)`",
    re.MULTILINE,
)


def formatted(text: str) -> list[str]:
    """The parts of a message that WhatsApp would show in bold, italics, struck or as code."""
    return [next(filter(None, found.groups())) for found in FORMATS.finditer(text)]


def documented(status: str = "APPROVED", language: str = "en") -> list[Template]:
    """The templates of docs/channels/whatsapp.md, as they are there to be submitted."""
    text = (ROOT / "docs/channels/whatsapp.md").read_text()
    bodies = {
        name: re.sub(r"^    ", "", block, flags=re.MULTILINE).strip()
        for name, block in _BLOCK.findall(text)
    }
    return [
        Template(
            name="handoff_request",
            language=language,
            body=bodies["with a button"],
            button_url=f"{PUBLIC_BASE_URL}/r/{{{{1}}}}",
            status=status,
        ),
        Template(
            name="handoff_plain",
            language=language,
            body=bodies["without a button"],
            status=status,
        ),
    ]


def heard(**ago: float) -> dt.datetime:
    return dt.datetime.now(dt.UTC) - dt.timedelta(**ago)


def settings_of(**changes: Any) -> WhatsAppSettings:
    return WhatsAppSettings.model_validate({**SETTINGS, **changes})


def channel(**changes: Any) -> WhatsApp:
    return WhatsApp(settings_of(**changes))


def request(**changes: Any) -> Any:
    """A request to somebody who wrote an hour ago."""
    return mail_samples.request(**{"heard_at": heard(hours=1), **changes})


def send(transport: WhatsApp, message: Outgoing, *, seconds: float = 5) -> Receipt:
    return transport.send(message, deadline=time.monotonic() + seconds)


def posted_messages(providers: Providers) -> list[dict[str, Any]]:
    """What was posted to Meta as messages, in order."""
    return [got.json() for got in providers.requests("whatsapp", path="/messages")]


def refused(transport: WhatsApp, message: Outgoing) -> TransportError:
    """The error of one send; it has a hint, and nothing of the token."""
    with pytest.raises(TransportError) as caught:
        send(transport, message)
    error = caught.value
    assert TOKEN not in f"{error} {error.operator_detail} {error.hint}"
    assert error.hint
    return error


def said(text: str = "It was shipped.", **changes: Any) -> dict[str, Any]:
    """One message as Meta's webhook lists it."""
    return {
        "from": PERSON,
        "id": "wamid.FROMTHEM1",
        "timestamp": "1796040000",
        "type": "text",
        "text": {"body": text},
        **changes,
    }


def status(progress: str, wamid: str = "wamid.OURS1", **changes: Any) -> dict[str, Any]:
    return {
        "id": wamid,
        "status": progress,
        "timestamp": "1796040001",
        "recipient_id": PERSON,
        **changes,
    }


def value(**parts: Any) -> dict[str, Any]:
    """What one change holds, for our number and a contact called Mia."""
    return {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": NUMBER, "phone_number_id": NUMBER_ID},
        "contacts": [{"profile": {"name": "Mia"}, "wa_id": PERSON}],
        **parts,
    }


def payload(*values: dict[str, Any], field: str = "messages") -> dict[str, Any]:
    """A whole call: an entry for each value."""
    return {
        "object": "whatsapp_business_account",
        "entry": [{"id": WABA, "changes": [{"field": field, "value": held}]} for held in values],
    }


def posted(body: object, **changes: Any) -> HookCall:
    """A call with Meta's signature over the bytes of `body`, or over what it says as JSON."""
    raw = body if isinstance(body, bytes) else written(body)
    call = HookCall(
        method="POST",
        headers={"x-hub-signature-256": signature(APP_SECRET, raw)},
        query={},
        body=raw,
        at=1_796_040_002.0,
    )
    return dataclasses.replace(call, **changes)
