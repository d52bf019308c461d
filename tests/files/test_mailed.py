"""Files that come with an answer by mail, from the mailbox to the visitor's chat."""

import datetime as dt
from email.message import EmailMessage
from pathlib import Path
from typing import IO, Any

import pytest
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import files as kept_files
from handoff.actions import inbound_files
from handoff.actions.endings import cancel
from handoff.actions.inbound import accept
from handoff.actions.inbound_apply import apply_due
from handoff.actions.tickets import mint_ticket
from handoff.contract import files
from handoff.contract.files import Why
from handoff.models import File, InboundEvent, Message
from handoff.transports.email_read import Delivered, read_mail
from handoff.transports.inbound import READER, Said
from tests import factories
from tests.fakes import storage
from tests.fakes.imap import ImapServer
from tests.fakes.smtp import SmtpServer
from tests.files import samples
from tests.flows.email_story import Story, made

pytestmark = pytest.mark.django_db(transaction=True)
SCAN = (samples.PNG, "image", "png", "scan.png")
LABEL = (samples.PNG, "image", "png", "label\u202e.png")
PAGE = (samples.HTML, "text", "html", "page.html")


@pytest.fixture
def story(smtp: SmtpServer, mailbox: ImapServer, settings: Settings, tmp_path: Path) -> Story:
    settings.COLLECT_SECONDS = 0
    storage.use(settings, tmp_path)
    story = made(factories.AgentFactory.create(), smtp, mailbox)
    story.ask()
    return story


def answer(story: Story, words: str, *sent: tuple[bytes, str, str, str]) -> EmailMessage:
    reply = story.reply(words)
    for content, main, sub, name in sent:
        reply.add_attachment(content, maintype=main, subtype=sub, filename=name)
    return reply


def pdf(content: bytes, name: str) -> tuple[bytes, str, str, str]:
    return (content, "application", "pdf", name)


def told(story: Story) -> str:
    """The newest mail that went out."""
    return " ".join(story.mails()[-1].text.split())


def read(story: Story, reply: EmailMessage) -> Said:
    found = read_mail(Delivered(content=reply.as_bytes()), own=frozenset())
    assert isinstance(found, Said)
    return found


def said(story: Story) -> list[tuple[str, list[str]]]:
    """The person's lines, and the names of the files that came with each."""
    page = story.desk.get(f"conversations/{story.conversation.public_id}/messages").json()
    return [
        (line["text"], [file["name"] for file in line.get("files", [])])
        for line in page["data"]
        if line["author"] == "person"
    ]


def fetched(story: Story) -> list[bytes]:
    """What Ana's chat gets of each file that was said."""
    found = []
    for row in File.objects.exclude(message=None).order_by("place", "pk"):
        ticket = mint_ticket(story.conversation, role="subscriber").ticket
        link = Client().post(f"/files/{row.public_id}/link/?ticket={ticket}").json()["url"]
        got: Any = Client().get(link.removeprefix("http://testserver"))
        assert got.status_code == 200
        found.append(b"".join(got))
        got.close()
    return found


def content_kept() -> int:
    """Bytes of files that the kept events still hold."""
    events = [READER.validate_json(body) for body in bodies()]
    return sum(
        len(one.content) for event in events if isinstance(event, Said) for one in event.files
    )


def bodies() -> list[str]:
    return list(InboundEvent.objects.exclude(body="").values_list("body", flat=True))


def on_disk(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def test_a_file_reaches_the_chat_and_the_person_is_told_of_the_one_that_does_not(
    story: Story, tmp_path: Path
) -> None:
    assert story.arrives(answer(story, "See the label.", LABEL, PAGE)) == ["replied"]
    assert said(story) == [("See the label.", ["label.png"])]
    assert fetched(story) == [samples.PNG]
    assert story.mails()[-1].recipients == ("mia@shop.example",)
    words = "page.html was not passed on: files of its type or content are not taken."
    assert words in told(story)
    assert "label" not in told(story)
    assert (content_kept(), on_disk(tmp_path)) == (0, 1)
    stored = AuditEvent.objects.get(action="file.stored")
    assert stored.actor == "recipient"
    noted = " ".join(str(row) for row in AuditEvent.objects.values_list("details", flat=True))
    assert "label" not in noted
    assert "page.html" not in noted


def test_nobody_is_written_to_when_every_file_is_passed_on(story: Story) -> None:
    before = len(story.mails())
    assert story.arrives(answer(story, "See both.", LABEL, pdf(samples.PDF, "a"))) == ["replied"]
    assert said(story) == [("See both.", ["label.png", "a.pdf"])]
    assert fetched(story) == [samples.PNG, samples.PDF]
    assert len(story.mails()) == before


def test_files_without_words_are_a_line_of_their_names(story: Story) -> None:
    assert story.arrives(answer(story, "\n", LABEL, LABEL)) == ["replied"]
    assert said(story) == [("label.png, label.png", ["label.png", "label.png"])]


def test_a_refused_file_without_words_is_no_line_and_the_person_is_told(story: Story) -> None:
    assert story.arrives(answer(story, "\n", PAGE)) == ["no_text"]
    assert said(story) == []
    assert "page.html was not passed on" in told(story)


def test_the_same_mail_twice_is_one_line_with_one_file(story: Story, tmp_path: Path) -> None:
    reply = answer(story, "See the label.", LABEL)
    assert story.arrives(reply) == ["replied"]
    assert story.arrives(reply) == []
    assert said(story) == [("See the label.", ["label.png"])]
    assert (File.objects.count(), on_disk(tmp_path)) == (1, 1)


def test_a_file_of_10_mb_comes_through_and_a_larger_one_is_told_of(story: Story) -> None:
    space = b" " * (files.FILE_BYTES - len(samples.PDF))
    large = samples.PDF.replace(b"\n%%EOF", space + b"\n%%EOF")
    assert story.arrives(answer(story, "The scan.", pdf(large, "scan.pdf"))) == ["replied"]
    assert said(story) == [("The scan.", ["scan.pdf"])]
    assert fetched(story) == [large]
    more = answer(story, "More.", pdf(large + b"\n", "b.pdf"), LABEL)
    assert story.arrives(more) == ["replied"]
    assert said(story)[1:] == [("More.", ["label.png"])]
    assert "Files not passed on: 1. One message takes 5 files and 10 MB in all." in told(story)


def test_of_seven_files_five_are_said(story: Story) -> None:
    assert story.arrives(answer(story, "All.", *[LABEL] * 7)) == ["replied"]
    assert said(story) == [("All.", ["label.png"] * 5)]
    assert "Files not passed on: 2." in told(story)


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"FILES_PER_CONVERSATION": 1}, "there is no room for further files"),
        ({"FILES_PER_MINUTE": 1}, "could not be stored"),
    ],
)
def test_a_file_over_a_limit_costs_only_itself(
    story: Story, settings: Settings, limit: dict[str, int], words: str
) -> None:
    for name, value in limit.items():
        setattr(settings, name, value)
    assert story.arrives(answer(story, "Both.", LABEL, LABEL)) == ["replied"]
    assert said(story) == [("Both.", ["label.png"])]
    assert words in told(story)


def test_a_storage_that_fails_costs_only_the_file(story: Story) -> None:
    storage.MoodyStorage.fails = {"save"}
    assert story.arrives(answer(story, "See the label.", SCAN)) == ["replied"]
    assert said(story) == [("See the label.", [])]
    assert "scan.png was not passed on: it could not be stored." in told(story)


def test_what_hands_back_carries_no_file_and_says_so(story: Story, tmp_path: Path) -> None:
    line = f"/release {story.session().release_token} Done."
    assert story.arrives(answer(story, line, LABEL)) == ["released"]
    assert "Files are not passed on, only text." in told(story)
    assert (File.objects.count(), on_disk(tmp_path), content_kept()) == (0, 0, 0)


def test_of_a_stranger_nothing_is_stored_or_kept(story: Story, tmp_path: Path) -> None:
    reply = answer(story, "Hello.", LABEL)
    for name in ("To", "In-Reply-To", "References"):
        del reply[name]
    assert story.arrives(reply) == ["unmatched"]
    assert (File.objects.count(), on_disk(tmp_path), content_kept()) == (0, 0, 0)


def test_what_was_stored_before_a_crash_is_not_stored_again(story: Story, tmp_path: Path) -> None:
    [row] = accept(story.channel, [read(story, answer(story, "See it.", LABEL))])
    place = story.conversation.pk
    assert len(inbound_files.take(row, place, actor="recipient")) == 1
    assert content_kept() == 0
    assert inbound_files.take(row, place, actor="recipient") == []
    assert apply_due() == 1
    assert said(story) == [("See it.", ["label.png"])]
    assert (File.objects.count(), on_disk(tmp_path)) == (1, 1)


def test_what_two_processes_store_at_once_is_kept_once(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [row] = accept(story.channel, [read(story, answer(story, "See it.", LABEL))])
    save = storage.MoodyStorage.save
    others: list[int] = []

    def slow(self: Any, name: str | None, content: IO[Any], max_length: int | None = None) -> str:
        if not others:
            others.append(0)
            others.append(apply_due())
        return save(self, name, content, max_length)

    monkeypatch.setattr(storage.MoodyStorage, "save", slow)
    assert inbound_files.take(row, story.conversation.pk, actor="recipient") == []
    assert others == [0, 1]
    assert said(story) == [("See it.", ["label.png"])]
    assert (File.objects.count(), on_disk(tmp_path)) == (1, 1)


def test_a_handoff_that_ends_while_a_file_is_stored_leaves_none(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(story.channel, [read(story, answer(story, "", LABEL))])
    save = storage.MoodyStorage.save

    def ending(self: Any, name: str | None, content: IO[Any], max_length: int | None = None) -> str:
        cancel(story.session(), reason="", actor="agent:shop")
        return save(self, name, content, max_length)

    monkeypatch.setattr(storage.MoodyStorage, "save", ending)
    assert apply_due() == 1
    assert InboundEvent.objects.get(processed_at__isnull=False, body__gt="").outcome == "closed"
    assert said(story) == []
    assert (File.objects.count(), on_disk(tmp_path)) == (0, 0)


def test_a_file_that_was_pruned_before_its_line_costs_only_itself(story: Story) -> None:
    [row] = accept(story.channel, [read(story, answer(story, "See it.", SCAN))])
    assert inbound_files.take(row, story.conversation.pk, actor="recipient") != []
    File.objects.update(created_at=Now() - dt.timedelta(days=2))
    assert kept_files.prune() == 1
    assert apply_due() == 1
    assert said(story) == [("See it.", [])]
    assert "scan.png was not passed on" in told(story)


def test_a_refusal_is_kept_by_its_reason(story: Story) -> None:
    assert story.arrives(answer(story, "Two.", LABEL, PAGE)) == ["replied"]
    event = READER.validate_json(bodies()[-1])
    assert isinstance(event, Said)
    assert [(bool(one.stored), one.refused) for one in event.files] == [
        (True, None),
        (False, Why.TYPE),
    ]
    assert Message.objects.get(author="person").has_files
