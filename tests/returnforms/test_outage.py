"""While the database is away the form's pages are calm, and nobody's typing is lost."""

import html
import re
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from handoff.models import Session
from tests import factories
from tests.returnforms import forms

pytestmark = pytest.mark.django_db
INTERNAL = ("db-3", "psycopg", "connection refused", "OperationalError", "Traceback")


def lost(*_: Any) -> Any:
    raise OperationalError("connection to server at db-3.internal failed: connection refused")


def _hidden(page: str) -> dict[str, str]:
    """The hidden inputs of a page."""
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: html.unescape(text) for name, text in found}


@pytest.fixture
def session() -> Session:
    return forms.requested()


def test_the_form_says_that_it_can_t_be_shown_and_that_the_link_stays_valid(
    session: Session,
) -> None:
    path = forms.path_of(session)
    with connection.execute_wrapper(lost):
        page = Client().get(path)
    assert (page.status_code, page.headers["Retry-After"]) == (503, "30")
    assert page.headers["Referrer-Policy"] == "no-referrer"
    text = page.content.decode()
    assert "Your link stays valid." in text
    assert not [word for word in INTERNAL if word in text]


def test_what_was_typed_can_be_sent_again_from_the_page_and_arrives_once(
    session: Session,
) -> None:
    client, path = Client(), forms.path_of(session)
    sent = {
        "submission_id": "render-1",
        "value.order_status": "shipped",
        "value.notes": "left <b>at</b>\nthe door",
        "outcome": "resolved",
        "note": "Sorry & thanks",
        "answered_by": "Kim",
    }
    with connection.execute_wrapper(lost):
        page = client.post(path, sent)
    assert page.status_code == 503
    assert "Nothing that you typed is lost" in page.content.decode()
    assert "notes: left &lt;b&gt;at&lt;/b&gt;" in page.content.decode()

    again = _hidden(page.content.decode())
    assert again == sent
    for _ in range(2):
        assert client.post(path, again).status_code == 200
    session.refresh_from_db()
    assert session.status == "released"
    assert session.submissions.count() == 1


def test_an_owner_s_form_keeps_its_typing_too(session: Session) -> None:
    client = Client()
    client.force_login(session.agent.owners.get())
    with connection.execute_wrapper(lost):
        page = client.post(f"/r/owner/{session.public_id}/", {"note": "I know the answer"})
    assert page.status_code == 503
    assert "I know the answer" in page.content.decode()


@pytest.mark.parametrize("path", ["/inbox/", "/admin/"])
def test_other_pages_answer_503_in_our_frame_without_the_database(path: str) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(factories.UserFactory.create(is_staff=True))
    with connection.execute_wrapper(lost):
        page = client.get(path)
    assert (page.status_code, page.headers["Retry-After"]) == (503, "30")
    text = page.content.decode()
    assert 'class="masthead"' in text
    assert "please try again" in text.lower()
    assert not [word for word in INTERNAL if word in text]


def test_a_fault_of_ours_stays_a_fault() -> None:
    client = Client(raise_request_exception=False)
    client.force_login(factories.UserFactory.create())

    def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    with connection.execute_wrapper(broken):
        assert client.get("/inbox/").status_code == 500
