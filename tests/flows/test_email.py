"""A handoff by mail from the request to the resume note, with a real mail server and mailbox."""

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.models import Channel, InboundEvent
from handoff.transports.email_address import session_of
from tests import factories
from tests.fakes.imap import ImapServer, Mode
from tests.fakes.smtp import SmtpServer
from tests.flows.email_story import Story, made, quoted
from tests.transports.inbound_samples import OUT_OF_OFFICE, bounce
from tests.transports.reply_samples import WROTE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def story(smtp: SmtpServer, mailbox: ImapServer, settings: Settings) -> Story:
    settings.COLLECT_SECONDS = 0
    return made(factories.AgentFactory.create(), smtp, mailbox)


def test_the_whole_story(story: Story) -> None:
    result = story.ask()["result"]
    session = story.session()
    [asked] = story.mails()
    assert result["channel_kind"] == "email"
    assert result["human_notified"] is True
    assert result["channel_message_id"] == asked.message["Message-ID"]
    assert asked.recipients == ("team@shop.example",)
    assert asked.text.startswith("-- reply above this line --\n")
    assert "| Look up order 1234 and fill in its status." in asked.text
    assert f"begin your reply with this line:\n/release {session.release_token}" in asked.text
    [address] = asked.message["Reply-To"].addresses
    assert session_of(address.addr_spec) == session.public_id

    english = f"It left on Monday.\n\nMia\n\n{quoted(asked, WROTE['en'])}\n"
    assert story.arrives(story.reply(english)) == ["replied"]
    assert story.chat()[-1] == ("person", "It left on Monday.\n\nMia")
    assert story.session().joined_name == "Mia Berg"

    assert story.ana_says("Thanks!\nAnd when does it arrive?")["routed_to"] == "recipient"
    line = story.mails()[-1]
    assert "| Thanks!\n| And when does it arrive?" in line.text
    assert line.message["In-Reply-To"] == asked.message["Message-ID"]
    assert line.message["Reply-To"] == asked.message["Reply-To"]

    german = f"Morgen früh.\n\n{quoted(line, WROTE['de'])}\n"
    assert story.arrives(story.reply(german)) == ["replied"]
    assert story.chat()[-1] == ("person", "Morgen früh.")

    release = (
        f"/release {session.release_token} It arrives *tomorrow*\n\n{quoted(line, WROTE['da'])}"
    )
    assert story.arrives(story.reply(release)) == ["released"]
    session = story.session()
    assert (session.release, session.message) == ("token", "It arrives *tomorrow*")
    author, note = story.chat()[-1]
    assert author == "system"
    assert note.startswith("[Bot resumed — ")
    assert "It arrives *tomorrow*" in note.splitlines()[0]

    told = story.mails()[-1]
    assert told.recipients == ("mia@shop.example",)
    assert told.message["Auto-Submitted"] == "auto-replied"
    assert "Released. The assistant has been told." in told.text
    assert story.ana_says("Thank you!")["routed_to"] == "agent"
    assert len(story.mails()) == 3
    assert story.mailbox.seen == set()


def test_the_desks_own_release_line_in_a_quote_releases_nothing(story: Story) -> None:
    story.ask()
    [asked] = story.mails()
    for below in (quoted(asked, WROTE["da"]), asked.text, f"{WROTE['ja']}\n{asked.text}"):
        assert story.arrives(story.reply(f"On it.\n\n{below}")) == ["replied"]
        assert story.chat()[-1] == ("person", "On it.")
        assert story.arrives(story.reply(below)) == ["no_text"]
    page = story.reply("x")
    page.set_content(f"<p>From HTML.</p><blockquote>{asked.html}</blockquote>", subtype="html")
    assert story.arrives(page) == ["replied"]
    assert story.chat()[-1] == ("person", "From HTML.")
    page.replace_header("Message-ID", "<html-2@shop.example>")
    page.set_content(f"<blockquote>{asked.html}</blockquote>", subtype="html")
    assert story.arrives(page) == ["no_text"]
    assert story.session().status == "active"
    shown = " ".join(text for _, text in story.chat())
    assert story.session().release_token not in shown
    assert "/r/" not in shown


def test_a_bounce_ends_the_handoff_as_undeliverable(story: Story) -> None:
    story.ask()
    [asked] = story.mails()
    report = bounce(
        str(asked.message["Message-ID"]), recipient="team@shop.example", to="team@shop.example"
    )
    assert story.arrives(report) == ["delivery"]
    session = story.session()
    assert (session.status, session.release) == ("released", "undeliverable")
    assert "could not be delivered" in story.chat()[-1][1]
    row = AuditEvent.objects.get(action="handoff.bounced")
    assert row.reason == "recipient_unreachable"
    assert "team@shop.example" not in row.failure
    assert len(story.mails()) == 1


def test_a_delay_ends_nothing(story: Story) -> None:
    story.ask()
    [asked] = story.mails()
    report = bounce(str(asked.message["Message-ID"]), action="delayed", status="4.4.1")
    assert story.arrives(report) == ["dropped"]
    assert story.session().status == "active"


def test_an_out_of_office_note_is_dropped_audited_and_answers_nobody(story: Story) -> None:
    story.ask()
    note = story.reply(f"I am away.\n/release {story.session().release_token}", OUT_OF_OFFICE)
    assert story.arrives(note) == ["dropped"]
    assert AuditEvent.objects.filter(action="inbound.refused", reason="auto_submitted").exists()
    assert story.session().status == "active"
    assert [line for line in story.chat() if line[0] == "person"] == []
    assert len(story.mails()) == 1


def test_the_same_mail_twice_is_one_reply(story: Story) -> None:
    story.ask()
    reply = story.reply("It left.")
    assert story.arrives(reply) == ["replied"]
    assert story.arrives(reply) == []
    assert [line for line in story.chat() if line[0] == "person"] == [("person", "It left.")]


def test_a_hostile_mail_of_4_kb_harms_nobody_and_the_next_is_read(story: Story) -> None:
    story.ask()
    head = f"From: =?utf-8?q?=00=ff?= <{'x' * 200}\nTo: {story.mails()[0].message['Reply-To']}\n"
    body = ")\r\n* 99 FETCH (UID 99 BODY[] {9}\r\nA1 OK\r\n* BYE\r\n\x00\u202e<script>/release h7"
    hostile = (head + "\n" + body).encode("utf-8")
    story.mailbox.put(hostile + b"\xff\xfe" * ((4096 - len(hostile)) // 2))
    assert story.arrives(story.reply("Next.")) in (["replied", "replied"], ["replied"])
    assert story.chat()[-1] == ("person", "Next.")
    assert story.session().status == "active"


def test_a_stranger_who_knows_the_handoffs_id_is_nobody(story: Story) -> None:
    """Ana sees the id in her chat; what she writes to the mailbox must not pass for Mia's words."""
    story.ask()
    to = {"To": "desk@in.desk.example.org"}
    forged = story.reply("Refund approved.", {"From": "Ana <ana@customer.example>", **to})
    assert story.arrives(forged) == ["unmatched"]
    assert AuditEvent.objects.filter(
        action="inbound.unmatched", reason="not_the_recipient"
    ).exists()
    assert len(story.mails()) == 1
    honest = story.reply("It left.", to)
    assert story.arrives(honest) == ["replied"]


def test_a_colleague_elsewhere_may_answer_at_the_signed_address(story: Story) -> None:
    story.ask()
    plain = {"From": "jo@home.example", "In-Reply-To": "", "References": "", "Subject": "hi"}
    assert story.arrives(story.reply("It left.", plain)) == ["replied"]


def test_a_changed_address_and_a_subject_name_no_handoff(story: Story) -> None:
    story.ask()
    address = str(story.mails()[0].message["Reply-To"])
    changed = address.replace("@", "a@")
    bare = {"To": changed, "In-Reply-To": "", "References": ""}
    subject = {"Subject": f"Re: {story.session().public_id} {address}"}
    assert story.arrives(story.reply("It left.", bare | subject)) == ["unmatched"]


def test_a_release_token_in_a_mail_of_its_own_releases(story: Story) -> None:
    story.ask()
    alone = {"To": "desk@in.desk.example.org", "In-Reply-To": "", "References": ""}
    wrong = story.reply("/release h7aaaaaaaaaaaaaaaa", alone)
    assert story.arrives(wrong) == ["not_recognised"]
    assert story.session().status == "active"
    right = story.reply(f"/release {story.session().release_token} It left.", alone)
    assert story.arrives(right) == ["released"]


def test_a_file_that_is_not_taken_costs_its_words_nothing(story: Story) -> None:
    story.ask()
    reply = story.reply("See the label.")
    reply.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="label.pdf")
    assert story.arrives(reply) == ["replied"]
    assert story.chat()[-1] == ("person", "See the label.")


def test_an_answer_after_the_end_is_a_late_return(story: Story) -> None:
    story.ask()
    [asked] = story.mails()
    session = story.session()
    answer = story.desk.call(
        "handoff_cancel",
        {"handoff_session_id": session.public_id, "reason": "The visitor found it."},
        conversation=story.conversation,
    )
    assert answer["isError"] is False
    assert story.arrives(story.reply("It left.", to=asked)) == ["late"]
    assert story.session().late is True


def test_two_agents_share_a_mailbox_which_is_read_once(
    story: Story, smtp: SmtpServer, mailbox: ImapServer
) -> None:
    other = made(
        factories.AgentFactory.create(), smtp, mailbox, to="sales@shop.example",
        inbound_local_part="sales-{token}",
    )  # fmt: skip
    story.ask()
    other.ask()
    mine, theirs = story.mails()
    before = mailbox.connections
    assert story.arrives(story.reply("For the other.", to=theirs)) == ["replied"]
    assert mailbox.connections == before + 1
    assert story.arrives(story.reply("For Ana.", to=mine)) == ["replied"]
    assert story.chat()[-1] == ("person", "For Ana.")
    assert other.chat()[-1] == ("person", "For the other.")
    assert not AuditEvent.objects.filter(action="inbound.duplicate").exists()
    Channel.objects.filter(pk=story.channel.pk).update(enabled=False)
    release = f"/release {other.session().release_token}"
    assert "released" in story.arrives(story.reply(release, to=theirs))


def test_a_channel_that_only_names_the_mailbox_gets_none_of_its_mail(
    story: Story, smtp: SmtpServer, mailbox: ImapServer
) -> None:
    stolen = mailbox.url.replace(":" + mailbox.url.split(":")[2].split("@")[0], ":guessed")
    with pytest.raises(CommandError):
        made(factories.AgentFactory.create(), smtp, mailbox, imap_url=stolen)
    story.ask()
    Channel.objects.exclude(pk=story.channel.pk).update(enabled=False)
    assert story.arrives(story.reply("It left.")) == ["replied"]
    assert InboundEvent.objects.get(outcome="replied").channel == story.channel


def test_a_mailbox_that_is_away_is_said_and_stops_no_mail(story: Story) -> None:
    story.mailbox.mode = Mode.BUSY
    with pytest.raises(CommandError):
        story.look()
    channel = Channel.objects.get(pk=story.channel.pk)
    assert channel.poll_hint.startswith("Replies cannot be read now. ")
    assert channel.healthy
    assert story.ask()["result"]["human_notified"] is True
    story.mailbox.mode = Mode.SERVE
    assert story.arrives(story.reply("It left.")) == ["replied"]
    assert Channel.objects.get(pk=story.channel.pk).poll_hint == ""


def test_the_shell_tests_both_ways(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("send_test", str(story.channel.pk))
    said = capsys.readouterr().out
    assert "UIDVALIDITY" in said
    assert story.mailbox.login[1] not in said


def test_the_handoffs_id_opens_nothing_to_whoever_knows_no_mail_of_it(story: Story) -> None:
    """Not even to one who writes as Mia: a guessed Message-ID is the answer to no mail of ours."""
    story.ask()
    session = story.session()
    guess = f"<h.{session.public_id}.1@desk.example.org>"
    named = {"To": "desk@in.desk.example.org", "In-Reply-To": guess, "References": guess}
    assert story.arrives(story.reply("Refund approved.", named)) == ["unmatched"]
    assert story.arrives(story.reply("/release", named)) == ["not_recognised"]
    report = bounce(guess, recipient="team@shop.example", to="team@shop.example")
    assert story.arrives(report) == [""]
    assert story.session().status == "active"
    assert story.chat() == []


def test_no_answer_to_a_stranger_brings_an_address_that_lets_in(story: Story) -> None:
    story.ask()
    for known in (f"<h.{story.session().public_id}.1@x.example>", None):
        headers = {"From": "ana@customer.example", "To": "desk@in.desk.example.org"}
        if known is not None:
            headers |= {"In-Reply-To": known, "References": known}
        mail = story.reply(f"/release h7{'a' * 16}", headers, to=story.smtp.messages[0])
        assert story.arrives(mail) == ["not_recognised"]
        told = story.mails()[-1]
        assert told.recipients == ("ana@customer.example",)
        assert told.message["Reply-To"] is None
