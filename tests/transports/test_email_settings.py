"""The settings of a mail channel, and where its mail goes."""

import email
import email.policy
import time
from pathlib import Path
from typing import Any

import pydantic
import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.mail_url import MailFolder, MailServer, Security, parse_mail_url
from handoff.transports import transport_class
from handoff.transports.email import Email
from handoff.transports.email_settings import EmailSettings
from tests.fakes.smtp import SmtpServer
from tests.transports.mail_samples import LINK, channel, request, send


def problems(values: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(pydantic.ValidationError) as caught:
        EmailSettings.model_validate(values)
    return {str(error["loc"][0]): error["msg"] for error in caught.value.errors()}


def test_the_email_kind_is_carried_by_this_transport() -> None:
    assert transport_class("email") is Email
    assert EmailSettings.secret_keys == {"smtp_url", "imap_url"}


def test_every_problem_is_named_at_once() -> None:
    found = problems(
        {
            "from_email": "not an address",
            "smtp_url": "http://mail.example.org",
            "inbound": "pigeon",
            "inbound_domain": "no domain",
            "imap_url": "pop3://x",
            "reply_to": "x@y.example",
        }
    )
    assert set(found) == {
        "to", "from_email", "smtp_url", "inbound", "inbound_domain", "imap_url", "reply_to",
    }  # fmt: skip


@pytest.mark.parametrize(
    "to",
    [
        [], "", "nobody", ["a@b.example", "nobody"], 7, {"a@b.example": 1}, None,
        "a@b.example\r\nBcc: x", ["a@b.example\nx@y.example"],
        [f"u{n}@b.example" for n in range(21)],
    ],
)  # fmt: skip
def test_recipients_must_be_addresses(to: object) -> None:
    assert set(problems({"to": to})) == {"to"}


def test_recipients_may_be_one_text_or_a_list_and_repeat_nobody() -> None:
    expected = ("a@b.example", "c@d.example")
    for to in (list(expected), "a@b.example; c@d.example", "a@b.example,c@d.example a@b.example"):
        assert EmailSettings.model_validate({"to": to}).to == expected


def test_settings_are_frozen_survive_json_and_hide_passwords_from_a_repr() -> None:
    settings = EmailSettings(to=("a@b.example",), smtp_url="smtp://u:s3cret@mail.example.org")
    with pytest.raises(pydantic.ValidationError):
        settings.smtp_url = ""  # type: ignore[misc]
    assert EmailSettings.model_validate(settings.model_dump(mode="json")) == settings
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in repr(parse_mail_url(settings.smtp_url))


IMAP_URL = "imaps://desk:s3cret@mail.example.org"


def test_what_reading_a_mailbox_needs_is_named_all_at_once() -> None:
    found = problems({"to": "a@b.example", "inbound": "imap", "imap_folder": "Gel\u00f6scht"})
    assert set(found) == {"inbound_domain", "imap_url", "imap_folder"}
    assert set(problems({"to": "a@b.example", "inbound": "anymail"})) == {"inbound_domain"}


def test_complete_settings_for_replies_are_taken() -> None:
    common = {"to": "a@b.example", "inbound_domain": "inbound.example.org"}
    read = EmailSettings.model_validate({**common, "inbound": "imap", "imap_url": IMAP_URL})
    assert (read.imap_folder, read.inbound_local_part) == ("INBOX", "reply+{token}")
    assert "s3cret" not in repr(read)
    EmailSettings.model_validate({**common, "inbound": "anymail"})
    assert EmailSettings.model_validate(read.model_dump(mode="json")) == read
    assert not EmailSettings.dormant_keys


def test_settings_for_replies_may_wait_until_they_are_used() -> None:
    EmailSettings.model_validate({"to": "a@b.example", "imap_url": IMAP_URL})


@pytest.mark.parametrize(
    "url", ["pop3://u:p@h", "imaps://mail.example.org", "imaps://u:p@h/x", "x"]
)
def test_an_unusable_mailbox_is_refused(url: str) -> None:
    assert set(problems({"to": "a@b.example", "imap_url": url})) == {"imap_url"}


@pytest.mark.parametrize(
    "local_part",
    [
        "reply", "reply{token}", "{token}reply", "Reply+{token}", "reply+{token}{token}",
        "reply {token}", "re@ply+{token}", "..{token}", "a" * 21 + "+{token}",
        "{TOKEN}", "",
    ],
)  # fmt: skip
def test_a_local_part_must_make_an_address_that_can_be_read_again(local_part: str) -> None:
    assert set(problems({"to": "a@b.example", "inbound_local_part": local_part})) == {
        "inbound_local_part"
    }


@pytest.mark.parametrize(
    "local_part", ["{token}", "reply-{token}", "support+{token}", "a" * 20 + "+{token}"]
)
def test_a_local_part_may_suit_the_mail_host(local_part: str) -> None:
    settings = EmailSettings.model_validate({"to": "a@b.example", "inbound_local_part": local_part})
    assert settings.inbound_local_part == local_part


def test_a_channel_cannot_name_a_folder_on_the_server() -> None:
    assert (
        "only EMAIL_URL"
        in problems({"to": "a@b.example", "smtp_url": "filemail:///tmp/x"})["smtp_url"]
    )


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example.org", MailServer(host="mail.example.org", port=25)),
        (
            "smtp+tls://u:p%40ss@mail.example.org",
            MailServer(
                host="mail.example.org",
                port=587,
                security=Security.STARTTLS,
                username="u",
                password="p@ss",
            ),
        ),
        ("smtp+ssl://[::1]:4650/", MailServer(host="::1", port=4650, security=Security.TLS)),
        ("smtp://bücher.example:26", MailServer(host="xn--bcher-kva.example", port=26)),
        ("filemail:///var/mail/desk", MailFolder(path=Path("/var/mail/desk"))),
    ],
)
def test_a_mail_url_reads_as_written(url: str, server: MailServer | MailFolder) -> None:
    assert parse_mail_url(url) == server


@pytest.mark.parametrize(
    "url",
    [
        "", "mail.example.org", "smtps://u:s3cret@h", "http://u:s3cret@h", "smtp://", "smtp://:25",
        "smtp://u:s3cret@h:99999", "smtp://u:s3/cret@h", "smtp://u:s3cret@h/path",
        "smtp://u:s3cret@h?x=1", "smtp://u:s3cret@h#x", "smtp://s3cret@h", "smtp://u:s3crét@h",
        "smtp://u:s3cret%0d%0aQUIT@h", "smtp://[::1", "filemail://host/s3cret", "filemail:relative",
        "filemail:///",
    ],
)  # fmt: skip
def test_an_unusable_mail_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"mail") as caught:
        parse_mail_url(url)
    assert "s3cr" not in str(caught.value)


def test_the_channels_server_wins_over_the_deployments(settings: Settings) -> None:
    with SmtpServer() as deployment, SmtpServer() as own:
        settings.EMAIL_URL = deployment.url
        send(channel(own.url), request())
        own.wait_for_message()
        send(channel(), request())
        deployment.wait_for_message()
        assert (len(own.messages), len(deployment.messages)) == (1, 1)


def test_in_the_demo_mail_stays_in_a_private_folder_one_file_each(
    settings: Settings, tmp_path: Path
) -> None:
    settings.EMAIL_URL, settings.DEMO, settings.MAIL_DIR = "", True, tmp_path / "mail"
    receipts = [send(channel(), request(number=number)) for number in (1, 2, 3)]
    files = sorted(settings.MAIL_DIR.iterdir())
    assert [path.suffix for path in files] == [".eml"] * 3
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert settings.MAIL_DIR.stat().st_mode & 0o777 == 0o700
    mails = [
        email.message_from_bytes(path.read_bytes(), policy=email.policy.default) for path in files
    ]
    assert [mail["Message-ID"] for mail in mails] == [r.provider_message_id for r in receipts]
    body = mails[0].get_body(("plain",))
    assert body is not None
    assert LINK in body.get_content()
    report = channel().test(deadline=time.monotonic() + 1)
    assert report.works
    assert any("demo mailbox" in line for line in report.lines)


def test_a_folder_that_cannot_be_written_is_a_failure_with_a_hint(
    settings: Settings, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    settings.EMAIL_URL, settings.DEMO = "", True
    settings.MAIL_DIR = in_the_way / "mail"
    with pytest.raises(TransportError) as caught:
        send(channel(), request())
    assert caught.value.kind is Kind.PERMISSION
    assert caught.value.hint


@pytest.mark.parametrize("sender", ["", "nobody", "a@b@c", "x y@b.example", "desk@::1"])
def test_an_unusable_default_sender_is_bad_format(settings: Settings, sender: str) -> None:
    settings.DEFAULT_FROM_EMAIL = sender
    with SmtpServer() as server, pytest.raises(TransportError) as caught:
        send(channel(server.url, from_email=""), request())
    assert caught.value.kind is Kind.BAD_FORMAT


def test_the_default_sender_keeps_its_name_and_gives_the_mail_domain(
    settings: Settings,
) -> None:
    settings.DEFAULT_FROM_EMAIL = '"Desk, Ünit" <desk@bücher.example>'
    with SmtpServer() as server:
        receipt = send(channel(server.url, from_email="", to="jo@bücher.example"), request())
        mail = server.wait_for_message()
    assert mail.sender == "desk@xn--bcher-kva.example"
    assert mail.recipients == ("jo@xn--bcher-kva.example",)
    assert mail.message["From"].addresses[0].display_name == "Desk, Ünit"
    assert receipt.provider_message_id.endswith("@xn--bcher-kva.example>")
