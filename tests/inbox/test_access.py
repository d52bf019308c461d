"""Who may see and do what in the inbox."""

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Event as AuditEvent
from handoff.inbox.urls import urlpatterns
from handoff.models import (
    Alert,
    Attempt,
    Conversation,
    Event,
    Message,
    ReturnLink,
    Session,
)
from tests import factories
from tests.inbox.conftest import Desk, new_desk

POSTS = (
    "reply",
    "release",
    "claim",
    "cancel",
    "hand-over",
    "extend",
    "remind",
    "link",
    "seen",
)


def pages(desk: Desk, session: Session, detached: Session) -> list[str]:
    return [
        desk.page,
        f"/inbox/h/{session.public_id}/",
        f"/inbox/h/{detached.public_id}/",
    ]


def test_a_stranger_is_asked_to_sign_in_on_every_page_and_button(desk: Desk) -> None:
    session = desk.requested()
    client = Client()

    for page in ["/inbox/", *pages(desk, session, session)]:
        assert client.get(page)["Location"] == f"/inbox/login/?next={page}"
    for button in POSTS:
        answer = client.post(f"/inbox/h/{session.public_id}/{button}/", {"text": "hello"})
        assert answer["Location"].startswith("/inbox/login/")
    session.refresh_from_db()
    assert session.status == "active"


@pytest.mark.parametrize("is_superuser", [False, True])
def test_another_owners_handoffs_are_not_there_even_for_a_superuser(
    desk: Desk, is_superuser: bool
) -> None:
    session, detached = desk.requested(), factories.requested(desk.agent, desk.channel)
    other = new_desk("bob").owner
    other.is_superuser = other.is_staff = is_superuser
    other.save()
    client = Client()
    client.force_login(other)

    for page in pages(desk, session, detached):
        assert client.get(page).status_code == 404
    for button in POSTS:
        path = f"/inbox/h/{session.public_id}/{button}/"
        sent = {"text": "hi", "client_id": "x", "outcome": "resolved", "to": str(desk.owner.pk)}
        assert client.post(path, sent).status_code == 404
    assert session.public_id not in client.get("/inbox/").content.decode()
    assert list(session.messages.all()) == []
    assert [link.minted_for for link in session.links.all()] == ["recipient"]
    assert [attempt.delivery for attempt in session.attempts.all()] == [""]
    session.refresh_from_db()
    assert (session.status, session.holder) == ("active", None)


def test_the_owner_sees_all_of_it(desk: Desk, inbox: Client) -> None:
    session, detached = desk.requested(), factories.requested(desk.agent, desk.channel)

    assert inbox.get("/inbox/").status_code == 200
    assert inbox.get(desk.page).status_code == 200
    assert inbox.get(f"/inbox/h/{detached.public_id}/").status_code == 200
    moved = inbox.get(f"/inbox/h/{session.public_id}/")
    assert moved["Location"] == desk.page


@pytest.mark.parametrize("path", ["c_none/", "h/hs_none/", "c_%00/", "h/%F0%9F%98%80/"])
def test_what_is_not_there_is_not_found(inbox: Client, path: str) -> None:
    assert inbox.get(f"/inbox/{path}").status_code == 404


def test_an_owner_who_was_removed_sees_nothing_any_more(desk: Desk, inbox: Client) -> None:
    desk.requested()
    desk.agent.owners.remove(desk.owner)

    assert inbox.get(desk.page).status_code == 404
    assert "You look after no agent yet" in inbox.get("/inbox/").content.decode()


def test_a_button_needs_the_csrf_token_and_a_post(desk: Desk) -> None:
    session = desk.requested()
    client = Client(enforce_csrf_checks=True)
    client.force_login(desk.owner)

    for button in POSTS:
        path = f"/inbox/h/{session.public_id}/{button}/"
        assert client.post(path, {"outcome": "resolved"}).status_code == 403
        assert client.get(path).status_code == 405
        assert client.head(path).status_code == 405


def test_every_button_has_its_place_in_these_tests() -> None:
    known = {pattern.name: str(pattern.pattern) for pattern in urlpatterns}
    buttons = {path.split("/")[2] for path in known.values() if path.count("/") == 3}
    assert buttons == set(POSTS)


def test_reading_changes_nothing_however_often(desk: Desk, inbox: Client) -> None:
    session, detached = desk.requested(), factories.requested(desk.agent, desk.channel)
    inbox.get("/inbox/")

    def rows() -> list[object]:
        models = (Session, Attempt, ReturnLink, Conversation, Event, AuditEvent, Alert, Message)
        return [list(model.objects.order_by("pk").values()) for model in models]

    before = rows()
    for page in ["/inbox/", *pages(desk, session, detached), f"{desk.page}?before=5"]:
        for purpose in ("", "prefetch", "prefetch;prerender"):
            inbox.get(page, headers={"sec-purpose": purpose})
            inbox.head(page, headers={"sec-purpose": purpose})
    assert rows() == before


def test_signing_in_leads_to_the_page_that_was_asked_for(desk: Desk) -> None:
    client = Client()
    sent = {"username": "ada", "password": "wrong", "next": desk.page}

    refused = client.post("/inbox/login/", sent)
    assert refused.status_code == 200
    assert "Error: Sign in" in refused.content.decode()
    entered = client.post("/inbox/login/", {**sent, "password": "correct horse battery"})
    assert entered["Location"] == desk.page
    left = client.post(reverse("inbox:logout"))
    assert left["Location"] == "/inbox/login/"
    assert client.get("/inbox/").status_code == 302


def test_pages_are_not_kept_by_any_cache(desk: Desk, inbox: Client) -> None:
    for page in ("/inbox/", desk.page):
        assert "no-store" in inbox.get(page)["Cache-Control"]


def test_staff_find_the_admin_from_the_inbox_and_others_no_link_to_it(
    desk: Desk, inbox: Client
) -> None:
    link = '<a href="/admin/">Admin</a>'
    assert link not in inbox.get("/inbox/").content.decode()
    desk.owner.is_staff = True
    desk.owner.save()
    assert link in inbox.get("/inbox/").content.decode()
