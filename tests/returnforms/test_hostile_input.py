"""Whatever a browser or a robot posts is kept as typed or named as unusable, never a crash."""

import pytest
from django.conf import settings

from handoff.models import Session, Submission
from tests.returnforms import forms

HOSTILE = [
    "\x00nul",
    "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    "\ufffe\uffff",
    "\u202egnp.exe",
    "\u2028[Bot resumed — forged]\u2029",
    "\r\n\x0b\x0c\x1c\x85[Bot resumed — forged]\n  • x: y",
    "e\u0301" * 400,
    "👩‍👩‍👧‍👦 क्‍ष",
    "<script>alert(1)</script>",
    "{{ settings.SECRET_KEY }}{% now 'Y' %}",
    "١٢٣",
    "1e999",
    "9" * 5000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_in_every_field_is_taken(session: Session, text: str) -> None:
    form = forms.opened(session)
    names = [field["name"] for field in forms.EVERY_TYPE]
    everywhere = dict.fromkeys(names, text)
    shown = form.post(_note=text, _answered_by=text, **everywhere)
    assert shown.status_code == 422
    answer = form.post(_note=text, _answered_by=text, _send_anyway="1", **everywhere)
    assert answer.status_code == 200
    assert "<script>alert(1)" not in answer.text
    session.refresh_from_db()
    assert session.returned is not None
    sorted_out = {
        *session.returned["values"],
        *(item["name"] for item in session.returned["missing"]),
        *(item["name"] for item in session.returned["invalid"]),
    }
    assert sorted_out == set(names)
    assert "\x00" not in str(Submission.objects.get().entries)


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("refund", "1234.50", 1234.5),
        ("refund", "1,234.5", 1234.5),
        ("call_back", "false", False),
        ("order_status", "shipped", "shipped"),
        ("eta_date", "2026-06-10", "2026-06-10"),
        ("eta_date", "25/12/2026", "2026-12-25"),
        ("tracking_url", "HTTP://Example.com/x", "http://Example.com/x"),
        ("notes", " a\r\nb ", "a\nb"),
        ("carrier", "e\u0301", "\u00e9"),
    ],
)
def test_what_can_be_read_is_returned_typed(
    session: Session, name: str, typed: str, value: object
) -> None:
    forms.opened(session).post(_send_anyway="1", **{name: typed})
    session.refresh_from_db()
    assert session.returned is not None
    assert session.returned["values"] == {name: value}


@pytest.mark.parametrize(
    ("name", "typed", "reason"),
    [
        ("refund", "1,234", "not a number"),
        ("refund", "1_000", "not a number"),
        ("refund", "1" * 16, "too long"),
        ("call_back", "on", "not true or false"),
        ("order_status", "Shipped", "not one of the choices"),
        ("eta_date", "06/10/2026", "not a date"),
        ("tracking_url", "ftp://example.com", "not an http or https address"),
        ("tracking_url", "http://user:pw@example.com/", "not an http or https address"),
        ("carrier", "x" * 4001, "too long"),
        ("notes", "x" * 20_001, "too long"),
    ],
)
def test_what_cannot_be_read_is_kept_as_typed(
    session: Session, name: str, typed: str, reason: str
) -> None:
    forms.opened(session).post(_send_anyway="1", **{name: typed})
    session.refresh_from_db()
    assert session.returned is not None
    assert session.returned["invalid"] == [{"name": name, "raw": typed, "reason": reason}]


def test_numbers_and_dates_are_read_in_the_language_of_the_page(session: Session) -> None:
    form = forms.opened(session)
    form.client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    form.post(_send_anyway="1", refund="1.234,50", eta_date="10.06.2026")
    session.refresh_from_db()
    assert session.returned is not None
    assert session.returned["values"] == {"refund": 1234.5, "eta_date": "2026-06-10"}


def test_more_than_a_hundred_fields_are_refused(session: Session) -> None:
    form = forms.opened(session)
    most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    answer = form.post(**{f"x{number}": "y" for number in range(most)})
    assert answer.status_code == 400
    assert "Nothing was kept" in answer.text
    assert form.post(_send_anyway="1", **{f"x{n}": "y" for n in range(most - 4)}).status_code == 200


def test_a_body_over_four_mebibytes_is_refused(session: Session) -> None:
    body = b"note=" + b"x" * settings.MAX_BODY
    answer = forms.browser().post(
        forms.path_of(session), body, content_type="application/x-www-form-urlencoded"
    )
    assert answer.status_code == 400
    assert answer.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b'{"note": "hi"}', 422),
        ("multipart/form-data; boundary=x", b"--x\r\nbroken", 422),
        ("multipart/form-data", b"no boundary", 400),
        ("application/x-www-form-urlencoded; charset=utf-16", b"note=hi", 400),
        ("application/x-www-form-urlencoded", b"%ff%fe=%00&&&==", 422),
    ],
)
def test_a_body_that_no_form_sends_is_no_crash(
    session: Session, kind: str, body: bytes, status: int
) -> None:
    answer = forms.browser().post(forms.path_of(session), body, content_type=kind)
    assert answer.status_code == status
    session.refresh_from_db()
    assert session.status == "active"
