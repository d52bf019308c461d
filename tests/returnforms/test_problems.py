"""Half a form: what is wrong is said, nothing typed is lost, and it can be sent as it is."""

import html
import re

import pytest

from audit.models import Event
from handoff.contract.kinds import SessionStatus
from handoff.models import Session
from tests.returnforms import forms


def test_problems_are_listed_linked_and_said_beside_each_field(session: Session) -> None:
    answer = forms.opened(session).post(refund="1,234", tracking_url="javascript:alert(1)")
    assert answer.status_code == 422
    assert "<title>Error: " in answer.text
    text = html.unescape(answer.text)
    for said in ("Choose one for “Order status”.", "“Refund” must be", "“Tracking address” must"):
        assert text.count(said) == 2
    links = re.findall(r'href="#(value-[\w-]+)"', text)
    assert links == ["value-refund", "value-order_status-1", "value-tracking_url"]
    assert text.count('aria-invalid="true"') == 3
    assert "autofocus" in text
    session.refresh_from_db()
    assert session.status == SessionStatus.ACTIVE


TYPED = {
    "carrier": "  <b>Post & Söhne</b> ",
    "notes": "\nfirst line empty\n\n  indented",
    "refund": "1,234",
    "call_back": "true",
    "warehouse": "WH-7",
    "eta_date": "next week",
    "tracking_url": "ftp://example.com",
}


def test_nothing_typed_is_lost(session: Session) -> None:
    answer = forms.opened(session).post(
        _note="a note\nwith lines", _answered_by="Zoë", _outcome="unresolved", **TYPED
    )
    assert answer.status_code == 422
    fields = {name: text for name, text in TYPED.items() if name not in ("notes", "call_back")}
    for name, text in fields.items():
        shown = html.escape(text, quote=True)
        if name == "warehouse":
            assert f'<option value="{text}" selected>' in answer.text
        else:
            assert f'name="value.{name}" value="{shown}"' in answer.text
    assert f">\n{TYPED['notes']}</textarea>" in answer.text
    assert ">\na note\nwith lines</textarea>" in answer.text
    assert re.search(r'value="true"[^>]* checked', answer.text)
    assert re.search(r'value="unresolved" checked', answer.text)
    assert 'value="Zoë"' in answer.text


def test_a_date_that_a_date_input_would_drop_stands_in_a_text_input(session: Session) -> None:
    answer = forms.opened(session).post(eta_date="next week")
    assert re.search(r'type="text" id="value-eta_date"', answer.text)
    answer = forms.opened(session).post(eta_date="2026-06-10", refund="x")
    assert re.search(r'type="date" id="value-eta_date" [^>]*value="2026-06-10"', answer.text)


def test_send_anyway_says_what_the_asker_will_be_told(session: Session) -> None:
    answer = forms.opened(session).post(refund="1,234")
    assert answer.text.count("Send anyway") >= 1
    told = answer.text[answer.text.index('id="told"') :]
    assert told.index("Order status") < told.index("Refund")


def test_send_anyway_releases_with_required_fields_missing_and_audits_them(
    session: Session,
) -> None:
    answer = forms.opened(session).post(refund="1,234", carrier="Post", _send_anyway="1")
    assert answer.status_code == 200
    session.refresh_from_db()
    assert (session.status, session.release) == ("released", "form")
    assert session.returned is not None
    assert session.returned["values"] == {"carrier": "Post"}
    assert {"name": "order_status", "required": True} in session.returned["missing"]
    assert session.returned["invalid"] == [
        {"name": "refund", "raw": "1,234", "reason": "not a number"}
    ]
    actions = set(Event.objects.values_list("action", flat=True))
    assert {"return.missing", "return.invalid"} <= actions


@pytest.mark.parametrize("outcome", ["unresolved", "declined"])
def test_who_could_not_do_it_is_not_asked_for_values(session: Session, outcome: str) -> None:
    answer = forms.opened(session).post(_outcome=outcome)
    assert answer.status_code == 200
    session.refresh_from_db()
    assert (session.status, session.outcome) == ("released", outcome)


def test_an_untouched_form_asks_for_a_tick_before_it_releases(session: Session) -> None:
    form = forms.opened(session)
    answer = form.post()
    assert answer.status_code == 422
    assert re.search(
        r'type="checkbox" id="confirmed" name="confirmed" value="1"(?! checked)', answer.text
    )
    robot = re.findall(r'<input type="hidden" name="([\w.]+)" value="([^"]*)"', answer.text)
    assert form.client.post(form.path, dict(robot)).status_code == 422
    for filled in ("", "0", "on", "false", "x"):
        assert form.post(_confirmed=filled, _send_anyway=filled).status_code == 422
    session.refresh_from_db()
    assert session.status == SessionStatus.ACTIVE
    assert form.post(_confirmed="1").status_code == 200
    session.refresh_from_db()
    assert session.status == SessionStatus.RELEASED


def test_send_anyway_alone_does_not_release_an_untouched_form(session: Session) -> None:
    assert forms.opened(session).post(_send_anyway="1").status_code == 422


def test_a_robot_that_posts_the_untouched_form_does_not_count_as_a_person(
    session: Session,
) -> None:
    forms.opened(session).post()
    assert forms.link_of(session).opened_at is None


def test_a_note_over_its_limit_is_a_problem_and_is_kept_whole_when_sent(session: Session) -> None:
    note = "n" * 1001
    form = forms.opened(session)
    answer = form.post(order_status="shipped", _note=note)
    assert "The note is too long; 1000 characters are the most." in answer.text
    assert form.post(order_status="shipped", _note=note, _send_anyway="1").status_code == 200
    session.refresh_from_db()
    assert len(session.message) == 1000
    assert session.note == note
