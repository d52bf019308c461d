"""The form itself: its order, its controls, its markup."""

import re

import pytest

from handoff.models import Session
from tests.returnforms import forms


def html_of(session: Session) -> str:
    response = forms.browser().get(forms.path_of(session))
    assert response.status_code == 200
    return response.text


def test_the_page_says_first_what_is_needed_then_why(session: Session) -> None:
    html = html_of(session)
    told = [
        "</strong> for help.</p>",
        session.expected_action,
        session.summary,
        "Your answer",
        "Send",
    ]
    places = [html.index(words) for words in told]
    assert places == sorted(places)
    assert "<title>" + str(session.agent) + " asks for your help</title>" in html
    assert "the visitor goes back to the assistant; the form stays open" in html


def test_fields_stand_in_schema_order(session: Session) -> None:
    names = [
        name
        for name in dict.fromkeys(forms.Document(html_of(session)).values("name"))
        if name.startswith("value.")
    ]
    assert names == [f"value.{field['name']}" for field in forms.EVERY_TYPE]


def test_each_type_has_the_control_of_the_table(session: Session) -> None:
    elements = forms.Document(html_of(session)).elements
    kinds: dict[str, list[dict[str, str | None]]] = {}
    for tag, attrs in elements:
        if (attrs.get("name") or "").startswith("value."):
            kinds.setdefault(str(attrs["name"])[6:], []).append({"tag": tag, **attrs})
    assert kinds["carrier"][0]["type"] == "text"
    assert kinds["notes"][0]["tag"] == "textarea"
    assert (kinds["refund"][0]["type"], kinds["refund"][0]["inputmode"]) == ("text", "decimal")
    assert [item["value"] for item in kinds["call_back"]] == ["true", "false", ""]
    assert [item["value"] for item in kinds["order_status"]] == ["processing", "shipped"]
    assert kinds["warehouse"][0]["tag"] == "select"
    assert kinds["eta_date"][0]["type"] == "date"
    address = kinds["tracking_url"][0]
    assert (address["inputmode"], address["autocapitalize"], address["spellcheck"]) == (
        "url",
        "none",
        "false",
    )
    assert not any("checked" in item for items in kinds.values() for item in items)
    assert "maxlength" not in html_of(session)


def test_a_required_boolean_has_no_way_to_leave_it_open(db: None) -> None:
    field = {"name": "paid", "type": "boolean", "label": "Paid?", "required": True}
    html = html_of(forms.requested([field]))
    assert "No answer" not in html
    assert html.count('name="value.paid"') == 2


def test_a_placeholder_becomes_a_hint(session: Session) -> None:
    html = html_of(session)
    assert "For example, <bdi>Northern Post</bdi>" in html
    assert "placeholder=" not in html


def test_a_request_without_fields_asks_for_outcome_and_note(db: None) -> None:
    html = html_of(forms.requested([]))
    assert 'name="outcome"' in html
    assert "questions answered" not in html


def test_the_count_is_said_in_words(session: Session) -> None:
    assert "0 of 8 questions answered</p>" in html_of(session)
    answer = forms.opened(session).post(carrier="Post", refund="1")
    assert "2 of 8 questions answered</p>" in answer.text


def test_transcript_and_context_are_folded(db: None) -> None:
    html = html_of(forms.requested(extra_context={"order": "1234"}))
    assert "<summary>More context</summary>" in html
    assert "<details open" not in html


def test_what_an_agent_wrote_is_escaped_and_its_direction_is_shown(db: None) -> None:
    hostile = "<img src=x onerror=alert(1)>\"'{{ 7 }} \u202etxt"
    field = {
        "name": "x",
        "type": "enum",
        "label": hostile,
        "description": hostile,
        "placeholder": hostile,
        "enum_values": [hostile, "b"],
    }
    html = html_of(
        forms.requested([field], summary=hostile + "." * 20, expected_action=hostile + "." * 10)
    )
    assert "<img src=x" not in html
    assert "\u202e" not in re.sub(r'value="[^"]*"', "", html)
    assert "\\u202etxt" in html


@pytest.mark.parametrize("state", ["form", "problems", "untouched", "confirmation", "answered"])
def test_every_page_is_well_formed_and_has_nothing_inline(session: Session, state: str) -> None:
    form = forms.opened(session)
    match state:
        case "form":
            html = html_of(session)
        case "problems":
            html = form.post(refund="1,234", _note="x" * 1001, _answered_by="n" * 101).text
        case "untouched":
            html = form.post().text
        case "confirmation":
            html = form.post(order_status="shipped", refund="x", _send_anyway="1").text
        case _:
            form.post(order_status="shipped")
            html = forms.browser().get(form.path).text
    document = forms.Document(html)
    assert document.faults == []
    ids = list(document.values("id"))
    assert sorted(ids) == sorted(set(ids))
    referred = {
        part
        for attribute in ("for", "aria-describedby", "aria-labelledby")
        for value in document.values(attribute)
        for part in value.split()
    }
    referred |= {value[1:] for value in document.values("href") if value.startswith("#")}
    assert referred <= set(ids)
    for tag, attrs in document.elements:
        assert tag != "style"
        assert tag != "script" or attrs.get("src")
        assert not [name for name in attrs if name == "style" or name.startswith("on")]
    sources = [*document.values("src"), *document.values("href"), *document.values("action")]
    assert all(source.startswith(("/static/", "#")) for source in sources)


def test_languages_read_from_right_to_left_turn_the_page(session: Session) -> None:
    response = forms.browser().get(forms.path_of(session), headers={"Accept-Language": "ar"})
    assert '<html lang="ar" dir="rtl">' in response.text
