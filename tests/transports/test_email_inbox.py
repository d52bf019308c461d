"""Looks into a mailbox, one after the other."""

import datetime as dt
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from handoff.contract.kinds import TransportErrorKind as Kind
from handoff.errors import TransportError
from handoff.transports.email_read import MAIL_MAX
from handoff.transports.inbound import BODY_MAX, Came, Dropped, Polled, Said, Status
from tests.fakes.imap import ImapServer, Mode
from tests.transports.inbound_samples import OUT_OF_OFFICE, SESSION, bounce, mail
from tests.transports.mail_samples import channel

OPEN = ("<h.hs_open.1@desk.example.org>",)


class Reader:
    """A channel's looks: each goes on where the last one ended."""

    def __init__(self, mailbox: ImapServer, **settings: str) -> None:
        values = {"inbound": "imap", "inbound_domain": "in.example.org", "imap_url": mailbox.url}
        self.transport = channel(**{**values, **settings})
        self.cursor = ""

    def look(self, *, threads: tuple[str, ...] = (), seconds: float = 5) -> Polled:
        deadline = time.monotonic() + seconds
        polled = self.transport.poll(self.cursor, threads=threads, deadline=deadline)
        self.cursor = polled.cursor
        return polled

    def texts(self, *, threads: tuple[str, ...] = ()) -> list[str]:
        return texts(self.look(threads=threads).events)


@pytest.fixture
def reader(mailbox: ImapServer) -> Reader:
    """One that has looked before, into an empty mailbox."""
    made = Reader(mailbox)
    made.look()
    return made


def texts(events: Sequence[Came]) -> list[str]:
    return [event.text if isinstance(event, Said) else event.type for event in events]


def put(mailbox: ImapServer, *words: str, at: dt.datetime | None = None) -> None:
    for text in words:
        mailbox.put(mail(f"{text}\n", Message_ID=f"<{text}@x.example>").as_bytes(), at=at)


def test_each_reply_is_read_once_in_order_and_stays_unread_for_people(
    mailbox: ImapServer, reader: Reader
) -> None:
    assert reader.texts() == []
    put(mailbox, "one", "two")
    assert reader.texts() == ["one", "two"]
    assert reader.texts() == []
    put(mailbox, "three")
    assert reader.texts() == ["three"]
    assert reader.cursor == f"{mailbox.validity}:3"
    assert mailbox.seen == set()


def test_a_reply_carries_the_servers_time_and_its_mailbox(
    mailbox: ImapServer, reader: Reader
) -> None:
    at = dt.datetime(2026, 11, 30, 10, 0, tzinfo=dt.UTC)
    put(mailbox, "one", at=at)
    [found] = reader.look().events
    assert isinstance(found, Said)
    assert (found.at, found.session) == (at, SESSION)
    assert found.account == reader.transport.account()


def test_the_first_look_begins_with_what_comes_next(mailbox: ImapServer) -> None:
    put(mailbox, "old", "older")
    reader = Reader(mailbox)
    assert reader.texts() == []
    put(mailbox, "new")
    assert reader.texts() == ["new"]


def test_the_first_look_during_a_handoff_finds_the_answers_of_two_days(
    mailbox: ImapServer,
) -> None:
    put(mailbox, "old", at=dt.datetime.now(dt.UTC) - dt.timedelta(days=5))
    put(mailbox, "answer", at=dt.datetime.now(dt.UTC) - dt.timedelta(days=1))
    put(mailbox, "another")
    reader = Reader(mailbox)
    assert reader.texts(threads=OPEN) == ["answer", "another"]
    assert reader.texts(threads=OPEN) == []


def test_the_first_look_during_a_handoff_into_old_mail_reads_none_of_it(
    mailbox: ImapServer,
) -> None:
    put(mailbox, "old", at=dt.datetime.now(dt.UTC) - dt.timedelta(days=5))
    reader = Reader(mailbox)
    assert reader.texts(threads=OPEN) == []
    put(mailbox, "new", at=dt.datetime.now(dt.UTC) - dt.timedelta(days=5))
    assert reader.texts(threads=OPEN) == ["new"]


def test_a_mailbox_that_was_numbered_anew_is_read_again_and_known_by_its_ids(
    mailbox: ImapServer, reader: Reader
) -> None:
    put(mailbox, "one", "two")
    before = reader.look().events
    mailbox.rebuild(validity=mailbox.validity + 1)
    put(mailbox, "three")
    after = reader.look().events
    assert texts(after) == ["one", "two", "three"]
    assert [event.keys for event in after[:2]] == [event.keys for event in before]
    assert reader.cursor == f"{mailbox.validity}:3"
    assert reader.texts() == []


@pytest.mark.parametrize("cursor", ["", "x", "1:2:3:4", "-1:5", "9" * 40])
def test_an_unreadable_cursor_is_a_first_look(mailbox: ImapServer, cursor: str) -> None:
    put(mailbox, "old")
    reader = Reader(mailbox)
    reader.cursor = cursor
    assert reader.texts() == []
    assert reader.cursor == f"{mailbox.validity}:1"


def test_out_of_office_notes_and_bounces_are_no_replies(
    mailbox: ImapServer, reader: Reader
) -> None:
    mailbox.put(mail(**OUT_OF_OFFICE).as_bytes())
    mailbox.put(bounce())
    put(mailbox, "three")
    events = reader.look().events
    assert [type(event) for event in events] == [Dropped, Status, Said]


def test_a_mail_that_cannot_be_read_stops_nobody(mailbox: ImapServer, reader: Reader) -> None:
    put(mailbox, "one")
    mailbox.put(b"Content-Type: multipart/mixed; boundary=b\n" * 100 + b"\n--b\n\n--b--\n")
    mailbox.put(b"\xff\xfe\x00" * 1000)
    put(mailbox, "four")
    events = reader.look().events
    assert texts(events)[0] == "one"
    assert texts(events)[-1] == "four"
    assert isinstance(events[1], Dropped)
    assert events[1].reason == "unreadable"
    assert reader.texts() == []


def test_a_mail_that_the_server_keeps_back_is_left_out_and_said(
    mailbox: ImapServer, reader: Reader
) -> None:
    put(mailbox, "one", "two", "three")
    mailbox.broken = {2}
    polled = reader.look()
    assert texts(polled.events) == ["one", "dropped", "three"]
    assert "left out" in polled.hint
    assert reader.look().hint == ""


@pytest.mark.parametrize("mode", [Mode.DROP_IN_FETCH, Mode.HUGE_NUMBER, Mode.HANG_IN_FETCH])
def test_a_mail_at_which_the_connection_breaks_is_tried_three_times_then_left_out(
    mailbox: ImapServer, reader: Reader, mode: Mode
) -> None:
    put(mailbox, "one", "two")
    mailbox.mode = mode
    for tries in (1, 2):
        polled = reader.look(seconds=0.5)
        assert (polled.events, reader.cursor) == ((), f"{mailbox.validity}:0:{tries}")
        assert polled.hint
    third = reader.look(seconds=0.5)
    assert texts(third.events) == ["dropped"]
    mailbox.mode = Mode.SERVE
    assert reader.texts() == ["two"]


def test_one_bad_moment_loses_nothing(mailbox: ImapServer, reader: Reader) -> None:
    put(mailbox, "one")
    mailbox.mode = Mode.DROP_IN_FETCH
    reader.look()
    mailbox.mode = Mode.SERVE
    assert reader.texts() == ["one"]
    assert reader.cursor == f"{mailbox.validity}:1"


def test_many_mails_are_read_in_several_looks(mailbox: ImapServer, reader: Reader) -> None:
    words = [f"reply{number}" for number in range(70)]
    put(mailbox, *words)
    looks = [reader.texts() for _ in range(4)]
    assert [len(found) for found in looks] == [30, 30, 10, 0]
    assert [text for found in looks for text in found] == words


def test_a_huge_mail_is_read_from_its_beginning(mailbox: ImapServer, reader: Reader) -> None:
    huge = mail("The answer.\n")
    huge.add_attachment(b"x" * 13_000_000, maintype="application", subtype="pdf", filename="a.pdf")
    mailbox.put(huge.as_bytes())
    [found] = reader.look().events
    assert isinstance(found, Said)
    assert (found.text, found.files, found.left_out) == ("The answer.", (), 1)
    assert any(f"BODY.PEEK[]<0.{MAIL_MAX}>" in line for line in mailbox.commands)


def test_of_a_mail_that_does_not_come_through_the_beginning_is_read(
    mailbox: ImapServer, reader: Reader
) -> None:
    large = mail("The answer.\n")
    large.add_attachment(b"x" * 3_000_000, maintype="application", subtype="pdf", filename="a.pdf")
    mailbox.put(large.as_bytes())
    mailbox.mode = Mode.DROP_IN_FETCH
    assert reader.look().events == ()
    mailbox.mode = Mode.SERVE
    [found] = reader.look().events
    assert isinstance(found, Said)
    assert (found.text, found.files, found.left_out) == ("The answer.", (), 1)
    assert f"BODY.PEEK[]<0.{BODY_MAX}>" in " ".join(mailbox.commands)


@pytest.mark.parametrize(
    "mode", [Mode.REFUSE_AT_CONNECT, Mode.NEVER_GREET, Mode.BUSY, Mode.ECHO_LOGIN]
)
def test_a_mailbox_that_does_not_open_is_a_failure_for_now(
    mailbox: ImapServer, reader: Reader, mode: Mode
) -> None:
    """Never one that takes the channel out of use: its mails go out, and forms come back."""
    mailbox.mode = mode
    before = reader.cursor
    with pytest.raises(TransportError) as caught:
        reader.look(seconds=0.5)
    assert caught.value.kind in (Kind.CONNECT, Kind.TRANSIENT)
    assert caught.value.hint
    mailbox.mode = Mode.SERVE
    put(mailbox, "one")
    assert reader.cursor == before
    assert reader.texts() == ["one"]


def test_another_folder_may_be_read(tmp_path: Path) -> None:
    with ImapServer(folder="Desk replies") as mailbox:
        reader = Reader(mailbox, imap_folder="Desk replies")
        reader.look()
        put(mailbox, "one")
        assert reader.texts() == ["one"]
        with pytest.raises(TransportError) as caught:
            Reader(mailbox).look()
    assert caught.value.kind is Kind.TRANSIENT
    assert "imap_folder" in caught.value.hint
