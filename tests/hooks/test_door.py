"""The door for webhooks: who is believed, what is kept, and the status that a provider needs."""

import json
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import Event as AuditEvent
from handoff.actions.inbound_apply import apply_due
from handoff.actions.refusals import write_folds
from handoff.models import Channel, InboundEvent, Session
from handoff.transports.inbound import BODY_MAX
from tests import factories
from tests.fakes import toy
from tests.fakes.providers import Delivered, Delivery
from tests.fakes.toy_chat import event, said, signed
from tests.fakes.toy_desk import Toys, address, lines, thread_of, toy_channel

pytestmark = pytest.mark.django_db


def deliver(toys: Toys, delivery: Delivery, *, to: str = "") -> Delivered:
    return toys.providers.deliver(delivery, to=to or address(toys.channel), client=toys.client)


def refusals() -> list[str]:
    rows = AuditEvent.objects.filter(action="inbound.refused").order_by("id")
    return list(rows.values_list("reason", flat=True))


@contextmanager
def without(table: str) -> Iterator[None]:
    """The table is not there: a database that refuses."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO gone")
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE gone RENAME TO {table}")


def test_what_is_signed_is_kept_and_then_answered(toys: Toys) -> None:
    _, session = toys.talk()
    answer = toys.post(said("It left.", thread=thread_of(session)))
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["cache-control"] == "no-store"
    row = InboundEvent.objects.get()
    assert row.processed_at is None
    assert json.loads(row.body)["text"] == "It left."


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "unsigned"),
        ({"X-Toy-Signature": "0" * 64}, "bad_signature"),
        ({"X-Toy-Signature": "schl\xfcssel"}, "bad_signature"),
        ({"X-Toy-Timestamp": "-1"}, "unsigned"),
        ({"X-Toy-Timestamp": "1796040000"}, "bad_signature"),
    ],
)
def test_what_is_not_believed_has_no_effect_and_echoes_nothing(
    toys: Toys, headers: dict[str, str], reason: str
) -> None:
    _, session = toys.talk()
    good = signed(said(f"/release {session.release_token}"))
    changed = {**good.headers, **headers} if headers else {}
    answer = deliver(toys, Delivery(body=good.body, headers=changed))
    assert (answer.status, answer.body) == (403, b"")
    assert not InboundEvent.objects.exists()
    assert refusals() == [reason]
    row = AuditEvent.objects.get(action="inbound.refused")
    assert (row.channel, row.agent, row.actor) == (toys.channel.pk, toys.agent.name, "")


def test_an_old_call_and_one_of_another_secret_are_not_believed(toys: Toys) -> None:
    assert toys.post(said("It left."), at=1_796_040_000).status == 403
    assert toys.post(said("It left."), secret="another").status == 403
    assert refusals() == ["stale", "bad_signature"]


def test_without_a_secret_nothing_is_believed(toys: Toys) -> None:
    settings = {**toys.channel.opened_settings(), "hook_secret": ""}
    toys.channel.keep_settings(settings)
    toys.channel.save()
    for secret in ("", "toy-hook-secret"):
        assert toys.post(said("It left."), secret=secret).status == 403
    assert refusals() == ["no_hook_secret"] * 2
    assert not InboundEvent.objects.exists()


def test_what_cannot_be_read_is_taken_where_the_provider_would_repeat_it(toys: Toys) -> None:
    for body in (b"{", b"\xff", b"[1]", b'{"a": 1, "a": 2}', b"[" * 1000, b'["\\ud800"]'):
        assert toys.post(body=body).status == 200
    assert refusals() == ["unreadable"] * 6
    assert not InboundEvent.objects.exists()


def test_unknown_addresses_are_told_apart_by_nobody(toys: Toys, agent: object) -> None:
    inbox = factories.inbox_channel(toys.agent)
    addresses = [
        f"/hooks/toy/{uuid.uuid4()}/",
        f"/hooks/slack/{toys.channel.uuid}/",
        f"/hooks/owner_inbox/{inbox.uuid}/",
        f"/hooks/nonsense/{toys.channel.uuid}/",
        "/hooks/toy/no-uuid/",
    ]
    answers = [deliver(toys, signed(said("It left.")), to=to) for to in addresses]
    assert {(answer.status, answer.body) for answer in answers} == {
        (404, b'{"error": "There is no such address here.", "code": "not_found"}')
    }
    assert refusals() == ["unknown_channel"] * 2
    assert not InboundEvent.objects.exists()


def test_a_body_over_the_limit_of_its_kind_is_refused_unread(
    toys: Toys, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert toys.post(body=b" " * (BODY_MAX + 1)).status == 413
    assert refusals() == ["too_large"]
    monkeypatch.setattr(toy.ToyHook, "body_max", 3 * 1024 * 1024)
    padding = b" " * (3 * 1024 * 1024 - 2)
    assert toys.post(body=b"[" + padding + b"]").status == 200
    assert toys.post(body=b"[ " + padding + b"]").status == 413


def test_a_disabled_channel_still_checks_and_takes(toys: Toys) -> None:
    Channel.objects.update(enabled=False)
    assert toys.post(said("It left."), secret="another").status == 403
    assert toys.post(said("It left.")).status == 200


def test_settings_that_cannot_be_read_are_no_fault_of_the_provider(toys: Toys) -> None:
    Channel.objects.update(sealed_settings="lost")
    answer = toys.post(said("It left."))
    assert (answer.status, answer.headers["retry-after"]) == (503, "60")
    assert refusals() == ["unreadable_settings"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("table", ["handoff_inboundevent", "handoff_channel"])
def test_in_an_outage_the_provider_is_asked_to_come_again(
    toys: Toys, table: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    delivery = signed(said("It left."))
    with caplog.at_level(logging.CRITICAL), without(table):
        assert deliver(toys, delivery).status == 503
        monkeypatch.setattr(toy.ToyHook, "unavailable", 500)
        assert deliver(toys, delivery).status == 500
    assert not InboundEvent.objects.exists()
    assert deliver(toys, delivery).status == 200
    assert InboundEvent.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_without_a_trail_nothing_is_refused_and_nothing_is_dropped(
    toys: Toys, caplog: pytest.LogCaptureFixture
) -> None:
    _, session = toys.talk()
    with caplog.at_level(logging.CRITICAL), without("audit_event"):
        assert toys.post(said("It left."), secret="another").status == 503
        toys.post(said("It left.", thread=thread_of(session)))
        assert apply_due() == 0
    assert InboundEvent.objects.get().processed_at is None
    assert Session.objects.get().joined_name == ""


def test_a_flood_of_refusals_is_one_row_a_minute_for_each_channel(toys: Toys) -> None:
    other = toy_channel(toys.agent, room="sales")
    for _ in range(100):
        toys.post(said("x"), secret="another")
    toys.post(said("x"), secret="another", channel=other)
    assert len(refusals()) == 61
    assert write_folds(unfinished=True) == 1
    folded = AuditEvent.objects.filter(action="inbound.refused").latest("pk")
    assert folded.details == {"calls": 40, "bad_signature": 40}
    assert folded.channel == toys.channel.pk
    assert AuditEvent.objects.filter(action="tool.calls_folded").count() == 0


def test_it_needs_no_session_no_cookie_and_no_token_against_forgery(toys: Toys) -> None:
    toys.client = Client(enforce_csrf_checks=True)
    toys.client.cookies["sessionid"] = "x" * 32
    with CaptureQueriesContext(
        connection,
    ) as asked:
        answer = toys.post(said("It left."))
    assert answer.status == 200
    assert "set-cookie" not in answer.headers
    assert not [query for query in asked.captured_queries if "django_session" in query["sql"]]


def test_many_calls_are_never_too_fast(toys: Toys) -> None:
    assert {toys.post(event("typing")).status for _ in range(150)} == {200}


def test_looking_changes_nothing(toys: Toys) -> None:
    delivery = signed(said("It left."))
    for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
        asked = Delivery(method=method, body=delivery.body, headers=delivery.headers)
        answer = deliver(toys, asked)
        assert answer.status == (200 if method == "GET" else 405)
    assert not InboundEvent.objects.exists()


def test_a_command_is_applied_before_its_answer_which_says_what_became_of_it(toys: Toys) -> None:
    conversation, session = toys.talk()
    thread = thread_of(session)

    def typed(text: str) -> str:
        answer = toys.post({**said(text, thread=thread), "type": "command"})
        assert answer.status == 200
        words: str = answer.json()["text"]
        return words

    assert typed("It left.") == "Passed on to the visitor."
    assert len(lines(conversation)) == 1
    assert typed("/release h7aaaaaaaaaaaaaaaa").startswith("That release line is not recognised.")
    assert typed("/release") == "Released. The assistant has been told."
    assert typed("It left.") == typed("Hello?") != ""
    assert toys.told() == [], "it was said already"


def test_a_command_that_overtakes_the_dispatch_is_told_to_wait(toys: Toys) -> None:
    conversation, session = toys.talk()
    Session.objects.update(status="dispatching")
    typed = {**said("It left.", thread=thread_of(session)), "type": "command"}
    assert toys.post(typed).json() == {"text": "This will be passed on in a moment."}
    assert toys.post(typed).body == b"", "a repeat is taken"
    Session.objects.update(status="active")
    InboundEvent.objects.update(next_attempt_at="2026-01-01T00:00:00Z")
    assert apply_due() == 1
    assert len(lines(conversation)) == 1


def test_a_command_that_breaks_is_kept_and_told_to_wait(
    toys: Toys, caplog: pytest.LogCaptureFixture
) -> None:
    _, session = toys.talk()
    Session.objects.update(expected_return=[{"name": "x", "type": "nonsense"}])
    typed = {**said("/release", thread=thread_of(session)), "type": "command"}
    with caplog.at_level(logging.CRITICAL):
        assert toys.post(typed).json() == {"text": "This will be passed on in a moment."}
    assert InboundEvent.objects.get().processed_at is None
