"""Every way in which a mail server fails: its kind, in time, and nothing said that is not so."""

import socket
import time
from base64 import b64encode
from pathlib import Path

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.email import Email
from tests.fakes.certificates import server_context, write_certificate
from tests.fakes.rude import Rude, RudeServer
from tests.fakes.smtp import Mode, SmtpServer, Tls
from tests.transports.mail_samples import channel, request, send

SECONDS = 0.6


def refused(transport: Email, *, seconds: float = 5) -> TransportError:
    """The error of one send; it must come at most a second after the deadline."""
    started = time.monotonic()
    with pytest.raises(TransportError) as caught:
        send(transport, request(), seconds=seconds)
    assert time.monotonic() - started < max(0, seconds) + 1
    error = caught.value
    assert error.hint
    assert "support.example" not in error.operator_detail
    return error


@pytest.mark.parametrize(
    ("mode", "kind", "taken"),
    [
        (Mode.REFUSE_AT_CONNECT, Kind.CONNECT, 0),
        (Mode.NEVER_GREET, Kind.CONNECT, 0),
        (Mode.TRICKLE, Kind.CONNECT, 0),
        (Mode.DROP_BEFORE_DATA, Kind.TRANSIENT, 0),
        (Mode.DROP_AFTER_DOT, Kind.UNKNOWN_OUTCOME, 1),
        (Mode.HANG_AFTER_DOT, Kind.UNKNOWN_OUTCOME, 1),
        (Mode.TRICKLE_AFTER_DOT, Kind.UNKNOWN_OUTCOME, 1),
    ],
)
def test_a_server_that_breaks_off_is_judged_by_whether_the_final_dot_had_left(
    mode: Mode, kind: Kind, taken: int
) -> None:
    with SmtpServer(mode) as server:
        assert refused(channel(server.url), seconds=SECONDS).kind is kind
        assert len(server.messages) == taken
        assert server.connected() == 1


def test_a_connection_that_is_lost_while_the_content_goes_out_is_no_success() -> None:
    """Whether the dot had left is a race here; both judgements are true, success is not."""
    with SmtpServer(Mode.DROP_IN_DATA) as server:
        assert refused(channel(server.url)).kind in (Kind.TRANSIENT, Kind.UNKNOWN_OUTCOME)
        assert server.messages == []


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("450 4.2.0 <jo@support.example> greylisted", Kind.TRANSIENT),
        ("451 4.3.0 try later", Kind.TRANSIENT),
        ("452 4.2.2 full for now", Kind.TRANSIENT),
        ("421 4.3.2 shutting down", Kind.TRANSIENT),
        ("550 5.1.1 <jo@support.example> unknown", Kind.RECIPIENT_UNREACHABLE),
        ("551 5.1.6 moved", Kind.RECIPIENT_UNREACHABLE),
        ("552 5.2.2 mailbox full", Kind.RECIPIENT_UNREACHABLE),
        ("553 5.1.3 bad address", Kind.RECIPIENT_UNREACHABLE),
        ("554 5.7.1 relay access denied", Kind.RECIPIENT_UNREACHABLE),
    ],
)
def test_a_refused_recipient_is_for_now_or_for_good(reply: str, kind: Kind) -> None:
    with SmtpServer(recipients={"jo@support.example": reply}) as server:
        error = refused(channel(server.url))
        assert error.kind is kind
        assert error.provider_code == reply[:3]
        assert server.messages == []


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("452 4.3.1 no space", Kind.TRANSIENT),
        ("530 5.7.0 log in first", Kind.PERMISSION),
        ("550 5.7.1 not allowed to send as this", Kind.PERMISSION),
        ("552 5.3.4 too big", Kind.TOO_LONG),
    ],
)
def test_a_refused_sender_is_a_matter_of_permission_or_size(reply: str, kind: Kind) -> None:
    with SmtpServer(mail_reply=reply) as server:
        assert refused(channel(server.url)).kind is kind


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("451 4.7.1 later", Kind.TRANSIENT),
        ("552 5.3.4 too big", Kind.TOO_LONG),
        ("554 5.7.1 looks like spam", Kind.PERMISSION),
    ],
)
def test_a_definite_no_to_the_content_is_a_refusal_and_not_unknown(reply: str, kind: Kind) -> None:
    with SmtpServer(data_reply=reply) as server:
        assert refused(channel(server.url)).kind is kind


def test_a_message_over_the_servers_size_is_refused_before_it_is_sent() -> None:
    with SmtpServer(size_limit=1000) as server:
        assert refused(channel(server.url)).kind is Kind.TOO_LONG
        assert not any(command.startswith("RCPT") for command in server.commands)


def test_one_refused_address_of_two_does_not_hide_that_the_other_was_reached() -> None:
    with SmtpServer(recipients={"jo@support.example": "550 5.1.1 unknown"}) as server:
        transport = channel(server.url, to=["jo@support.example", "ann@support.example"])
        receipt = send(transport, request())
        assert server.wait_for_message().recipients == ("ann@support.example",)
        assert "1 of 2 addresses were refused" in receipt.raw_excerpt


def test_all_addresses_refused_is_a_failure_and_one_for_now_leaves_hope() -> None:
    replies = {"jo@support.example": "550 no", "ann@support.example": "450 later"}
    with SmtpServer(recipients=replies) as server:
        error = refused(channel(server.url, to=list(replies)))
        assert error.kind is Kind.TRANSIENT
        assert "2 of 2" in error.operator_detail


def test_a_login_with_odd_characters_works_and_a_wrong_one_is_auth() -> None:
    with SmtpServer(login=("desk@example.org", "p:a/s@s#w%rd?")) as server:
        assert send(channel(server.url), request()).provider_message_id
        server.wait_for_message()
        error = refused(channel(server.url.replace("%25", "")))
        assert error.kind is Kind.AUTH
        assert len(server.messages) == 1


def test_a_server_without_login_or_starttls_is_a_matter_of_configuration() -> None:
    with SmtpServer() as server:
        where = f"127.0.0.1:{server.port}"
        assert refused(channel(f"smtp://user:password@{where}")).kind is Kind.AUTH
        error = refused(channel(f"smtp+tls://{where}"))
        assert error.kind is Kind.AUTH
        assert "smtp+ssl://" in error.hint


@pytest.mark.parametrize("tls", [Tls.STARTTLS, Tls.AT_ONCE])
def test_tls_works_with_a_good_certificate_and_carries_the_login(
    tls: Tls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = write_certificate(tmp_path, host="127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with SmtpServer(tls=tls, tls_context=server_context(pem), login=("desk", "secret")) as server:
        send(channel(server.url), request())
        assert "order 1234" in server.wait_for_message().text
        report = channel(server.url).test(deadline=time.monotonic() + 5)
        assert report.works
        assert "The connection is encrypted and the certificate is good." in report.lines
        assert "Logged in." in report.lines


@pytest.mark.parametrize("tls", [Tls.STARTTLS, Tls.AT_ONCE])
@pytest.mark.parametrize("mode", [Mode.HANG_AFTER_DOT, Mode.TRICKLE_AFTER_DOT])
def test_the_deadline_holds_through_tls_as_well(
    tls: Tls, mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = write_certificate(tmp_path, host="127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with SmtpServer(mode, tls=tls, tls_context=server_context(pem)) as server:
        error = refused(channel(server.url), seconds=SECONDS)
        assert error.kind is Kind.UNKNOWN_OUTCOME


@pytest.mark.parametrize("tls", [Tls.STARTTLS, Tls.AT_ONCE])
@pytest.mark.parametrize("trusted", [True, False])
def test_a_bad_certificate_is_connect_and_says_what_to_check(
    tls: Tls, trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = "elsewhere.example" if trusted else "127.0.0.1"
    pem = write_certificate(tmp_path, host=host)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with SmtpServer(tls=tls, tls_context=server_context(pem)) as server:
        error = refused(channel(server.url))
        assert error.kind is Kind.CONNECT
        assert error.provider_code == "tls"
        assert "certificate" in error.operator_detail
        assert server.messages == []


def test_tls_at_once_to_a_server_without_it_is_connect() -> None:
    with SmtpServer() as server:
        error = refused(channel(f"smtp+ssl://127.0.0.1:{server.port}"))
        assert error.kind is Kind.CONNECT


def test_a_closed_port_is_connect_and_names_the_cause() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        error = refused(channel(f"smtp://127.0.0.1:{free.getsockname()[1]}"))
    assert error.kind is Kind.CONNECT
    assert error.hint.startswith("Nothing listens there")


def test_a_deadline_that_has_passed_contacts_nobody() -> None:
    with SmtpServer() as server:
        assert refused(channel(server.url), seconds=-1.0).kind is Kind.CONNECT
        assert server.messages == []


@pytest.mark.parametrize("host", ["169.254.169.254", "[fd00:ec2::254]", "[::ffff:169.254.1.1]"])
def test_a_metadata_service_is_never_a_mail_server(host: str) -> None:
    error = refused(channel(f"smtp://{host}:25"), seconds=1)
    assert error.kind is Kind.PERMISSION
    assert "never allowed" in error.hint


def test_without_any_server_the_answer_names_both_settings(settings: Settings) -> None:
    settings.EMAIL_URL, settings.DEMO = "", False
    error = refused(channel())
    assert error.kind is Kind.AUTH
    assert error.hint == ("No mail server is configured: set EMAIL_URL or the channel's smtp_url.")
    report = channel().test(deadline=time.monotonic() + 1)
    assert not report.works
    assert report.lines[-1] == error.hint


def test_a_broken_email_url_is_said_without_repeating_it(settings: Settings) -> None:
    settings.EMAIL_URL = "smtp://user:s3cret@mail.example.org:port"
    error = refused(channel())
    assert error.kind is Kind.AUTH
    assert "s3cret" not in f"{error} {error.hint}"


def test_the_test_button_stops_at_the_step_that_fails_and_says_what_to_do() -> None:
    with SmtpServer(login=("desk", "right")) as server:
        report = channel(server.url.replace("right", "wrong")).test(deadline=time.monotonic() + 5)
        assert not report.works
        assert "Connected to the mail server." in report.lines
        assert report.lines[-1] == "Check the user and the password in the mail server URL."
        assert server.messages == []


def test_the_test_button_does_not_hang_on_a_silent_server() -> None:
    with SmtpServer(Mode.NEVER_GREET) as server:
        started = time.monotonic()
        assert not channel(server.url).test(deadline=started + SECONDS).works
        assert time.monotonic() - started < SECONDS + 1


def test_a_reply_without_end_is_read_no_further_than_a_reply_goes() -> None:
    with (
        SmtpServer() as server,
        RudeServer(Rude.HUGE, upstream=server.port, start=b"250-") as proxy,
    ):
        started = time.monotonic()
        error = refused(channel(f"smtp://127.0.0.1:{proxy.port}"), seconds=10)
        assert time.monotonic() - started < 5
        assert error.kind is Kind.UNKNOWN_OUTCOME
        assert "too long" in error.operator_detail
        assert len(server.messages) == 1


def test_a_server_that_says_the_password_back_is_not_quoted() -> None:
    password = "c0rrect-horse"
    sent = b64encode(b"\0desk\0" + password.encode()).decode()
    with SmtpServer(login=("desk", password), data_reply=f"554 no {password} {sent}") as server:
        error = refused(channel(server.url))
        assert error.kind is Kind.PERMISSION
        assert error.operator_detail == "554 no *** ***"
        assert password not in repr(error.__cause__)
