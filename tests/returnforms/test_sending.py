"""Sending: the first form wins, a repeat changes nothing, what comes later is kept."""

import threading

import pytest
from django.db import connections

from audit.models import Event
from handoff.actions.endings import back_to_bot
from handoff.models import Message, Session, Submission, SubmissionKind
from tests.returnforms import forms

GOOD = {"order_status": "shipped", "tracking_url": "carrier.example/track", "refund": "12.50"}


def test_a_form_releases_and_the_conversation_gets_the_note(session: Session) -> None:
    answer = forms.opened(session).post(_note="All done", _answered_by="Sam", **GOOD)
    assert answer.status_code == 200
    assert "Thank you. Your answer was sent." in answer.text
    assert session.public_id in answer.text
    assert "https://carrier.example/track" in answer.text
    session.refresh_from_db()
    assert (session.release, session.outcome, session.answered_by) == ("form", "resolved", "Sam")
    assert session.returned is not None
    assert session.returned["values"] == {
        "refund": 12.5,
        "order_status": "shipped",
        "tracking_url": "https://carrier.example/track",
    }
    note = Message.objects.exclude(note_type="").get()
    assert note.text.startswith("[Bot resumed — the recipient (Shop team) has handed control back.")
    assert "Returned data:" in note.text


def test_the_same_form_posted_twice_shows_the_same_confirmation(session: Session) -> None:
    form = forms.opened(session)
    first, again = form.post(**GOOD), form.post(**GOOD)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.text == again.text
    assert Submission.objects.count() == 1
    assert Event.objects.filter(action="handoff.released").count() == 1


def test_only_the_browser_that_sent_sees_the_values_again(session: Session) -> None:
    form = forms.opened(session)
    form.post(_answered_by="Sam", **GOOD)
    mine = form.client.get(form.path)
    assert mine.status_code == 200
    assert "What you sent" in mine.text
    other = forms.browser().get(form.path)
    assert other.status_code == 410
    assert "This was already answered" in other.text
    assert "<bdi>Sam</bdi>" in other.text
    assert "carrier.example" not in other.text
    assert session.summary not in other.text


def test_the_cookie_is_signed_bound_to_the_link_and_not_readable_by_scripts(
    session: Session,
) -> None:
    form = forms.opened(session)
    answer = form.post(**GOOD)
    cookie = answer.cookies["sent"]
    assert cookie["path"] == form.path.rstrip("/")
    assert cookie["httponly"]
    forger = forms.browser()
    forger.cookies["sent"] = cookie.value[:-2] + "xx"
    assert "What you sent" not in forger.get(form.path).text
    elsewhere = forms.requested()
    forger.cookies["sent"] = cookie.value
    assert "What you sent" not in forger.get(forms.path_of(elsewhere)).text


def test_a_second_person_s_entries_are_kept_and_offered_for_copying(session: Session) -> None:
    second = forms.opened(session)
    forms.opened(session).post(_answered_by="Sam", **GOOD)
    answer = second.post(order_status="processing", _note="I think otherwise", _answered_by="Kim")
    assert answer.status_code == 200
    assert "Your entries came second" in answer.text
    assert "Order status: processing\nNote: I think otherwise\nName: Kim</textarea>" in answer.text
    session.refresh_from_db()
    assert session.answered_by == "Sam"
    kept = Submission.objects.get(kind=SubmissionKind.AMENDMENT)
    assert kept.entries["order_status"] == "processing"
    assert Event.objects.filter(action="handoff.amended").count() == 1
    assert "Your entries came second" in second.client.get(second.path).text


def test_a_form_changed_after_back_is_an_amendment_not_a_repeat(session: Session) -> None:
    form = forms.opened(session)
    form.post(**GOOD)
    answer = form.post(**{**GOOD, "refund": "99"})
    assert "Your entries came second" in answer.text
    assert Submission.objects.filter(kind=SubmissionKind.AMENDMENT).count() == 1


def test_a_form_after_the_visitor_left_is_a_late_return(session: Session) -> None:
    form = forms.opened(session)
    assert session.conversation_id is not None
    back_to_bot(session.conversation_id)
    page = forms.browser().get(form.path)
    assert page.status_code == 200
    assert "The visitor asked to be back with the assistant." in page.text
    answer = form.post(**GOOD)
    assert "gets it as a late answer" in answer.text
    session.refresh_from_db()
    assert (session.release, session.late) == ("subscriber", True)
    assert Message.objects.filter(text__startswith="[Late return — ").count() == 1


def test_a_form_of_an_unknown_dispatch_releases_it_as_a_late_return(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(status="unknown")
    assert forms.opened(session).post(**GOOD).status_code == 200
    session.refresh_from_db()
    assert (session.status, session.late, session.was_unknown) == ("released", True, True)


def test_a_name_that_nobody_asked_for_is_kept_and_reported(session: Session) -> None:
    forms.opened(session).post(colour="blue", **GOOD)
    session.refresh_from_db()
    assert session.returned is not None
    assert session.returned["unknown"] == {"colour": "blue"}


def test_a_field_may_be_called_like_an_input_of_ours(db: None) -> None:
    names = ("note", "outcome", "submission_id", "confirmed", "answered_by")
    session = forms.requested([{"name": name, "type": "string"} for name in names])
    forms.opened(session).post(**{name: f"my {name}" for name in names})
    session.refresh_from_db()
    assert session.returned is not None
    assert session.returned["values"] == {name: f"my {name}" for name in names}
    assert session.note == ""


def test_the_first_post_counts_as_a_person_who_opened_it(session: Session) -> None:
    forms.opened(session).post(refund="x")
    assert forms.link_of(session).opened_at is not None


@pytest.mark.django_db(transaction=True)
def test_of_eight_people_at_once_one_is_first_and_seven_are_kept() -> None:
    session = forms.requested()
    ready = [forms.opened(session) for _ in range(8)]
    pages: list[str] = []

    def send(form: forms.Form, number: int) -> None:
        try:
            pages.append(form.post(_answered_by=f"Person {number}", **GOOD).text)
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=send, args=pair) for pair in zip(ready, range(8), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kinds = list(Submission.objects.values_list("kind", flat=True))
    assert sorted(kinds) == ["amendment"] * 7 + ["return"]
    assert sum("Thank you. Your answer was sent." in page for page in pages) == 1
    assert sum("Your entries came second" in page for page in pages) == 7
