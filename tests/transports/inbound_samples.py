"""Mails as they come in."""

from email.message import EmailMessage
from typing import Any

from handoff.transports.email_address import LOCAL_PART, reply_address
from handoff.transports.email_read import Delivered, read_mail
from handoff.transports.inbound import Dropped, Said, Status

SESSION = "hs_" + "a2b3c4d5e6f7" * 2 + "gh"
OURS = f"<h.{SESSION}.1@desk.example.org>"
OUT_OF_OFFICE = {"Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All"}


def signed(session: str = SESSION) -> str:
    return reply_address(session, local_part=LOCAL_PART, domain="inbound.example.org")


def mail(text: str = "It ships tomorrow.\n", **headers: str) -> EmailMessage:
    """A reply of Mia's. A header is named by its words, `In_Reply_To`; "" leaves it out."""
    made = EmailMessage()
    values = {
        "From": "Mia Berg <Mia@Support.example>",
        "To": signed(),
        "Subject": "Re: Sales support",
        "Message-ID": "<reply-1@support.example>",
    }
    values |= {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in values.items():
        if value:
            made[name] = value
    made.set_content(text)
    return made


def read(content: bytes | EmailMessage, **told: Any) -> Said | Status | Dropped:
    own = frozenset(told.pop("own", {"handoff@desk.example.org"}))
    account = told.pop("account", "")
    raw = content if isinstance(content, bytes) else content.as_bytes()
    return read_mail(Delivered(content=raw, **told), own=own, account=account)


def said(content: bytes | EmailMessage, **told: Any) -> Said:
    found = read(content, **told)
    assert isinstance(found, Said), found
    return found


def reason(content: bytes | EmailMessage, **told: Any) -> str:
    """Why a mail was dropped."""
    found = read(content, **told)
    assert isinstance(found, Dropped), found
    return found.reason


def bounce(
    original_id: str = OURS,
    *,
    action: str = "failed",
    status: str = "5.1.1",
    recipient: str = "jo@support.example",
    to: str = "jo@support.example",
    original: str = "message/rfc822",
    references: str = "",
) -> bytes:
    """A report as Postfix writes it; `original` is how it brings the mail along, "" for not."""
    headers = f"""\
From: handoff@desk.example.org
To: {to}
Subject: Sales support: an AI agent asks for your help
Message-ID: {original_id}
References: {references or original_id}
"""
    inside = headers if "headers" in original else f"{headers}\nNova asks for help.\n"
    third = f"\n--b\nContent-Type: {original}\n\n{inside}" if original else ""
    return f"""\
Return-Path: <>
From: MAILER-DAEMON@mx.support.example (Mail Delivery System)
To: handoff@desk.example.org
Auto-Submitted: auto-replied
Subject: Undelivered Mail Returned to Sender
Message-ID: <20261130.1@mx.support.example>
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

I'm sorry to have to inform you that your message could not be delivered.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.support.example
Arrival-Date: Mon, 30 Nov 2026 10:00:00 +0000

Final-Recipient: rfc822; {recipient}
Action: {action}
Status: {status}
Diagnostic-Code: smtp; 550 5.1.1 <{recipient}>: Recipient address
 rejected: User unknown
{third}
--b--
""".encode()
