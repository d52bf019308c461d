"""Where replies go, who may send them, and our own answers by mail."""

import time
from typing import Any

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.base import Notice, TestReport
from handoff.transports.email import Email
from handoff.transports.email_address import session_of
from handoff.transports.inbound import Said
from tests.fakes.imap import ImapServer
from tests.fakes.imap import Mode as ImapMode
from tests.fakes.smtp import Received, SmtpServer
from tests.transports.inbound_samples import OURS, SESSION, mail, reason, said
from tests.transports.mail_samples import TOKEN, channel, closed, line, request, send


def reading(smtp_url: str, imap_url: str = "imaps://u:p@mail.example", **settings: Any) -> Email:
    """A channel that reads replies in a mailbox."""
    values = {"inbound": "imap", "inbound_domain": "inbound.example.org", "imap_url": imap_url}
    return channel(smtp_url, **{**values, **settings})


def answered(server: SmtpServer, notice: Notice, **settings: Any) -> Received:
    reading(server.url, **settings).send(notice, deadline=time.monotonic() + 5)
    return server.wait_for_message()


@pytest.mark.parametrize("message", [request(), line(), closed()])
def test_every_mail_says_where_its_replies_go(server: SmtpServer, message: Any) -> None:
    send(reading(server.url), message)
    mail = server.wait_for_message()
    [address] = mail.message["Reply-To"].addresses
    assert session_of(address.addr_spec) == message.session
    assert address.domain == "inbound.example.org"
    assert "ada@customer.example" in mail.text
    assert mail.text.startswith("-- reply above this line --\n")
    assert "-- reply above this line --" in mail.html


def test_without_reading_replies_go_to_the_visitor(server: SmtpServer) -> None:
    send(channel(server.url), request())
    mail = server.wait_for_message()
    assert mail.message["Reply-To"] == "ada@customer.example"
    assert "reply above this line" not in mail.text + mail.html


def test_a_mail_that_asks_for_replies_says_how_to_release_by_one(server: SmtpServer) -> None:
    send(reading(server.url), request())
    mail = server.wait_for_message()
    for body in (mail.text, mail.html):
        assert "begin your reply with this line" in " ".join(body.split())
        assert f"/release {TOKEN}" in body


def test_an_international_domain_is_written_for_any_server(server: SmtpServer) -> None:
    send(reading(server.url, inbound_domain="bücher.example"), request())
    [address] = server.wait_for_message().message["Reply-To"].addresses
    assert address.domain == "xn--bcher-kva.example"


NOTICE = Notice(
    place="mia@support.example",
    text="That release line is not recognised.\nNothing was ended.",
    thread_key=OURS,
    answers="<reply-1@support.example>",
    session=SESSION,
)


def test_a_notice_answers_who_wrote_in_the_thread_and_quiets_machines(server: SmtpServer) -> None:
    mail = answered(server, NOTICE)
    headers = mail.message
    assert mail.recipients == ("mia@support.example",)
    assert headers["Auto-Submitted"] == "auto-replied"
    assert headers["X-Auto-Response-Suppress"] == "All"
    assert headers["In-Reply-To"] == "<reply-1@support.example>"
    assert headers["References"].split() == [
        OURS, "<reply-1@support.example>", headers["Message-ID"],
    ]  # fmt: skip
    assert session_of(headers["Reply-To"].addresses[0].addr_spec) == SESSION
    assert mail.text.startswith(
        "-- reply above this line --\n\nThat release line is not recognised."
    )
    assert "Nothing was ended." in mail.html
    assert "automatic answer" in mail.text


def test_two_machines_cannot_talk_a_notice_that_comes_back_is_dropped(server: SmtpServer) -> None:
    assert reason(answered(server, NOTICE).content) == "auto_submitted"


def test_the_same_notice_has_the_same_id_and_another_has_another(server: SmtpServer) -> None:
    transport = reading(server.url)
    ids = [
        transport.send(notice, deadline=time.monotonic() + 5).provider_message_id
        for notice in (
            NOTICE,
            NOTICE,
            Notice(place=NOTICE.place, text="Something else.", answers=NOTICE.answers),
        )
    ]
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize("place", ["", "<>", "nobody", "a@b.example\r\nBcc: x@y.example"])
def test_nobody_is_answered_without_an_address(server: SmtpServer, place: str) -> None:
    with pytest.raises(TransportError) as caught:
        answered(server, Notice(place=place, text="Hello."))
    assert caught.value.kind is Kind.BAD_FORMAT
    assert server.connections == 0


@pytest.mark.parametrize(
    ("thread_key", "answers"),
    [("", ""), ("not an id", "nor this"), (f"{OURS}\r\nBcc: x@y.example", "<a b>")],
)
def test_a_notice_about_an_odd_mail_stands_alone(
    server: SmtpServer, thread_key: str, answers: str
) -> None:
    notice = Notice(place="a@b.example", text="x", thread_key=thread_key, answers=answers)
    headers = answered(server, notice).message
    assert headers["References"] == headers["Message-ID"]
    assert headers["In-Reply-To"] is headers["Reply-To"] is headers["Bcc"] is None


def test_a_hostile_notice_is_plain_text_in_every_part(server: SmtpServer) -> None:
    hostile = "<b>bold</b> {{ x }} \u202e\x00 \ud800"
    mail = answered(server, Notice(place="a@b.example", text=hostile, language="zz"))
    assert "<b>bold</b> {{ x }} \\u202e" in mail.text
    assert "&lt;b&gt;bold&lt;/b&gt;" in mail.html


def accepts(found: Said, **settings: Any) -> bool:
    return reading("smtp://mail.example", **settings).accepts(found, recipients=frozenset())


def test_a_signed_address_is_enough_whoever_wrote_to_it() -> None:
    assert accepts(said(mail(From="jo@elsewhere.example")))


def test_a_sender_alone_never_is() -> None:
    assert not accepts(said(mail(From="jo@support.example", To="desk@inbound.example.org")))


def test_an_id_of_ours_is_enough_from_the_recipients_domain_only() -> None:
    to = {"To": "desk@inbound.example.org", "In-Reply-To": OURS}
    assert accepts(said(mail(From="mia@SUPPORT.example", **to)))
    assert not accepts(said(mail(From="ada@visitor.example", **to)))
    assert not accepts(said(mail(From="mia@notsupport.example", **to)))
    assert not accepts(said(mail(From="", **to)))
    other = {**to, "In-Reply-To": "<other@support.example>"}
    assert not accepts(said(mail(From="mia@support.example", **other)))


def test_a_release_token_is_enough_and_the_word_alone_is_not() -> None:
    elsewhere = {"From": "jo@elsewhere.example", "To": "desk@inbound.example.org"}
    assert accepts(said(mail(f"/release {TOKEN} done\n", **elsewhere)))
    assert not accepts(said(mail("/release please\n", **elsewhere)))


def test_channels_on_one_mailbox_share_what_comes_with_the_same_login_only() -> None:
    url = "imaps://u:p@mail.example"
    one, two = reading("", url), reading("", url, to="x@y.example", inbound_domain="b.example")
    assert one.account() == two.account() != ""
    assert one.shares_account(two)
    for other in (
        reading("", url.replace(":p@", ":other@")),
        reading("", url.replace("u:", "v:")),
        reading("", url, imap_folder="Replies"),
        channel(),
        channel(inbound="anymail", inbound_domain="b.example"),
    ):
        assert not one.shares_account(other)
    assert channel().account() == ""


def test_channels_with_webhooks_of_the_mail_host_share_them() -> None:
    one, two = (
        channel(inbound="anymail", inbound_domain=domain) for domain in ("a.example", "b.example")
    )
    assert one.account() == two.account() == "anymail"
    assert one.shares_account(two)
    assert not one.polls


def report_of(transport: Email) -> TestReport:
    return transport.test(deadline=time.monotonic() + 5)


def test_the_test_looks_into_the_mailbox_too(server: SmtpServer, mailbox: ImapServer) -> None:
    mailbox.put(mail().as_bytes())
    report = report_of(reading(server.url, mailbox.url))
    assert report.works
    assert "Replies go to reply+{token}@inbound.example.org." in report.lines
    assert f"Opened the folder INBOX for reading (UIDVALIDITY {mailbox.validity})." in report.lines
    assert any("reported to handoff@desk.example.org" in line for line in report.lines)
    assert server.messages == []
    assert not [line for line in mailbox.commands if "FETCH" in line]
    same = reading(server.url, mailbox.url, inbound_domain="desk.example.org")
    assert not any("reported to" in line for line in report_of(same).lines)


@pytest.mark.parametrize("mode", [ImapMode.REFUSE_AT_CONNECT, ImapMode.BUSY, ImapMode.ECHO_LOGIN])
def test_a_mailbox_that_does_not_open_fails_the_test_with_a_hint(
    server: SmtpServer, mailbox: ImapServer, mode: ImapMode
) -> None:
    mailbox.mode = mode
    report = report_of(reading(server.url, mailbox.url))
    assert not report.works
    assert report.lines[-2].startswith("Stopped there: IMAP: ")
    assert mailbox.login[1] not in " ".join(report.lines)


def test_webhooks_of_a_mail_host_must_be_taken_by_the_desk(
    server: SmtpServer, settings: Settings
) -> None:
    settings.ANYMAIL = {}
    transport = channel(server.url, inbound="anymail", inbound_domain="in.example.org")
    report = report_of(transport)
    assert not report.works
    assert "ANYMAIL" in report.lines[-1]
    settings.ANYMAIL = {"WEBHOOK_SECRET": "user:password"}
    assert report_of(transport).works


def test_without_replies_the_test_says_so(server: SmtpServer) -> None:
    report = report_of(channel(server.url))
    assert report.works
    assert any("not read" in line for line in report.lines)
