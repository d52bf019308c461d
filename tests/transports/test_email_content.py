"""The mail as its recipient reads it: received by a real server and parsed there."""

import datetime as dt
import re
import zoneinfo

import pytest

from handoff.contract.kinds import Urgency
from handoff.transports.email_body import compose
from tests.fakes.smtp import SmtpServer
from tests.transports.mail_samples import LINK, TOKEN, channel, closed, line, mailed, request, send

OUR_ID = r"<h\.hs_4k2jq7m3x5z6p2n4\.1\.[a-z2-7]{16}@desk\.example\.org>"


def test_a_request_says_what_is_wanted_where_to_answer_and_until_when(server: SmtpServer) -> None:
    until = dt.datetime.now(dt.UTC) + dt.timedelta(hours=72)
    mail = mailed(server, return_until=until)
    local = until.astimezone(zoneinfo.ZoneInfo("Europe/Berlin"))
    for body in (mail.text, mail.html):
        assert "Look up order 1234 and say when it arrives." in body
        assert "Ada Lovelace ordered a lathe (order 1234) and has heard nothing since." in body
        assert LINK in body
        assert f"/release {TOKEN}" in body
        assert "ada@customer.example" in body
        assert "ritten by an AI agent" in body
        assert "The form is open for 3 days" in body
        assert f"{local:%H:%M} (Europe/Berlin)" in body
        assert "nothing is heard from you for 30 minutes" in body
        assert "Urgency: normal" in " ".join(body.split())
        assert "1. Order status (one choice, required) – shipped / delayed" in body
        assert "2. Eta date (date): The day it should arrive" in body
        assert "plan: enterprise" in body
        assert "attached (2 messages)" in body


def test_the_link_and_the_release_line_stand_before_the_long_parts(server: SmtpServer) -> None:
    mail = mailed(server)
    for body in (mail.text, mail.html):
        assert body.index(LINK) < body.index("Ada Lovelace ordered a lathe")
        assert body.index(f"/release {TOKEN}") < body.index("Ada Lovelace ordered a lathe")


def test_the_transcript_is_a_text_attachment_in_the_channels_time_zone(server: SmtpServer) -> None:
    assert mailed(server).attachments == {
        "transcript.txt": (
            "[2026-12-01 10:00] visitor (Ada): Where is my order?\n"
            "    It is 1234.\n"
            "[2026-12-01 10:01] AI agent (Nova): Let me ask a colleague.\n"
        )
    }


def test_a_request_without_transcript_has_no_attachment_and_mentions_none(
    server: SmtpServer,
) -> None:
    mail = mailed(server, transcript=())
    assert mail.attachments == {}
    assert "attached" not in mail.text + mail.html


def test_the_headers_thread_the_mail_and_keep_auto_responders_quiet(server: SmtpServer) -> None:
    transport = channel(server.url)
    first = send(transport, request())
    second = send(transport, line(earlier_ids=(first.provider_message_id,)))
    one, two = (server.wait_for_message(number=n).message for n in (1, 2))
    assert re.fullmatch(OUR_ID, first.provider_message_id)
    assert one["Message-ID"] == first.provider_message_id
    assert one["References"] == first.provider_message_id
    assert one["In-Reply-To"] is None
    assert one["Auto-Submitted"] == two["Auto-Submitted"] == "auto-generated"
    assert one["X-Auto-Response-Suppress"] == "All"
    assert one["Reply-To"] == "ada@customer.example"
    assert two["In-Reply-To"] == first.provider_message_id
    assert two["References"] == f"{first.provider_message_id} {second.provider_message_id}"
    assert two["Subject"] == f"Re: {one['Subject']}"
    assert second.thread_key == first.thread_key == first.provider_message_id


def test_a_very_long_mail_domain_does_not_break_the_thread(server: SmtpServer) -> None:
    domain = f"{'a' * 60}.{'b' * 60}.example.org"
    receipt = send(channel(server.url, from_email=f"desk@{domain}"), request())
    raw = server.wait_for_message().content.decode("ascii")
    assert re.search(r"Message-ID:\s+" + re.escape(receipt.provider_message_id), raw)
    assert re.search(r"References:\s+" + re.escape(receipt.provider_message_id), raw)


def test_a_relayed_line_carries_the_visitors_words_the_link_and_the_time(
    server: SmtpServer,
) -> None:
    send(channel(server.url), line(timezone="America/New_York"))
    mail = server.wait_for_message()
    assert "| Are you there?\n| Please.\n" in mail.text
    assert "Are you there?<br>Please." in mail.html
    for body in (mail.text, mail.html):
        assert "Ada Lovelace" in body
        assert "06:05 (America/New_York)" in body
        assert LINK in body
        assert f"/release {TOKEN}" in body


def test_several_lines_are_one_mail_each_at_its_time_and_the_way_to_answer_above_them(
    server: SmtpServer,
) -> None:
    send(channel(server.url), line("Hello?", "One more thing.\nPlease.", "Bye."))
    mail = server.wait_for_message()
    assert "| Hello?\n" in mail.text
    assert "| One more thing.\n| Please.\n" in mail.text
    for body in (mail.text, mail.html):
        assert "3 messages from the visitor" in body
        assert LINK in body
        places = [
            body.index(found) for found in (LINK, "11:05", "Hello?", "11:06", "11:07", "Bye.")
        ]
        assert places == sorted(places)
        assert body.index(f"/release {TOKEN}") < body.index("Hello?")


def test_the_closing_mail_says_why_and_where_things_stand(server: SmtpServer) -> None:
    receipt = send(channel(server.url), closed())
    mail = server.wait_for_message()
    for body in (mail.text, mail.html):
        assert "has ended without your answer" in body
        assert "The agent withdrew its question." in body
        assert LINK in body
        assert TOKEN not in body
    assert receipt.thread_key == closed().earlier_ids[0]


def test_all_addresses_get_one_mail_and_nobody_else_does(server: SmtpServer) -> None:
    send(channel(server.url, to="jo@support.example, ann@support.example"), request())
    mail = server.wait_for_message()
    assert mail.recipients == ("jo@support.example", "ann@support.example")
    assert mail.message["To"] == "jo@support.example, ann@support.example"
    assert len(server.messages) == 1


def test_high_urgency_marks_the_mail_and_leaves_the_subject_alone(server: SmtpServer) -> None:
    mail = mailed(server, urgency=Urgency.HIGH)
    assert mail.message["Importance"] == "high"
    assert mail.subject == "Sales support: an AI agent asks for your help"
    assert "Urgency: high" in mail.text


@pytest.mark.parametrize("word", ["Größe", "注文の確認", "الدعم", "🚚"])
def test_a_long_subject_in_any_script_arrives_whole_up_to_its_cap(
    server: SmtpServer, word: str
) -> None:
    label = " ".join([word] * 12)
    subject = mailed(server, channel_label=label).subject
    assert subject == f"{label}: an AI agent asks for your help"[:150]


def test_a_subject_over_its_cap_is_shortened_and_says_so(server: SmtpServer) -> None:
    subject = mailed(server, channel_label="é" * 400).subject
    assert len(subject) == 150
    assert subject.endswith("é…")


def test_every_script_dots_and_long_lines_survive_the_wire(server: SmtpServer) -> None:
    text = f"注文 الطلب 🚚 Grüße\n.\n..two dots\nFrom here on\n{'long ' * 2000}end"
    mail = mailed(server, summary=text)
    assert "\n".join(f"| {row}" for row in text.split("\n")) in mail.text
    assert mail.content.isascii()
    assert max(len(row) for row in mail.content.split(b"\r\n")) <= 998


def test_without_inbound_mail_no_reply_is_promised(server: SmtpServer) -> None:
    mail = mailed(server)
    for body in (mail.text, mail.html):
        assert "reply above this line" not in body
        assert "does not read replies to this mail" in body


def test_with_inbound_mail_the_marker_opens_the_body() -> None:
    body = compose(request(), replies_are_read=True)
    assert body.text.startswith("-- reply above this line --\n")
    assert "-- reply above this line --" in body.html
    assert "does not read replies" not in body.text + body.html


def test_a_detached_request_says_nothing_of_the_bot_taking_over() -> None:
    body = compose(request(idle_minutes=None), replies_are_read=False)
    assert "goes back to the bot" not in body.text + body.html


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (0, "1 hour"),
        (1, "1 hour"),
        (47, "47 hours"),
        (48, "2 days"),
        (60, "2 days"),
        (72, "3 days"),
    ],
)
def test_the_life_of_the_link_is_said_in_hours_and_then_in_days(hours: int, words: str) -> None:
    until = dt.datetime.now(dt.UTC) + dt.timedelta(hours=hours, minutes=1)
    assert f"open for {words}," in compose(request(return_until=until), replies_are_read=False).text


def test_the_date_is_written_in_the_channels_language() -> None:
    until = dt.datetime(2027, 3, 4, 11, 0, tzinfo=dt.UTC)
    body = compose(request(return_until=until, language="de"), replies_are_read=False)
    assert "Donnerstag, 4. März 2027, 12:00 (Europe/Berlin)" in body.text
    assert '<html lang="de" dir="ltr">' in body.html
    assert (
        '<html lang="ar" dir="rtl">' in compose(request(language="ar"), replies_are_read=False).html
    )


@pytest.mark.parametrize(("language", "zone"), [("xx", "Mars/Base"), ("", ""), ("../de", "/etc")])
def test_an_unknown_language_or_time_zone_falls_back(language: str, zone: str) -> None:
    until = dt.datetime(2027, 3, 4, 11, 0, tzinfo=dt.UTC)
    message = request(return_until=until, language=language, timezone=zone)
    assert "11:00 (UTC)" in compose(message, replies_are_read=False).text
