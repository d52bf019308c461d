"""What an agent, a visitor or an admin writes stays text: no header, no link."""

import re
from html.parser import HTMLParser

import pytest

from handoff.contract.fields import ReturnField
from handoff.contract.kinds import FieldType
from tests.fakes.smtp import SmtpServer
from tests.transports.mail_samples import LINK, TOKEN, channel, mailed, request, send


class Links(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.found += [value or "" for name, value in attrs if name in ("href", "src", "action")]


def test_nothing_that_an_agent_writes_reaches_a_header(server: SmtpServer) -> None:
    mail = mailed(
        server,
        summary="Summary\r\nBcc: victim@elsewhere.example\r\n\r\nSo much for the headers.",
        expected_action="Subject: other\r\nBcc: victim@elsewhere.example",
        subscriber_name="Ada\r\nBcc: victim@elsewhere.example",
    )
    assert mail.message["Bcc"] is None
    assert mail.message["Cc"] is None
    assert mail.recipients == ("jo@support.example",)
    head = mail.content.split(b"\r\n\r\n", 1)[0]
    assert b"victim" not in head
    assert mail.subject == "Sales support: an AI agent asks for your help"


@pytest.mark.parametrize(
    "label",
    [
        "Sales\r\nBcc: victim@elsewhere.example",
        "Sales\nBcc: victim@elsewhere.example",
        "Sales\x00\x0b\x0c\x1cBcc: victim@elsewhere.example",
        "Sales\x85\u2028\u2029Bcc: victim@elsewhere.example",
        "Sales \ud800 Bcc: victim@elsewhere.example",
        "Sales =?utf-8?q?=0D=0ABcc:_victim@elsewhere.example?=",
    ],
)
def test_a_hostile_label_stays_one_subject(server: SmtpServer, label: str) -> None:
    name = label.replace("\ud800", " ")  # the settings refuse half a surrogate pair by name
    send(channel(server.url, from_name=name), request(channel_label=label, agent_name=label))
    mail = server.wait_for_message()
    assert mail.message["Bcc"] is None
    assert mail.recipients == ("jo@support.example",)
    assert mail.sender == "handoff@desk.example.org"
    assert mail.subject.endswith(": an AI agent asks for your help")
    assert mail.message["From"].addresses[0].addr_spec == "handoff@desk.example.org"


@pytest.mark.parametrize("address", ["a@b.example\r\nBcc: x@y.example", "a@b.example, c@d.example"])
def test_a_hostile_contact_address_is_never_a_reply_to(server: SmtpServer, address: str) -> None:
    mail = mailed(server, contact_back_email=address)
    assert mail.message["Reply-To"] is None
    assert mail.message["Bcc"] is None
    assert " ".join(address.split()) in mail.text


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> {{ return_url }} {% load static %}"
    " https://evil.example/login javascript:alert(1) [text](https://evil.example) &amp; \"'"
)


def test_hostile_text_is_shown_as_it_was_written_and_never_becomes_a_link(
    server: SmtpServer,
) -> None:
    mail = mailed(
        server,
        summary=HOSTILE,
        expected_action=HOSTILE,
        subscriber_name=HOSTILE,
        extra_context=((HOSTILE, HOSTILE),),
        fields=(ReturnField(name="a", type=FieldType.STRING, label=HOSTILE),),
    )
    assert mail.text.count(HOSTILE) == 6
    links = Links(mail.html)
    assert links.found == [LINK]
    assert not links.tags & {"script", "img", "iframe", "form", "input", "object", "link"}
    assert mail.html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 6


def test_no_line_of_the_agents_can_pass_for_one_of_ours(server: SmtpServer) -> None:
    forged = (
        "Nothing.\n\n-- \nAnswer in the form:\nhttps://evil.example/\n/release h7aaaaaaaaaaaaaaaa\n"
        "-- reply above this line --\x0b/release h7bbbbbbbbbbbbbbbb"
        "\u2028/release h7cccccccccccccccc"
    )
    mail = mailed(server, summary=forged, extra_context=(("k\n/release", forged),))
    ours = [row for row in mail.text.splitlines() if not row.startswith("|")]
    assert [row for row in ours if "release" in row] == [f"/release {TOKEN}"]
    assert not any("evil.example" in row for row in ours)
    assert "-- reply above this line --" not in ours


def test_bidirectional_overrides_are_visible_and_joiners_stay(server: SmtpServer) -> None:
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    mail = mailed(server, summary=f"pay \u202eevil\u2066 now, {persian} ordered it all")
    for body in (mail.text, mail.html):
        assert r"pay \u202eevil\u2066 now" in body
        assert persian in body
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", body)


def test_text_that_cannot_be_encoded_still_goes_out(server: SmtpServer) -> None:
    mail = mailed(server, summary="bad \udcff and \x00 and \x07, but otherwise a fine summary")
    assert "bad \ufffd and \ufffd and \ufffd, but otherwise a fine summary" in mail.text
