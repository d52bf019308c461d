"""Too many posts to one link, too many wrong links from one address; nothing typed is lost."""

import datetime as dt
import html
import re

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from handoff.models import Bucket, Session
from returnforms.headers import CSP
from tests.returnforms import forms

pytestmark = pytest.mark.django_db


def all_came_at_once() -> None:
    Bucket.objects.update(full_at=Now() + dt.timedelta(minutes=1))


def a_minute_passes() -> None:
    Bucket.objects.update(full_at=F("full_at") - dt.timedelta(minutes=1))


def test_the_eleventh_form_within_a_minute_waits_and_loses_nothing(session: Session) -> None:
    form = forms.opened(session)
    typed = {"carrier": "Northern Post", "notes": 'left\nat "the" <door>', "order_status": ""}
    for _ in range(10):
        assert form.post(**typed, _note="A note", _answered_by="Mia").status_code == 422
    all_came_at_once()
    slow = form.post(**typed, _note="A note", _answered_by="Mia", _send_anyway="1")

    assert slow.status_code == 429
    assert int(slow.headers["Retry-After"]) in (5, 6)
    assert "Nothing was sent, and nothing that you typed is lost." in slow.text
    assert "Carrier: Northern Post\nNotes: left\nat &quot;the&quot;" in slow.text
    assert slow.headers["Content-Security-Policy"] == CSP
    session.refresh_from_db()
    assert session.status == "active"

    page = forms.Document(slow.text)
    assert page.faults == []
    again = {
        attrs["name"]: attrs["value"]
        for tag, attrs in page.elements
        if tag == "input" and attrs.get("type") == "hidden"
    }
    action = next(attrs["action"] for tag, attrs in page.elements if tag == "form")
    a_minute_passes()
    sent = form.client.post(str(action), {str(name): text or "" for name, text in again.items()})
    assert sent.status_code == 200
    session.refresh_from_db()
    assert (session.status, session.answered_by) == ("released", "Mia")
    assert session.returned is not None
    assert session.returned["values"]["notes"] == 'left\nat "the" <door>'


def test_the_same_form_again_shows_its_confirmation_however_often(
    session: Session, settings: Settings
) -> None:
    settings.FORMS_PER_MINUTE = 1
    form = forms.opened(session)
    for _ in range(5):
        assert form.post(order_status="shipped").status_code == 200


def test_links_are_counted_apart_and_reading_is_not_counted(settings: Settings) -> None:
    settings.FORMS_PER_MINUTE = 1
    one, other = forms.requested(), forms.requested()
    assert forms.opened(one).post().status_code == 422
    assert forms.opened(one).post().status_code == 429
    for _ in range(3):
        assert forms.opened(other).client.get(forms.path_of(other)).status_code == 200
    assert forms.opened(other).post().status_code == 422


def test_a_beacon_past_its_limit_is_heard_and_changes_nothing(
    session: Session, settings: Settings
) -> None:
    settings.FORMS_PER_MINUTE = 2
    beacon = forms.path_of(session) + "opened"
    for _ in range(2):
        assert forms.browser().post(beacon).status_code == 204
    before = forms.fingerprint()
    assert forms.browser().post(beacon).status_code == 204
    assert forms.fingerprint() == before
    assert forms.opened(session).post(order_status="shipped").status_code == 200


def test_the_sixty_first_wrong_link_of_an_address_waits_and_right_ones_work() -> None:
    session = forms.requested()
    answers = [forms.browser().get(f"/r/wrong{number}/") for number in range(30)]
    answers += [forms.browser().post(f"/r/wrong{number}/opened") for number in range(30)]
    assert {answer.status_code for answer in answers} == {404}
    all_came_at_once()
    slow = forms.browser().get("/r/wrong/")
    assert slow.status_code == 429
    assert re.search(r"Please try again in 1\s+second\.", html.unescape(slow.text))
    assert slow.headers["Retry-After"] == "1"
    assert slow.headers["Cache-Control"] == "no-store"
    assert "<form" not in slow.text
    assert forms.browser().get(forms.path_of(session)).status_code == 200
    elsewhere = Client(REMOTE_ADDR="198.51.100.7")
    assert elsewhere.get("/r/wrong/").status_code == 404


def test_a_wrong_link_needs_no_database() -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("the connection is closed")

    with connection.execute_wrapper(refuse):
        assert forms.browser().get("/r/wrong/").status_code == 404
