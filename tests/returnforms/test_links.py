"""Links: reading changes nothing, and each kind of dead link has its page."""

import datetime as dt
import random
import secrets
import string

import pytest
from django.conf import settings
from django.db.models.functions import Now
from django.test import Client, override_settings
from django.utils import timezone

from handoff import links
from handoff.actions.endings import cancel
from handoff.models import Attempt, ReturnLink, Session
from returnforms.headers import CSP
from tests.returnforms import forms


def test_get_and_head_change_nothing(session: Session) -> None:
    before = forms.fingerprint()
    client = forms.browser()
    for _ in range(3):
        assert client.get(forms.path_of(session)).status_code == 200
        head = client.head(forms.path_of(session))
        assert (head.status_code, head.content) == (200, b"")
    assert forms.fingerprint() == before


@pytest.mark.slow
def test_a_thousand_gets_change_nothing(session: Session) -> None:
    before = forms.fingerprint()
    client = forms.browser()
    for _ in range(1000):
        assert client.get(forms.path_of(session)).status_code == 200
    assert forms.fingerprint() == before


def test_reading_every_other_page_changes_nothing(session: Session) -> None:
    form = forms.opened(session)
    form.post(order_status="shipped")
    before = forms.fingerprint()
    form.client.get(form.path)
    forms.browser().get(form.path)
    forms.browser().get("/r/wrong/")
    forms.browser().get(form.path + "opened")
    assert forms.fingerprint() == before


def test_the_link_works_without_its_last_slash(session: Session) -> None:
    path = forms.path_of(session).rstrip("/")
    assert forms.browser().get(path).status_code == 200
    answer = forms.browser().post(path, {"value.order_status": "shipped", "outcome": "resolved"})
    assert answer.status_code == 200


def wrong_paths(session: Session) -> list[str]:
    link = forms.link_of(session)
    good = links.return_token(link.link_id)
    value, _, signature = good.partition(".")
    unsaved = links.return_token("a" * 26)
    return [
        "/r/x/",
        "/r/",
        "/r/a/b/c",
        "/r/owner/",
        f"/r/{value}/",
        f"/r/{good}x/",
        f"/r/{good[:-1]}/",
        f"/r/{value}.{signature.swapcase()}/",
        f"/r/b{good[1:]}/",
        f"/r/{unsaved}/",
        f"/r/{links.ticket_token(link.link_id)}/",
        f"/r/{session.release_token}/",
        f"/r/{session.public_id}/",
        "/r/%00/",
        "/r/%ff%fe/",
        f"/r/{'x' * 5000}/",
    ]


def test_every_wrong_link_gets_the_same_neutral_page(session: Session) -> None:
    answers = [forms.browser().get(path) for path in wrong_paths(session)]
    answers += [forms.browser().post(path, {"note": "x"}) for path in wrong_paths(session)]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert len({tuple(sorted(answer.headers.items())) for answer in answers}) == 1
    assert "There is nothing here" in answers[0].text


def test_guessing_finds_nothing(session: Session) -> None:
    good = links.return_token(forms.link_of(session).link_id)
    dice = random.Random(7)
    alphabet = string.ascii_letters + string.digits + "-_."
    for _ in range(20_000):
        place = dice.randrange(len(good))
        guess = good[:place] + dice.choice(alphabet) + good[place + 1 :]
        assert guess == good or links.read_return_token(guess) is None
        assert links.read_return_token(secrets.token_urlsafe(48)) is None


def test_an_old_key_still_opens_a_link_and_a_dropped_one_does_not(session: Session) -> None:
    path, old = forms.path_of(session), settings.SECRET_KEY
    new = "another key that is long enough for a test of rotation"
    with override_settings(SECRET_KEY=new, SECRET_KEY_FALLBACKS=[old]):
        assert forms.browser().get(path).status_code == 200
    with override_settings(SECRET_KEY=new, SECRET_KEY_FALLBACKS=[]):
        assert forms.browser().get(path).status_code == 404


def expire(session: Session, *, seconds: int = 1) -> None:
    session.links.update(expires_at=Now() - dt.timedelta(seconds=seconds))


def test_an_expired_link_says_so_and_shows_nothing_of_the_request(session: Session) -> None:
    expire(session)
    page = forms.browser().get(forms.path_of(session))
    assert page.status_code == 410
    assert "This link has expired" in page.text
    assert "ask the sender for a new link" in page.text
    assert session.summary not in page.text
    assert "<button" not in page.text.replace(" hidden>", "")


def test_a_form_that_expired_while_it_was_filled_in_keeps_the_typing_to_copy(
    session: Session,
) -> None:
    form = forms.opened(session)
    expire(session)
    answer = form.post(carrier="Northern Post", _note="Left on Monday", order_status="shipped")
    assert answer.status_code == 410
    assert "Carrier: Northern Post\nOrder status: shipped\nNote: Left on Monday" in answer.text
    session.refresh_from_db()
    assert session.status == "active"


def test_the_database_clock_decides_at_the_very_moment(session: Session) -> None:
    path = forms.path_of(session)
    session.links.update(expires_at=timezone.now() + dt.timedelta(days=1))
    assert forms.browser().get(path).status_code == 200
    session.links.update(expires_at=Now())
    assert forms.browser().get(path).status_code == 410


def test_a_revoked_link_is_switched_off(session: Session) -> None:
    form = forms.opened(session)
    session.links.update(revoked_at=Now())
    page = forms.browser().get(form.path)
    assert page.status_code == 410
    assert "This link was switched off" in page.text
    assert form.post(order_status="shipped").status_code == 410
    session.refresh_from_db()
    assert session.status == "active"


def test_a_handoff_that_failed_never_started(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(status="failed")
    session.links.update(revoked_at=Now())
    page = forms.browser().get(forms.path_of(session))
    assert page.status_code == 410
    assert "This request ended before it began." in page.text
    assert session.summary not in page.text


def test_a_request_withdrawn_after_it_was_refused_never_started(session: Session) -> None:
    Attempt.objects.filter(session=session).update(status="refused")
    cancel(session, reason="not needed", actor="agent:test")
    page = forms.browser().get(forms.path_of(session))
    assert "This request ended before it began." in page.text


def test_a_withdrawn_request_that_was_sent_still_takes_an_answer(session: Session) -> None:
    cancel(session, reason="not needed", actor="agent:test")
    page = forms.browser().get(forms.path_of(session))
    assert page.status_code == 200
    assert "The request was withdrawn." in page.text
    assert "not needed" not in page.text


def test_the_beacon_marks_the_link_opened_once_and_keeps_the_handoff_alive(
    session: Session,
) -> None:
    Session.objects.update(recipient_active_at=Now() - dt.timedelta(minutes=20))
    beacon = forms.path_of(session) + "opened"
    assert forms.browser().post(beacon).status_code == 204
    first = forms.link_of(session).opened_at
    assert first is not None
    session.refresh_from_db()
    assert timezone.now() - session.recipient_active_at < dt.timedelta(minutes=1)
    assert forms.browser().post(beacon).status_code == 204
    assert forms.link_of(session).opened_at == first
    assert forms.browser().get(beacon).status_code == 405
    assert forms.browser().post("/r/wrong/opened").status_code == 404


def test_the_beacon_of_a_dead_link_changes_nothing(session: Session) -> None:
    ReturnLink.objects.update(revoked_at=Now())
    before = forms.fingerprint()
    assert forms.browser().post(forms.path_of(session) + "opened").status_code == 204
    assert forms.fingerprint() == before


def checked_headers(client: Client, path: str, *, method: str = "get") -> int:
    answer = getattr(client, method)(path)
    assert answer.headers["Content-Security-Policy"] == CSP
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    return int(answer.status_code)


def test_every_answer_has_the_headers(session: Session) -> None:
    path = forms.path_of(session)
    assert checked_headers(forms.browser(), path) == 200
    assert checked_headers(forms.browser(), path, method="post") == 422
    assert checked_headers(forms.browser(), path, method="delete") == 405
    assert checked_headers(forms.browser(), "/r/wrong/") == 404
    expire(session)
    assert checked_headers(forms.browser(), path) == 410
    Session.objects.update(expected_return=[{"name": "broken"}])
    quiet = Client(raise_request_exception=False)
    assert checked_headers(quiet, path) == 500
