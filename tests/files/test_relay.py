"""Files of a subscriber's line on their way to the recipient: in the mail, and as an address."""

import io
from typing import cast

import pytest
from django.core.files.storage import storages
from django.test import Client

from handoff.actions import couriers
from handoff.actions import files as actions
from handoff.actions.turns import post_turn
from handoff.contract import files
from handoff.contract.kinds import Author
from handoff.contract.turns import TurnBody
from handoff.models import Conversation, Delivery, File, Session
from handoff.selectors import files as selectors
from handoff.selectors import letters
from handoff.transports.base import Line
from handoff.transports.email_letter import ATTACHED_BYTES
from tests import environment, factories
from tests.fakes.smtp import Received, SmtpServer
from tests.files import samples

pytestmark = pytest.mark.django_db(transaction=True)
BIG = samples.PDF + b" " * (ATTACHED_BYTES - 2 * len(samples.PDF)) + samples.PDF


@pytest.fixture
def session(smtp: SmtpServer) -> Session:
    agent = factories.AgentFactory.create(name="shop")
    channel = factories.email_channel(agent, smtp_url=smtp.url)
    return factories.requested(agent, channel, factories.conversation(agent, name="Ana"))


def said(place: Conversation, text: str, *contents: tuple[str, str, bytes]) -> list[File]:
    rows = [
        actions.store(
            place,
            by=Author.SUBSCRIBER,
            actor="subscriber",
            name=name,
            content_type=kind,
            content=io.BytesIO(content),
        )
        for name, kind, content in contents
    ]
    ids = [row.public_id for row in rows]
    post_turn(place, TurnBody(client_id=text, author="subscriber", text=text, files=ids))
    return rows


def mailed(smtp: SmtpServer) -> Received:
    couriers.look()
    assert couriers.wait(10)
    return smtp.messages[-1]


def attached(mail: Received) -> dict[str, tuple[str, bytes]]:
    return {
        str(part.get_filename()): (
            part.get_content_type(),
            cast("bytes", part.get_payload(decode=True)),
        )
        for part in mail.message.iter_attachments()
    }


def addresses(text: str) -> list[str]:
    start = f"{environment.PUBLIC_BASE_URL}/files/"
    return [word for word in text.split() if word.startswith(start)]


def test_a_mail_carries_what_fits_and_names_where_all_of_it_is(
    session: Session, smtp: SmtpServer
) -> None:
    assert session.conversation is not None
    small = ("Größe\u202e.png", "image/png", samples.PNG)
    words = ("a.txt", files.PLAIN, samples.TEXT)
    said(session.conversation, "Two and a big one", small, words, ("b.pdf", files.PDF, BIG))
    mail = mailed(smtp)
    assert attached(mail) == {
        "Größe.png": ("image/png", samples.PNG),
        "a.txt": (files.PLAIN, samples.TEXT),
    }
    assert "Größe.png (" in mail.text
    assert "b.pdf (" in mail.text
    links = list(dict.fromkeys(addresses(mail.text)))
    assert len(links) == 3
    for url, content in zip(links, (samples.PNG, samples.TEXT, BIG), strict=True):
        got = Client().get(url.removeprefix(environment.PUBLIC_BASE_URL))
        assert (got.status_code, b"".join(got)) == (200, content)


def test_a_file_that_went_meanwhile_holds_up_no_line(session: Session, smtp: SmtpServer) -> None:
    assert session.conversation is not None
    [row] = said(session.conversation, "Look", ("a.pdf", files.PDF, samples.PDF))
    storages["files"].delete(row.stored_as)
    mail = mailed(smtp)
    assert (attached(mail), "Look" in mail.text) == ({}, True)
    assert Delivery.objects.filter(status="done").exists()
    [url] = addresses(mail.text)
    assert Client().get(url.removeprefix(environment.PUBLIC_BASE_URL)).status_code == 404
    actions.delete(row, actor="agent:shop")
    assert not selectors.kept().exists()


def test_every_kind_names_the_address_and_the_dispatch_does_for_earlier_lines(
    session: Session, smtp: SmtpServer
) -> None:
    place = session.conversation
    assert place is not None
    said(place, "Here", ("a [b] *c*.pdf", files.PDF, samples.PDF))
    row = Delivery.objects.get()
    line = letters.delivery(session, [row])
    assert isinstance(line, Line)
    [shown] = line.lines
    first, second = shown.text.split("\n")
    assert (first, second.startswith("a (b) _c_.pdf (45 bytes): http")) == ("Here", True)
    assert [file.read() for file in line.files] == [samples.PDF]
    Session.objects.filter(pk=session.pk).update(transcript_until=10**6)
    again = letters.request(letters.sessions().get(pk=session.pk), number=2)
    assert len(addresses(again.transcript[-1].text)) == 1
