"""Messages and channels for the mail tests."""

import datetime as dt
import time
from typing import Any

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import Author, FieldType, Urgency
from handoff.transports.base import Closed, Line, Receipt, Request, TranscriptLine
from handoff.transports.email import Email
from handoff.transports.email_settings import EmailSettings
from tests.fakes.smtp import Received, SmtpServer

LINK = "https://desk.example.org/r/bGlua2lk:c2lnbmF0dXJl/"
TOKEN = "h7abcdefghijklmnop"
ENVELOPE: dict[str, Any] = {
    "session": "hs_4k2jq7m3x5z6p2n4",
    "number": 1,
    "agent_name": "Nova",
    "channel_label": "Sales support",
    "return_url": LINK,
    "release_token": TOKEN,
    "contact_back_email": "ada@customer.example",
}
FIELDS = (
    ReturnField(
        name="order_status",
        type=FieldType.ENUM,
        enum_values=("shipped", "delayed"),
        label="Order status",
        required=True,
    ),
    ReturnField(name="eta_date", type=FieldType.DATE, description="The day it should arrive"),
)
TRANSCRIPT = (
    TranscriptLine(
        author=Author.SUBSCRIBER,
        name="Ada",
        text="Where is my order?\nIt is 1234.",
        at=dt.datetime(2026, 12, 1, 9, 0, tzinfo=dt.UTC),
    ),
    TranscriptLine(
        author=Author.AGENT,
        name="Nova",
        text="Let me ask a colleague.",
        at=dt.datetime(2026, 12, 1, 9, 1, tzinfo=dt.UTC),
    ),
)


def request(**changes: Any) -> Request:
    values: dict[str, Any] = {
        **ENVELOPE,
        "summary": "Ada Lovelace ordered a lathe (order 1234) and has heard nothing since.",
        "expected_action": "Look up order 1234 and say when it arrives.",
        "urgency": Urgency.NORMAL,
        "subscriber_name": "Ada Lovelace",
        "fields": FIELDS,
        "extra_context": (("plan", "enterprise"),),
        "transcript": TRANSCRIPT,
        "return_until": dt.datetime.now(dt.UTC) + dt.timedelta(hours=72),
        "idle_minutes": 30,
        "timezone": "Europe/Berlin",
    }
    return Request(**{**values, **changes})


def line(*texts: str, **changes: Any) -> Line:
    """A relayed message of these lines, a minute after each other."""
    lines = tuple(
        TranscriptLine(
            author=Author.SUBSCRIBER,
            name="Ada Lovelace",
            text=text,
            at=dt.datetime(2026, 12, 1, 11, 5 + number, tzinfo=dt.UTC),
        )
        for number, text in enumerate(texts or ("Are you there?\nPlease.",))
    )
    values: dict[str, Any] = {
        **ENVELOPE,
        "number": 2,
        "earlier_ids": ("<h.hs_4k2jq7m3x5z6p2n4.1@desk.example.org>",),
        "subscriber_name": "Ada Lovelace",
        "lines": lines,
    }
    return Line(**{**values, **changes})


def closed(**changes: Any) -> Closed:
    values: dict[str, Any] = {
        **ENVELOPE,
        "number": 3,
        "earlier_ids": (
            "<h.hs_4k2jq7m3x5z6p2n4.1@desk.example.org>",
            "<h.hs_4k2jq7m3x5z6p2n4.2@desk.example.org>",
        ),
        "reason": "The agent withdrew its question.",
    }
    return Closed(**{**values, **changes})


def channel(smtp_url: str = "", **settings: Any) -> Email:
    values: dict[str, Any] = {
        "to": ["jo@support.example"],
        "from_email": "handoff@desk.example.org",
        "smtp_url": smtp_url,
    }
    return Email(EmailSettings.model_validate({**values, **settings}))


def send(transport: Email, message: Request | Line | Closed, *, seconds: float = 5) -> Receipt:
    return transport.send(message, deadline=time.monotonic() + seconds)


def mailed(server: SmtpServer, **changes: Any) -> Received:
    """The mail that a request makes, as `server` got it."""
    send(channel(server.url), request(**changes))
    return server.wait_for_message()
