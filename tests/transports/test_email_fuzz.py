"""Mails of every shape, bent at random: each is read or dropped, and none breaks the reading."""

import random
from collections import Counter

import pytest

from handoff.contract.commands import read_release
from handoff.transports.email_html import text_of_html
from handoff.transports.email_quote import without_quotes
from handoff.transports.inbound import RAW_MAX, READER, Dropped, Said
from tests.transports.inbound_samples import OURS, OUT_OF_OFFICE, bounce, mail, read
from tests.transports.reply_samples import GMAIL, HTML, OUTLOOK, QUOTED, WROTE
from tests.transports.reply_samples import OURS as OUR_MAIL

ROUNDS = 2500
TROUBLE = (b"\r", b"\n\n", b"\x00", b"=?", b"<", b"\xff", b";", b"--b")


def samples() -> list[bytes]:
    with_files = mail("See the file.\n", In_Reply_To=OURS)
    with_files.add_attachment(b"%PDF" * 9, maintype="application", subtype="pdf", filename="ä.pdf")
    page = mail()
    page.set_content(GMAIL, subtype="html")
    japanese = mail(f"明日発送します\n\n{WROTE['ja']}\n{QUOTED}\n", From="山田 <y@shop.example>")
    return [
        bounce(), bounce(original="text/rfc822-headers"), with_files.as_bytes(), page.as_bytes(),
        japanese.as_bytes(), mail(**OUT_OF_OFFICE).as_bytes(),
    ]  # fmt: skip


def bent(content: bytes, chance: random.Random) -> bytes:
    """A few bytes changed, a piece cut out, doubled or put elsewhere."""
    made = bytearray(content)
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(made) or 1)
        end = at + chance.randint(1, 40)
        match chance.randrange(5):
            case 0:
                made[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[at:end]
            case 2:
                made[at:at] = made[at:end] * chance.randint(1, 30)
            case 3:
                made[at:at] = chance.choice(
                    (b"\r", b"\n\n", b"\x00", b"=?", b"<", b"\xff", b";", b"--b")
                )
            case _:
                piece = made[at:end]
                del made[at:end]
                made.extend(piece)
    return bytes(made)


def test_every_bent_mail_is_an_event_that_can_be_kept() -> None:
    chance = random.Random(20261130)
    became: Counter[str] = Counter()
    for content in samples():
        for _ in range(ROUNDS // 6):
            found = read(bent(content, chance))
            assert READER.validate_json(found.model_dump_json()) == found
            assert all(found.keys)
            became[found.type] += 1
            if isinstance(found, Said):
                assert len(found.text) <= RAW_MAX
            elif isinstance(found, Dropped):
                became[found.reason] += 1
    print(f"{ROUNDS // 6 * 6} bent mails: {dict(became)}")  # noqa: T201
    assert became["said"] > 500
    assert became["status"] > 100


@pytest.mark.parametrize("page", [GMAIL, *HTML.values()])
def test_bent_html_is_some_text(page: str) -> None:
    chance = random.Random(7)
    for _ in range(ROUNDS // 10):
        text = text_of_html(bent(page.encode(), chance).decode("utf-8", "replace"))
        without_quotes(text)


def test_whatever_stands_over_the_quote_our_line_in_it_never_releases() -> None:
    """The words above it are any, in any order; the mail below is ours, behind `>` or not."""
    chance = random.Random(7)
    words = [
        *WROTE.values(),
        *OUTLOOK.values(),
        "Hi",
        "",
        "--",
        "-- ",
        "> x",
        ":",
        "From: me",
        "On it",
    ]
    released = 0
    for _ in range(ROUNDS):
        above = "\n".join(chance.choices(words, k=chance.randrange(5)))
        below = chance.choice((OUR_MAIL, QUOTED))
        released += read_release(without_quotes(f"{above}\n{below}")) is not None
    print(f"{ROUNDS} replies over our own mail: {released} releases")  # noqa: T201
    assert released == 0
