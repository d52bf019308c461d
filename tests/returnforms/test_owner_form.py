"""The owner's signed-in form: login, CSRF, and only for those who look after the agent."""

import re

from django.contrib.auth.models import User
from django.test import Client

from audit.models import Event
from handoff.models import ReturnLink, Session
from tests import factories
from tests.returnforms import forms


def owner_of(session: Session) -> User:
    return User.objects.get(agents=session.agent)


def signed_in(user: User) -> Client:
    client = forms.browser()
    client.force_login(user)
    return client


def path_of(session: Session) -> str:
    return f"/r/owner/{session.public_id}/"


def posted(client: Client, path: str, **data: str) -> "tuple[int, str]":
    page = client.get(path)
    assert page.status_code == 200
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]+)"', page.text))
    answer = client.post(path, {**hidden, "outcome": "resolved", **data})
    return answer.status_code, answer.text


def test_the_form_asks_for_a_login(session: Session) -> None:
    answer = forms.browser().get(path_of(session))
    assert answer.status_code == 302
    assert "login" in answer.headers["Location"]


def test_an_owner_s_form_releases_as_form_in_the_owner_s_name(session: Session) -> None:
    user = owner_of(session)
    user.first_name, user.last_name = "Ada", "Lovelace"
    user.save()
    client = signed_in(user)
    page = client.get(path_of(session))
    assert 'value="Ada Lovelace"' in page.text
    assert "data-opened" not in page.text
    status, text = posted(
        client, path_of(session), **{"value.order_status": "shipped", "answered_by": "Ada Lovelace"}
    )
    assert (status, "Your answer was sent" in text) == (200, True)
    session.refresh_from_db()
    assert (session.release, session.answered_by) == ("form", "Ada Lovelace")
    released = Event.objects.get(action="handoff.released")
    assert released.actor == f"owner:{user.pk}"
    assert ReturnLink.objects.get(minted_for=f"owner:{user.pk}").session == session


def test_reading_it_mints_nothing(session: Session) -> None:
    client = signed_in(owner_of(session))
    client.get(path_of(session))
    before = forms.fingerprint()
    assert client.get(path_of(session)).status_code == 200
    assert client.head(path_of(session)).status_code == 200
    assert forms.fingerprint() == before


def test_a_known_name_alone_leaves_the_form_untouched(session: Session) -> None:
    user = owner_of(session)
    status, _ = posted(signed_in(user), path_of(session), answered_by=user.username)
    assert status == 422
    session.refresh_from_db()
    assert session.status == "active"


def test_without_a_csrf_token_it_is_refused_in_words(session: Session) -> None:
    answer = signed_in(owner_of(session)).post(
        path_of(session), {"value.order_status": "shipped", "outcome": "resolved"}
    )
    assert answer.status_code == 403
    assert "Not sent: please try again" in answer.text
    assert answer.headers["Referrer-Policy"] == "same-origin"
    session.refresh_from_db()
    assert session.status == "active"


def test_another_owner_and_a_wrong_id_get_the_same_neutral_page(session: Session) -> None:
    stranger = signed_in(factories.UserFactory.create())
    foreign = stranger.get(path_of(session))
    missing = stranger.get("/r/owner/hs_nothing/")
    wrong = forms.browser().get("/r/wrong/")
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert foreign.content == missing.content == wrong.content


def test_being_staff_does_not_make_an_owner(session: Session) -> None:
    boss = factories.UserFactory.create(is_staff=True, is_superuser=True)
    assert signed_in(boss).get(path_of(session)).status_code == 404


def test_an_owner_who_comes_second_is_told_who_was_first(session: Session) -> None:
    client = signed_in(owner_of(session))
    page = client.get(path_of(session))
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]+)"', page.text))
    forms.opened(session).post(order_status="shipped", _answered_by="Sam")
    answer = client.post(
        path_of(session), {**hidden, "outcome": "resolved", "value.order_status": "processing"}
    )
    assert answer.status_code == 200
    assert "<bdi>Sam</bdi>" in answer.text
    assert "Your entries came second" in answer.text
