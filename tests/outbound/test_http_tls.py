"""The HTTP call over TLS: certificates are checked, and a failed handshake sent nothing."""

from pathlib import Path

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from tests.fakes.certificates import server_context, write_certificate
from tests.fakes.rude import Rude, RudeServer
from tests.outbound.asking import answering, fetch, refused


def test_a_certificate_that_the_machine_trusts_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = write_certificate(tmp_path, host="127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with answering(b"HTTP/1.1 200 OK\r\n\r\n{}", server_context(pem)) as (port, _):
        assert fetch(f"https://127.0.0.1:{port}/").json() == {}


@pytest.mark.parametrize(
    ("host", "is_trusted", "word"),
    [("127.0.0.1", False, "self-signed"), ("mail.example.org", True, "another")],
)
def test_another_certificate_is_named_and_nothing_is_sent(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    is_trusted: bool,
    word: str,
) -> None:
    pem = write_certificate(tmp_path, host=host)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with answering(b"HTTP/1.1 200 OK\r\n\r\n", server_context(pem)) as (port, asked):
        error = refused(f"https://127.0.0.1:{port}/", seconds=5)
    assert (error.kind, error.provider_code, asked) == (Kind.CONNECT, "tls", [])
    assert word in error.operator_detail
    assert not error.worth_a_retry


@pytest.mark.parametrize("mode", [Rude.GARBAGE, Rude.BAD_GATEWAY])
def test_no_handshake_is_no_connection(mode: Rude) -> None:
    with RudeServer(mode, at_once=True) as server:
        error = refused(f"https://127.0.0.1:{server.port}/", seconds=5)
        assert (error.kind, error.provider_code) == (Kind.CONNECT, "tls")


@pytest.mark.parametrize("mode", [Rude.SILENT, Rude.TRICKLE, Rude.HALF_CLOSE, Rude.RESET_BEFORE])
def test_a_handshake_that_does_not_end_is_no_connection(mode: Rude) -> None:
    with RudeServer(mode, at_once=True) as server:
        assert refused(f"https://127.0.0.1:{server.port}/").kind is Kind.CONNECT


@pytest.mark.parametrize(
    "mode", [Rude.SILENT, Rude.TRICKLE, Rude.RESET_BEFORE, Rude.RESET_AMID, Rude.HUGE]
)
def test_after_the_handshake_the_request_may_have_been_taken(
    mode: Rude, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = write_certificate(tmp_path, host="127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with RudeServer(mode, tls=server_context(pem)) as server:
        error = refused(f"https://127.0.0.1:{server.port}/", seconds=1.5)
        assert error.kind is Kind.UNKNOWN_OUTCOME
