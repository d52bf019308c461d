"""Replies that a mail host posts, verified by the real django-anymail."""

import base64
import datetime as dt
import hashlib
import hmac
import json
import subprocess
import sys
import time
from email.message import EmailMessage
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions.inbound_apply import apply_due
from handoff.models import Channel, Conversation, File, InboundEvent, Message, Session
from handoff.transports.email_address import LOCAL_PART, reply_address
from tests import environment, factories
from tests.fakes.smtp import SmtpServer
from tests.files import samples
from tests.transports.inbound_samples import OUT_OF_OFFICE, bounce, mail

SECRET = "desk:long-password"
SIGNING_KEY = "key-of-mailgun"
pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.hooks.mail_host_urls")]


@pytest.fixture(autouse=True)
def _switched_on(settings: Settings) -> None:
    settings.ANYMAIL = {"WEBHOOK_SECRET": SECRET, "MAILGUN_WEBHOOK_SIGNING_KEY": SIGNING_KEY}
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "anymail"]
    import_module("handoff.hooks.mail_hosts")


def anymail_channel(smtp_url: str = "", **config: Any) -> Channel:
    settings = {"inbound": "anymail", "inbound_domain": "in.example.org", "smtp_url": smtp_url}
    return factories.email_channel(factories.AgentFactory.create(), **{**settings, **config})


def asked(**config: Any) -> tuple[Conversation, Session]:
    """A handoff that was mailed, by a channel whose replies a mail host posts."""
    with SmtpServer() as server:
        channel = anymail_channel(server.url, **config)
        conversation = factories.conversation(channel.agent, name="Ana")
        session = factories.requested(channel.agent, channel, conversation)
    assert session.status == "active"
    return conversation, session


def address_of(session: Session) -> str:
    return reply_address(session.public_id, local_part=LOCAL_PART, domain="in.example.org")


def basic(secret: str = SECRET) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(secret.encode()).decode()}


def mailgun(
    content: EmailMessage | bytes,
    *,
    recipient: str,
    sender: str = "mia@shop.example",
    token: str = "t" * 50,
    key: str = SIGNING_KEY,
    secret: str = SECRET,
) -> int:
    """The status that a post of Mailgun's gets."""
    stamp = str(int(time.time()))
    raw = content if isinstance(content, bytes) else content.as_bytes()
    body = {
        "body-mime": raw.decode("utf-8"),
        "recipient": recipient,
        "sender": sender,
        "timestamp": stamp,
        "token": token,
        "signature": hmac.new(key.encode(), f"{stamp}{token}".encode(), hashlib.sha256).hexdigest(),
    }
    client = Client(raise_request_exception=False)
    return client.post(
        "/hooks/anymail/mailgun/inbound_mime/", body, headers=basic(secret)
    ).status_code


def postmark(recipient: str, text: str, **fields: Any) -> int:
    """The status that a post of Postmark's gets, which takes a mail apart."""
    body = {
        "MessageID": "pm-1",
        "OriginalRecipient": recipient,
        "FromFull": {"Email": "mia@shop.example", "Name": "Mia Berg"},
        "ToFull": [{"Email": "desk@in.example.org", "Name": ""}],
        "Subject": "Re: Sales support",
        "TextBody": text,
        "Headers": [{"Name": "Message-ID", "Value": "<pm@shop.example>"}],
        **fields,
    }
    return (
        Client()
        .post(
            "/hooks/anymail/postmark/inbound/",
            json.dumps(body),
            content_type="application/json",
            headers=basic(),
        )
        .status_code
    )


def outcomes() -> list[str]:
    apply_due()
    rows = InboundEvent.objects.exclude(body="").order_by("pk")
    return list(rows.values_list("outcome", flat=True))


def said(conversation: Conversation) -> list[tuple[str, str]]:
    rows = Message.objects.filter(conversation=conversation, author="person")
    return list(rows.values_list("name", "text"))


def test_a_file_of_a_mail_that_mailgun_posts_reaches_the_chat() -> None:
    _, session = asked()
    reply = mail("See the label.\n", To="desk@in.example.org")
    large = samples.PDF + b" " * 2_000_000 + b"%%EOF"
    reply.add_attachment(large, maintype="application", subtype="pdf", filename="label.pdf")
    assert mailgun(reply, recipient=address_of(session)) == 200
    assert outcomes() == ["replied"]
    row = File.objects.get()
    assert row.message is not None
    assert (row.name, row.size, row.message.text) == ("label.pdf", len(large), "See the label.")


def test_a_reply_that_mailgun_posts_reaches_the_chat() -> None:
    conversation, session = asked()
    reply = mail("It left.\n\n> quoted\n", To="desk@in.example.org")
    assert mailgun(reply, recipient=address_of(session)) == 200
    assert outcomes() == ["replied"]
    assert said(conversation) == [("Mia Berg", "It left.")]
    row = InboundEvent.objects.exclude(body="").get()
    at = dt.datetime.fromisoformat(json.loads(row.body)["at"])
    assert abs(at - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)


def test_a_reply_that_postmark_took_apart_reaches_the_chat() -> None:
    conversation, session = asked()
    assert postmark(address_of(session), "It left.") == 200
    assert outcomes() == ["replied"]
    assert said(conversation) == [("Mia Berg", "It left.")]


def test_a_mail_is_counted_once_by_the_hosts_id_and_by_its_own() -> None:
    conversation, session = asked()
    to = address_of(session)
    first, second = mail("one\n"), mail("two\n", Message_ID="<two@x.example>")
    assert mailgun(first, recipient=to, token="a" * 50) == 200
    assert mailgun(second, recipient=to, token="a" * 50) == 200
    assert mailgun(first, recipient=to, token="b" * 50) == 200
    assert outcomes() == ["replied"]
    assert said(conversation) == [("Mia Berg", "one")]


def test_a_release_line_that_a_host_posts_releases() -> None:
    _, session = asked()
    line = f"/release {session.release_token} It left.\n"
    assert postmark(address_of(session), line) == 200
    assert outcomes() == ["released"]


def test_the_newer_of_two_agents_gets_its_reply() -> None:
    older, _ = asked()
    newer, session = asked(to="other@example.com")
    assert postmark(address_of(session), "For the newer.") == 200
    assert outcomes() == ["replied"]
    assert said(older) == []
    assert said(newer) == [("Mia Berg", "For the newer.")]


def test_machines_are_dropped_and_bounces_counted() -> None:
    _, session = asked()
    to = address_of(session)
    assert mailgun(mail(**OUT_OF_OFFICE), recipient=to, token="a" * 50) == 200
    assert mailgun(mail(Message_ID="<2@x>"), recipient=to, sender="", token="b" * 50) == 200
    sent = session.attempts.get().provider_message_id
    report = bounce(sent, to="sales@example.com", recipient="sales@example.com")
    assert mailgun(report, recipient="handoff@x.example", sender="", token="c" * 50) == 200
    assert outcomes() == ["dropped", "dropped", "delivery"]
    reasons = AuditEvent.objects.filter(action="inbound.refused").values_list("reason", flat=True)
    assert set(reasons) == {"auto_submitted", "null_path"}
    assert Session.objects.get(pk=session.pk).release == "undeliverable"


@pytest.mark.parametrize("wrong", [{"key": "another"}, {"secret": "desk:wrong"}, {"secret": ""}])
def test_a_forged_post_is_refused_and_keeps_nothing(wrong: dict[str, str]) -> None:
    _, session = asked()
    assert mailgun(mail(), recipient=address_of(session), **wrong) == 400
    assert InboundEvent.objects.count() == 0


def test_without_such_a_channel_mail_is_named_on_the_trail_and_gone() -> None:
    factories.email_channel(factories.AgentFactory.create())
    assert postmark("reply+x@in.example.org", "Hello?") == 200
    assert InboundEvent.objects.count() == 0
    assert AuditEvent.objects.filter(action="inbound.unmatched", reason="no_channel").exists()


def test_mail_for_nobody_is_kept_unmatched() -> None:
    asked()
    assert postmark("reply+x@in.example.org", "Hello?") == 200
    assert outcomes() == ["unmatched"]


@pytest.mark.parametrize(
    "content",
    [
        b"\n", b"From: \xc3\xbc\n\nx", b"Content-Type: multipart/mixed; boundary=b\n" * 50 + b"\nx",
        b"Subject: =?utf-8?b?////?=\nTo: (((\nFrom: =?x?q?=?=\n\nx", b"Message-ID: <<a\n\n\x00",
    ],
)  # fmt: skip
def test_no_mail_makes_the_host_post_it_for_ever(content: bytes) -> None:
    anymail_channel()
    assert mailgun(content, recipient="x@in.example.org") == 200
    assert outcomes()[0] in ("unmatched", "dropped")


@pytest.mark.django_db(transaction=True)
def test_an_outage_makes_the_host_post_again() -> None:
    anymail_channel()
    table = InboundEvent._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
        try:
            assert mailgun(mail(), recipient="x@in.example.org") == 500
        finally:
            cursor.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    assert mailgun(mail(), recipient="x@in.example.org") == 200
    assert outcomes() == ["unmatched"]


START = """
import sys
if sys.argv[1] == "absent":
    sys.modules["anymail"] = None
import django
django.setup()
from django.urls import Resolver404, resolve
from django.core.management import call_command
call_command("check")
try:
    print(resolve("/hooks/anymail/mailgun/inbound/").app_name)
except Resolver404:
    print("no such address")
print("handoff.hooks.mail_hosts" in sys.modules)
"""


def started(package: str, anymail: str, data: Path) -> subprocess.CompletedProcess[str]:
    """A desk with or without the package, and with this in ANYMAIL."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", START, package],
        env={**environment.clean_environment(data), "ANYMAIL": anymail},
        cwd=environment.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
def test_the_package_is_needed_only_where_it_is_switched_on(tmp_path: Path) -> None:
    on = json.dumps({"WEBHOOK_SECRET": SECRET, "MAILGUN_WEBHOOK_SIGNING_KEY": SIGNING_KEY})
    with_it = started("present", on, tmp_path)
    assert with_it.stdout.splitlines()[-2:] == ["anymail", "True"], with_it.stderr
    for package in ("present", "absent"):
        without = started(package, "", tmp_path)
        assert without.stdout.splitlines()[-2:] == ["no such address", "False"], without.stderr
    absent = started("absent", on, tmp_path)
    assert absent.returncode != 0
    assert "pip install 'handoff-desk[inbound-email]'" in absent.stderr


@pytest.mark.slow
@pytest.mark.parametrize("value", ['{"X": "y"}', '{"WEBHOOK_SECRET": "user:short"}', '["x"]', "on"])
def test_addresses_that_would_take_mail_from_anybody_are_not_opened(
    value: str, tmp_path: Path
) -> None:
    refused = started("present", value, tmp_path)
    assert refused.returncode != 0
    assert "WEBHOOK_SECRET" in refused.stderr
