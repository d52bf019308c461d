"""The demo's mailbox, filled by the real transport."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client, override_settings

from handoff.chat.letters import Piece, pieces
from handoff.models import Session
from tests import environment, factories

BASE = environment.PUBLIC_BASE_URL


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with override_settings(DEMO=True, EMAIL_URL="", MAIL_DIR=tmp_path / "mail"):
        yield tmp_path / "mail"


@pytest.fixture
def session(db: None, folder: Path) -> Session:
    agent = factories.AgentFactory.create()
    chat = factories.conversation(agent)
    return factories.requested(
        agent,
        factories.email_channel(agent),
        chat,
        summary="The visitor asks about <b>bold</b> things: http://evil.example/r/x",
    )


def letter_path(folder: Path) -> str:
    return f"/demo/mail/{next(folder.glob('*.eml')).name}/"


@pytest.mark.django_db
@pytest.mark.usefixtures("folder")
def test_an_empty_mailbox_says_what_to_do() -> None:
    assert "No mail yet" in Client().get("/demo/mail/").content.decode()


@pytest.mark.usefixtures("session")
def test_the_list_names_each_letter(folder: Path) -> None:
    page = Client().get("/demo/mail/").content.decode()
    assert letter_path(folder) in page
    assert "sales@example.com" in page


def test_a_letter_shows_envelope_text_and_attachment(session: Session, folder: Path) -> None:
    page = Client().get(letter_path(folder)).content.decode()
    assert "sales@example.com" in page
    assert session.release_token in page
    assert "transcript.txt" in page or not session.transcript_until


def test_only_our_own_return_link_can_be_clicked(session: Session, folder: Path) -> None:
    page = Client().get(letter_path(folder)).content.decode()
    assert f'href="{BASE}/r/' in page
    assert 'href="http://evil.example' not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page


@pytest.mark.usefixtures("session")
def test_the_html_part_is_locked_into_its_frame(folder: Path) -> None:
    page = Client().get(letter_path(folder))
    assert "frame-src 'self'" in page["Content-Security-Policy"]
    found = Client().get(letter_path(folder) + "html/")
    policy = found["Content-Security-Policy"]
    assert "sandbox allow-popups allow-popups-to-escape-sandbox" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "script-src" not in policy
    assert found["X-Frame-Options"] == "SAMEORIGIN"
    assert '<base target="_blank">' in found.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["..", "%2e%2e%2fdemo.json", "demo.json", "1764511111111111111-0a1b2c3d.eml", "x" * 300]
)
def test_nothing_but_a_letter_can_be_read(name: str, folder: Path) -> None:
    folder.mkdir()
    (folder / "demo.json").write_text("{}")
    assert Client().get(f"/demo/mail/{name}/").status_code in (301, 404)
    assert Client().get(f"/demo/mail/{name}/html/").status_code in (301, 404)


@pytest.mark.django_db
@pytest.mark.usefixtures("folder")
def test_with_a_mail_server_the_page_says_where_mail_goes_and_hides_the_login() -> None:
    with override_settings(EMAIL_URL="smtp+tls://me:secret@mail.example.org:587"):
        page = Client().get("/demo/mail/").content.decode()
    assert "mail.example.org:587" in page
    assert "secret" not in page


def test_a_link_ends_before_the_full_stop_and_is_nothing_without_a_base() -> None:
    text = f"Open {BASE}/r/abc.d-e_f/, or {BASE}/r/xyz.w."
    assert pieces(text, base=BASE) == [
        Piece("Open "),
        Piece(f"{BASE}/r/abc.d-e_f/", href=f"{BASE}/r/abc.d-e_f/"),
        Piece(", or "),
        Piece(f"{BASE}/r/xyz.w", href=f"{BASE}/r/xyz.w"),
        Piece("."),
    ]
    assert pieces(text, base="") == [Piece(text)]


def test_a_longer_host_is_not_ours() -> None:
    text = f"{BASE}.evil.example/r/abc and {BASE}@evil.example/r/abc"
    assert pieces(text, base=BASE) == [Piece(text)]


@pytest.mark.usefixtures("folder")
def test_the_mailbox_folder_is_private(session: Session) -> None:
    assert session.status == "active"
    assert settings.MAIL_DIR.stat().st_mode & 0o077 == 0
