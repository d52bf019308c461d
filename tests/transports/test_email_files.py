"""The files of a mail: which of them are carried."""

from email.message import EmailMessage

import pytest

from handoff.contract.files import FILE_BYTES
from handoff.transports.email_read import Delivered, read_mail
from handoff.transports.inbound import Said
from tests.transports.inbound_samples import mail, said


def test_files_are_read_and_pictures_in_the_text_and_signatures_are_not() -> None:
    reply = mail()
    reply.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a.pdf")
    reply.add_attachment("more", filename="notes.txt")
    reply.add_attachment(mail("a mail in the mail"))
    reply.add_attachment(b"sig", maintype="application", subtype="pgp-signature")
    picture = EmailMessage()
    picture.set_content(
        b"GIF", maintype="image", subtype="gif", cid="<logo@x>", disposition="inline"
    )
    reply.attach(picture)
    found = said(reply)
    assert (found.left_out, found.text) == (0, "It ships tomorrow.")
    assert [(one.name, one.declared, one.content) for one in found.files] == [
        ("a.pdf", "application/pdf", b"%PDF"),
        ("notes.txt", "text/plain", b"more\n"),
        ("", "message/rfc822", b""),
    ]


@pytest.mark.parametrize(
    ("disposition", "html", "is_file"),
    [
        ("inline", '<p>Mia</p><img src="cid:logo@x">', False),
        ("inline", "<p>Mia</p>", True),
        ("attachment", '<p>Mia</p><img src="cid:logo@x">', True),
    ],
)
def test_a_named_picture_that_the_text_shows_is_no_file(
    disposition: str, html: str, is_file: bool
) -> None:
    reply = mail()
    reply.add_alternative(html, subtype="html")
    reply.make_mixed()
    picture = EmailMessage()
    picture.set_content(
        b"GIF", maintype="image", subtype="gif", cid="<logo@x>", disposition=disposition,
        filename="logo.gif",
    )  # fmt: skip
    reply.attach(picture)
    assert [one.name for one in said(reply).files] == ["logo.gif"] * is_file


def attached(*sizes: int) -> EmailMessage:
    reply = mail()
    for size in sizes:
        reply.add_attachment(b"x" * size, maintype="application", subtype="pdf", filename="a.pdf")
    return reply


@pytest.mark.parametrize(
    ("sizes", "carried", "left_out"),
    [
        ([1] * 7, [1] * 5, 2),
        ([FILE_BYTES], [FILE_BYTES], 0),
        ([FILE_BYTES - 1, 2, 1], [FILE_BYTES - 1, 1], 1),
        ([FILE_BYTES + 1], [], 1),
    ],
)
def test_one_message_takes_so_many_files_and_bytes(
    sizes: list[int], carried: list[int], left_out: int
) -> None:
    found = said(attached(*sizes))
    assert ([len(one.content) for one in found.files], found.left_out) == (carried, left_out)


def test_of_the_beginning_of_a_mail_the_last_file_is_not_carried() -> None:
    whole = attached(3, 3000).as_bytes()
    cut = read_mail(Delivered(content=whole[:-2000], whole=False), own=frozenset())
    assert isinstance(cut, Said)
    assert ([len(one.content) for one in cut.files], cut.left_out) == ([3], 1)
    assert cut.text == "It ships tomorrow."


def test_of_a_mail_that_takes_too_long_to_read_the_beginning_is_read() -> None:
    hard = mail("It ships tomorrow.\n" + "xxxxxxx\n" * 300_000).as_bytes()
    assert said(hard).text.startswith("It ships tomorrow.")


def test_a_file_is_not_shown_where_an_event_is_written_down() -> None:
    assert "xxx" not in repr(said(attached(9)))
    assert "a.pdf" not in repr(said(attached(9)))
