"""Looking into a mailbox: a real server on loopback, polite and rude."""

import datetime as dt
import time
from pathlib import Path

import pytest
from pytest_django import Settings

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.outbound.imap import Fetched, check, open_mailbox
from handoff.outbound.mail_url import MailServer, parse_imap_url
from tests.fakes.certificates import server_context, write_certificate
from tests.fakes.imap import ImapServer, Mode, Tls

LETTER = b"Message-ID: <1@x.example>\nSubject: hello\n\nworld\n"
CAP = 1000


def fetched(url: str, uid: int = 1, *, cap: int = CAP, seconds: float = 5) -> Fetched | None:
    with open_mailbox(parse_imap_url(url), "INBOX", deadline=time.monotonic() + seconds) as box:
        return box.fetch(uid, cap=cap)


def failure(url: str, *, seconds: float = 5) -> TransportError:
    """How a look fails that reads one message."""
    with pytest.raises(TransportError) as caught:
        fetched(url, seconds=seconds)
    assert caught.value.hint
    return caught.value


def test_a_message_comes_whole_with_its_date_and_counts_as_unread_still() -> None:
    at = dt.datetime(2026, 11, 3, 9, 5, 7, tzinfo=dt.timezone(dt.timedelta(hours=-8)))
    with ImapServer() as server:
        server.put(LETTER, at=at)
        found = fetched(server.url)
        assert found == Fetched(uid=1, content=LETTER.replace(b"\n", b"\r\n"), at=at)
        assert server.seen == set()
        assert 'EXAMINE "INBOX"' in server.commands
        assert not [line for line in server.commands if line.startswith(("SELECT", "STORE"))]


def test_a_large_message_comes_as_its_beginning() -> None:
    with ImapServer() as server:
        server.put(LETTER + b"x" * 5000)
        found = fetched(server.url, cap=100)
    assert found is not None
    assert len(found.content) == 100
    assert not found.whole


def test_what_a_message_holds_cannot_pass_for_the_servers_word() -> None:
    hostile = LETTER + b""")
* 1 FETCH (UID 1 BODY[]<0> {3}
abc)
A1 OK FETCH completed
* BYE
* OK [UIDVALIDITY 1] {400}
""" + b"x" * (4096 - len(LETTER))  # fmt: skip
    with ImapServer() as server:
        server.put(hostile)
        server.put(b"Subject: next\n\n.\n")
        with open_mailbox(
            parse_imap_url(server.url), "INBOX", deadline=time.monotonic() + 5
        ) as box:
            first, second = box.fetch(1, cap=CAP * 10), box.fetch(2, cap=CAP)
            assert box.validity == server.validity
    assert first is not None
    assert first.content == hostile.replace(b"\n", b"\r\n")
    assert second is not None
    assert second.content == b"Subject: next\r\n\r\n.\r\n"


def test_a_search_for_newer_ones_leaves_out_the_last_that_is_older() -> None:
    with ImapServer() as server:
        for _ in range(3):
            server.put(LETTER)
        with open_mailbox(
            parse_imap_url(server.url), "INBOX", deadline=time.monotonic() + 5
        ) as box:
            assert box.after(1) == [2, 3]
            assert box.after(3) == []
            assert box.newest() == 3
        assert "UID SEARCH UID 4:*" in server.commands


@pytest.mark.parametrize("says_uidnext", [True, False])
def test_the_newest_is_known_with_and_without_a_prediction(says_uidnext: bool) -> None:
    with ImapServer(says_uidnext=says_uidnext) as server:
        deadline = time.monotonic() + 5
        with open_mailbox(parse_imap_url(server.url), "INBOX", deadline=deadline) as box:
            assert box.newest() == 0
            assert box.after(0) == []
        server.put(LETTER)
        with open_mailbox(parse_imap_url(server.url), "INBOX", deadline=deadline) as box:
            assert box.newest() == 1


def test_a_search_by_day_finds_that_day_and_later() -> None:
    with ImapServer() as server:
        for day in (1, 2, 3):
            server.put(LETTER, at=dt.datetime(2026, 12, day, tzinfo=dt.UTC))
        with open_mailbox(
            parse_imap_url(server.url), "INBOX", deadline=time.monotonic() + 5
        ) as box:
            assert box.since(dt.date(2026, 12, 2)) == [2, 3]


def test_a_message_that_is_gone_or_kept_back_is_none() -> None:
    with ImapServer() as server:
        server.put(LETTER)
        assert fetched(server.url, uid=7) is None
        server.broken = {1}
        assert fetched(server.url, uid=1) is None


def test_login_and_folder_may_hold_quotes_and_spaces() -> None:
    with ImapServer(login=('o"dd user', 'pass "\\ word'), folder='Desk "replies"') as server:
        lines = list(
            check(parse_imap_url(server.url), 'Desk "replies"', deadline=time.monotonic() + 5)
        )
    assert lines == [
        "Connected to the mailbox's server.",
        "The connection is not encrypted.",
        "Logged in.",
        f'Opened the folder Desk "replies" for reading (UIDVALIDITY {server.validity}).',
    ]


@pytest.mark.parametrize("tls", [Tls.STARTTLS, Tls.AT_ONCE])
def test_the_certificate_is_verified(
    tls: Tls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = write_certificate(tmp_path, host="127.0.0.1")
    with ImapServer(tls=tls, tls_context=server_context(pem)) as server:
        server.put(LETTER)
        error = failure(server.url)
        assert (error.kind, error.provider_code) == (Kind.CONNECT, "tls")
        assert not [line for line in server.commands if line.startswith("LOGIN")]
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        assert fetched(server.url) is not None


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (Mode.REFUSE_AT_CONNECT, Kind.CONNECT),
        (Mode.NOT_IMAP, Kind.CONNECT),
        (Mode.BUSY, Kind.TRANSIENT),
        (Mode.ECHO_LOGIN, Kind.AUTH),
        (Mode.DROP_IN_FETCH, Kind.TRANSIENT),
        (Mode.FLOOD_IN_FETCH, Kind.TRANSIENT),
        (Mode.FLOOD_IN_SEARCH, Kind.TRANSIENT),
        (Mode.HUGE_NUMBER, Kind.TRANSIENT),
    ],
)
def test_every_failure_has_its_kind_and_says_nothing_secret(mode: Mode, kind: Kind) -> None:
    with ImapServer(mode) as server:
        server.put(LETTER)
        if mode is Mode.FLOOD_IN_SEARCH:
            with (
                pytest.raises(TransportError) as caught,
                open_mailbox(
                    parse_imap_url(server.url), "INBOX", deadline=time.monotonic() + 30
                ) as box,
            ):
                box.after(0)
            error = caught.value
        else:
            error = failure(server.url, seconds=30)
    assert error.kind is kind
    for secret in (*server.login, str(server.port)):
        assert secret not in f"{error} {error.operator_detail} {error.hint}"


@pytest.mark.parametrize(
    "mode", [Mode.NEVER_GREET, Mode.TRICKLE, Mode.HANG_IN_FETCH, Mode.TRICKLE_IN_FETCH]
)
def test_a_server_that_hangs_or_trickles_is_cut_at_the_deadline(mode: Mode) -> None:
    with ImapServer(mode) as server:
        server.put(LETTER)
        before = time.monotonic()
        error = failure(server.url, seconds=0.7)
        took = time.monotonic() - before
    assert took < 0.7 + 0.5
    assert "no answer before the deadline" in error.operator_detail
    assert error.kind in (Kind.CONNECT, Kind.TRANSIENT)


def test_a_wrong_login_and_an_absent_folder_are_named() -> None:
    with ImapServer() as server:
        url = server.url
        server.login = ("desk@mail.example", "another")
        assert failure(url).kind is Kind.AUTH
        server.folder = "Elsewhere"
        error = failure(server.url)
        assert error.kind is Kind.NOT_FOUND
        assert "imap_folder" in error.hint


def test_a_server_without_starttls_gets_no_password(tmp_path: Path) -> None:
    pem = write_certificate(tmp_path, host="127.0.0.1")
    with ImapServer(Mode.NO_STARTTLS, tls=Tls.STARTTLS, tls_context=server_context(pem)) as server:
        error = failure(server.url)
        assert "imaps://" in error.hint
        assert error.kind is Kind.AUTH
        assert not [line for line in server.commands if line.startswith("LOGIN")]


def test_nobody_listens() -> None:
    with ImapServer() as server:
        url = server.url
    assert failure(url).kind is Kind.CONNECT


def test_a_private_mailbox_needs_the_operators_word(settings: Settings) -> None:
    settings.PRIVATE_TARGETS = []
    with ImapServer() as server:
        error = failure(server.url)
        assert error.kind is Kind.PERMISSION
        assert "HANDOFF_PRIVATE_TARGETS" in error.hint
        assert server.connections == 0


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("imaps://u:p@mail.example.org", ("mail.example.org", 993, "tls", "u", "p")),
        ("imap+tls://u:p@mail.example.org", ("mail.example.org", 143, "starttls", "u", "p")),
        ("imap://d@e.example:p%40x@[::1]:1143/", ("::1", 1143, "none", "d@e.example", "p@x")),
    ],
)
def test_an_imap_url_reads_as_written(url: str, server: tuple[str, int, str, str, str]) -> None:
    found: MailServer = parse_imap_url(url)
    assert (
        found.host, found.port, found.security, found.username, found.password,
    ) == server  # fmt: skip


@pytest.mark.parametrize(
    "url",
    [
        "", "pop3://u:s3cret@h", "imaps://h", "imaps://s3cret@h", "imaps://u:s3cret@h/INBOX",
        "imaps://u:s3crét@h", "imaps://u:s3cret%0d%0ah@h", "imaps://u:s3cret@h:99999",
    ],
)  # fmt: skip
def test_an_unusable_imap_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="mail server") as caught:
        parse_imap_url(url)
    assert "s3cr" not in str(caught.value)
