"""One mail, read into what it means."""

import datetime as dt
import hashlib
import time

import pytest

from handoff.transports.inbound import RAW_MAX, READER, Dropped, Said, Status
from tests.transports.inbound_samples import (
    OURS,
    OUT_OF_OFFICE,
    SESSION,
    mail,
    read,
    reason,
    said,
    signed,
)
from tests.transports.reply_samples import QUOTED, WROTE


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_reply_is_what_was_typed_by_whom_about_what() -> None:
    at = dt.datetime(2026, 11, 30, 10, 0, tzinfo=dt.UTC)
    text = f"It ships tomorrow.\n\n{WROTE['en']}\n{QUOTED}\n"
    reply = mail(text, In_Reply_To=OURS, References=f"<old@x.example> {OURS}")
    assert said(reply, at=at, account="box", keys=("event-1",)) == Said(
        keys=("event-1", digest("<reply-1@support.example>")),
        account="box",
        at=at,
        sender_id="mia@support.example",
        sender_name="Mia Berg",
        text="It ships tomorrow.",
        place="mia@support.example",
        message_id="<reply-1@support.example>",
        replies_to=(OURS, "<old@x.example>"),
        thread_key=OURS,
        session=SESSION,
        raw=text,
    )


def test_what_was_read_can_be_kept_and_opened_again() -> None:
    found = said(mail("It ships tomorrow. \x00\x1b\n"))
    assert READER.validate_json(found.model_dump_json()) == found


def test_two_copies_have_one_key_and_a_mail_without_id_that_of_its_bytes() -> None:
    assert said(mail()).keys == said(mail(Received="from elsewhere")).keys
    bare = mail(Message_ID="").as_bytes()
    assert said(bare).keys == (hashlib.sha256(bare).hexdigest(),)


@pytest.mark.parametrize(
    "place", ["Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To", "To", "Cc"]
)
def test_the_signed_address_is_found_wherever_it_stands(place: str) -> None:
    headers = {"To": "Desk <desk@inbound.example.org>"} | {place: f"Desk <{signed()}>"}
    if place == "To":
        headers[place] = f'"{signed("hs_" + "b" * 26)[:20]}" <{signed().upper()}>, x@y.example'
    assert said(mail(**headers)).session == SESSION


def test_the_envelope_counts_before_what_is_written() -> None:
    other = "hs_" + "c" * 26
    assert said(mail(), recipients=(signed(other),)).session == other
    assert said(mail(Delivered_To=signed(other))).session == other


@pytest.mark.parametrize(
    "headers",
    [
        {"Subject": f"Re: {signed()} {OURS}"},
        {"Reply-To": signed()},
        {"To": signed()[:-25] + "x@inbound.example.org"},
        {"X-Session": SESSION},
    ],
)
def test_nothing_else_names_a_handoff(headers: dict[str, str]) -> None:
    found = said(mail(**({"To": "desk@inbound.example.org"} | headers)))
    assert (found.session, found.replies_to, found.thread_key) == ("", (), "")
    assert not found.only_one
    assert not found.recent_one


def test_the_thread_is_named_by_its_root() -> None:
    later = [OURS.replace(".1@", f".{1000 + n}@") for n in range(3)]
    found = said(mail(In_Reply_To=later[-1], References=" ".join([OURS, *later])))
    assert found.replies_to == (*reversed(later), OURS)
    assert found.thread_key == OURS


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        (OUT_OF_OFFICE, "auto_submitted"),
        ({"Auto-Submitted": "auto-generated; owner-email=x"}, "auto_submitted"),
        ({"Precedence": "bulk"}, "bulk"),
        ({"Precedence": "Auto_Reply"}, "bulk"),
        ({"List-Id": "<team.lists.example>"}, "mailing_list"),
        ({"X-Autoreply": "yes"}, "auto_reply"),
        ({"X-Autorespond": "Out of office"}, "auto_reply"),
        ({"Return-Path": "<>"}, "null_path"),
        ({"From": "handoff@desk.example.org"}, "own_mail"),
        ({"From": f"Desk <{signed()}>"}, "own_mail"),
        ({"Message-ID": OURS}, "own_mail"),
        ({"Message-ID": f"<n.{'a' * 32}.1@desk.example.org>"}, "own_mail"),
    ],
)
def test_what_a_machine_sent_is_dropped_with_the_reason(headers: dict[str, str], why: str) -> None:
    assert reason(mail(**headers)) == why


def test_a_person_may_say_that_no_machine_sent_it() -> None:
    assert said(mail(Auto_Submitted="no", Return_Path="<mia@support.example>")).session


@pytest.mark.parametrize(
    ("raw", "charset", "text"),
    [
        ("Grüße aus Köln".encode("latin-1"), "iso-8859-1", "Grüße aus Köln"),
        ("Grüße aus Köln".encode(), "us-ascii", "Grüße aus Köln"),
        ("Grüße aus Köln".encode(), "klingon", "Grüße aus Köln"),
        ("Grüße aus Köln".encode("latin-1"), "utf-8", "Gr\ufffd\ufffde aus K\ufffdln"),
        ("明日発送します".encode("iso-2022-jp"), "iso-2022-jp", "明日発送します"),
        ("明日発送します".encode("shift_jis"), "Shift_JIS", "明日発送します"),
        ("غدا".encode("windows-1256"), "windows-1256", "غدا"),
        (b"plain \\x41", "unicode_escape", "plain \\x41"),
        (b"plain", "hex", "plain"),
        (b"plain", "idna", "plain"),
        (b"plain", 'x\x00"y', "plain"),
        (b"nul \x00 and escape \x1b", "utf-8", "nul \ufffd and escape \ufffd"),
    ],
)
def test_a_charset_that_lies_breaks_nothing(raw: bytes, charset: str, text: str) -> None:
    head = (
        f"From: mia@support.example\nTo: {signed()}\nContent-Type: text/plain; charset={charset}\n"
        "Content-Transfer-Encoding: 8bit\n\n"
    )
    assert said(head.encode() + raw).text == text


def test_a_name_and_a_text_in_any_script_arrive() -> None:
    reply = mail("明日発送します\n", From="山田 花子 <hanako@support.example>")
    assert said(reply).sender_name == "山田 花子"
    assert said(reply).text == "明日発送します"
    raw = b'From: "M\xc3\xbcller\xff" <m@x.example>\nTo: ' + signed().encode() + b"\n\nhi\n"
    assert said(raw).sender_name == "Müller\ufffd"
    assert said(raw).session == SESSION


def test_paragraphs_that_were_broken_for_the_way_are_one_line_again() -> None:
    head = (
        f"From: m@x.example\nTo: {signed()}\nContent-Type: text/plain; format=flowed; delsp=%s\n\n"
    )
    text = "It ships \ntomorrow, by \nrail.\n> quoted \n> text\nBye\n-- \nMia\n"
    assert said((head % "no" + text).encode()).text == "It ships tomorrow, by rail.\nBye"
    assert said((head % "yes" + "Donau \ndampfer\n").encode()).text == "Donaudampfer"


def test_the_plain_part_counts_and_html_where_it_is_missing() -> None:
    both = mail("plain words\n")
    both.add_alternative("<p>other words</p>", subtype="html")
    assert said(both).text == "plain words"
    only = mail()
    only.set_content("<p>Only <i>HTML</i></p><blockquote>x</blockquote>", subtype="html")
    assert said(only).text == "Only HTML"
    assert said(only).raw == "Only HTML\n> x"


def test_a_reply_without_words_is_no_text() -> None:
    assert said(mail(f"{WROTE['de']}\n{QUOTED}\n")).text == ""
    assert said(mail("\n")).text == ""


def test_what_is_kept_of_a_long_mail_is_capped() -> None:
    found = said(mail("word " * 100_000))
    assert len(found.text) <= RAW_MAX
    assert len(found.raw) <= RAW_MAX


@pytest.mark.parametrize(
    "sender", ["", "nobody", "Mia", "<>", "a@b, c@d", "=?utf-8?q?broken", "x" * 5000, "\x00@\x01"]
)
def test_an_odd_sender_is_somebody_or_nobody(sender: str) -> None:
    raw = f"From: {sender}\nTo: {signed()}\n\nhi\n".encode()
    found = said(raw)
    assert found.place == found.sender_id
    assert found.session == SESSION
    assert len(found.sender_name) <= 100


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"\xff" * 3000, b"From: a\r\nTo: b", b": : :\n\n",
        b"Content-Type: \xff/\xff\n\nx",
        b"Content-Type: multipart/mixed\n\nx", b"Content-Type: multipart/mixed; boundary=\n\n--\n",
        b"Content-Type: text/plain; charset*0*=x''%zz\n\nx", b"Subject: =?utf-8?b?////?=\n\nx",
        b"Content-Type: message/rfc822\n\nContent-Type: message/rfc822\n\nx",
        b"Content-Transfer-Encoding: base64\n\n====", b"To: " + b"(" * 5000 + b"\n\nx",
        b"Content-Type: text/plain; name*=\n\nx", b"References: " + b"<" * 20_000 + b"\n\nx",
        b"From: =?x-unknown?q?=ff?= <a@b>\n\nx", b"From: =?\xc3\xbc?q?x?= <a@b>\n\nx",
        b"Content-Disposition: attachment; filename*=0\n\nx",
        b"Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/x\n\nx",
    ],
)  # fmt: skip
def test_no_mail_is_too_odd_to_be_read(content: bytes) -> None:
    found = read(content)
    assert isinstance(found, Said | Status | Dropped)
    assert READER.validate_json(found.model_dump_json()) == found


def nested(levels: int, *, lines: int) -> bytes:
    """Parts in parts, and then lines that each has to be held against all of them."""
    heads = (
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level)
        for level in range(levels)
    )
    return b"".join(heads) + b"x\n" * lines


def test_a_mail_that_is_built_to_be_hard_to_read_is_dropped_in_no_time() -> None:
    before = time.process_time()
    assert reason(nested(2000, lines=400_000)) == "unreadable"
    assert reason(nested(1, lines=400_000)) == "unreadable"
    assert isinstance(read(nested(19, lines=50_000)), Said)
    assert time.process_time() - before < 5
