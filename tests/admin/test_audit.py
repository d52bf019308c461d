"""The audit trail in the admin: read-only, filtered, exported."""

import csv
import io

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

import audit.trail
from audit.export import COLUMNS, cell
from audit.models import Event
from tests import factories

LIST = "/admin/audit/event/"


@pytest.fixture
def trail(db: None) -> None:
    audit.trail.record("handoff.released", actor="owner:1", agent="demo", session="hs_one")
    audit.trail.record("tool.call_rejected", agent="other", reason='=HYPERLINK("x")', tool="+t")


def exported(client: Client, **filters: str) -> list[dict[str, str]]:
    answer = client.get(reverse("admin:audit_event_export"), filters)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    text = b"".join(answer).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_the_export_holds_every_column_and_no_formula(admin: Client, trail: None) -> None:
    rows = exported(admin)
    assert [row["action"] for row in rows] == ["tool.call_rejected", "handoff.released"]
    assert tuple(rows[0]) == COLUMNS
    assert rows[0]["reason"] == '\'=HYPERLINK("x")'
    assert rows[0]["tool"] == "'+t"
    assert rows[0]["at"].endswith("Z")
    assert rows[0]["details"] == "{}"


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\tx", "\rx"])
def test_a_cell_that_a_spreadsheet_would_run_is_quoted(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize(("value", "text"), [(None, ""), ("a=1", "a=1"), (12, "12")])
def test_other_cells_stay_as_they_are(value: object, text: str) -> None:
    assert cell(value) == text


def test_the_export_follows_filters_and_search(admin: Client, trail: None) -> None:
    assert [row["agent"] for row in exported(admin, agent="demo")] == ["demo"]
    assert [row["session"] for row in exported(admin, q="hs_one")] == ["hs_one"]
    assert exported(admin, q="nothing like it") == []
    assert "export/?agent=demo" in admin.get(LIST, {"agent": "demo"}).text


def test_the_export_is_longer_than_a_page_and_than_what_is_read_at_once(
    admin: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audit.export.CHUNK", 50)
    for number in range(120):
        audit.trail.record("channel.tested", channel=number)
    assert [row["channel"] for row in exported(admin)] == [str(n) for n in reversed(range(120))]


def test_the_trail_is_read_only_even_for_a_superuser(admin: Client, trail: None) -> None:
    pk = Event.objects.order_by("pk")[0].pk
    assert admin.get(f"{LIST}add/").status_code == 403
    assert admin.post(f"{LIST}{pk}/change/", {"action": "x"}).status_code == 403
    assert admin.post(f"{LIST}{pk}/delete/", {"post": "yes"}).status_code == 403
    assert Event.objects.get(pk=pk).action == "handoff.released"


def test_the_trail_needs_its_permission(trail: None) -> None:
    user = factories.UserFactory.create(is_staff=True)
    client = Client()
    client.force_login(user)
    export = reverse("admin:audit_event_export")
    assert client.get(export).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_event", name__contains="audit"))
    assert client.get(export).status_code == 200
    assert client.get(LIST).status_code == 200
    assert Client().get(export).status_code == 302
