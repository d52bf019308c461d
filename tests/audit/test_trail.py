"""The trail commits with the fact, keeps nothing personal, and cannot be changed."""

import pytest
from django.db import DatabaseError, connection, transaction

from audit.models import Event
from audit.trail import record, redact

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_event SET action = 'x'",
        "DELETE FROM audit_event",
    ],
)
def test_the_database_refuses_to_change_a_row(statement: str) -> None:
    record("handoff.requested", agent="demo")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert Event.objects.get().action == "handoff.requested"


@pytest.mark.postgres
def test_truncate_is_refused_too() -> None:
    record("handoff.requested")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE audit_event")
    assert Event.objects.count() == 1


def test_replacing_a_row_is_refused_too() -> None:
    event = record("handoff.requested")
    with pytest.raises(DatabaseError), transaction.atomic():
        Event(pk=event.pk, action="handoff.released", details={}).save(force_insert=True)
    if connection.vendor == "sqlite":
        with pytest.raises(DatabaseError), connection.cursor() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO audit_event SELECT * FROM audit_event WHERE id = %s",
                [event.pk],
            )
    assert Event.objects.get().action == "handoff.requested"


def test_a_row_goes_with_its_transaction() -> None:
    with transaction.atomic():
        record("handoff.requested")
        transaction.set_rollback(True)
    assert not Event.objects.exists()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("550 no such user ana@example.com here", "550 no such user ***@*** here"),
        ("GET /r/abc.def/ failed", "GET /r/***/ failed"),
        ("h7abcdefghijklmnop was typed", "h7*** was typed"),
        ("smtp://user:secret@mail.example:25", "smtp://***@mail.example:25"),
        ("Bearer hd_abcdefgh_0123456789abcdef", "Bearer hd_***"),
        ("line\nbreak\x00\u202eflip\udcff", "line break  flip"),
        ("x" * 500, "x" * 400),
    ],
)
def test_what_others_said_is_redacted(text: str, kept: str) -> None:
    event = record("handoff.dispatch_failed", failure=text, reason=text, details={"code": text})
    event.refresh_from_db()
    assert redact(text) == kept
    assert (event.failure, event.reason, event.details) == (kept, kept, {"code": kept})
