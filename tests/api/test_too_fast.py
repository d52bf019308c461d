"""Each limit of the API at n and n + 1, and what no limit may hold up."""

import datetime as dt
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from audit.models import Event as AuditEvent
from handoff.actions import folding
from handoff.actions.refusals import write_folds
from handoff.models import Agent, Bucket, Channel, Conversation, Message, Session
from handoff.tasks import sweep
from tests import factories
from tests.api.conftest import Desk, Reply

pytestmark = pytest.mark.django_db


@pytest.fixture
def inbox(agent: Agent) -> Channel:
    return factories.inbox_channel(agent, contact_limit_per_hour=1000)


def turn(desk: Desk, conversation: Conversation, client_id: str, **changes: Any) -> Reply:
    body = {"client_id": client_id, "author": "subscriber", "text": "Hello", **changes}
    return desk.post(f"conversations/{conversation.public_id}/messages", body)


def ask(desk: Desk, channel: Channel, **more: Any) -> Reply:
    headers = more.pop("headers", None)
    body = {"name": "handoff_request", "args": factories.arguments(channel), **more}
    return desk.post("tool-calls", body, headers)


def wrong(path: str = "/api/v1/me", **headers: str) -> int:
    return Client().get(path, headers={"authorization": "Bearer no", **headers}).status_code


def test_the_thirty_first_handoff_of_an_agent_waits(desk: Desk, inbox: Channel) -> None:
    began = time.monotonic()
    made = 0
    while (reply := ask(desk, inbox)).status_code == 200:
        made += 1
    assert 30 <= made <= 30 + (time.monotonic() - began) / 2 + 1
    assert (reply.status_code, reply.json()["code"]) == (429, "too_fast")
    assert reply.headers["Retry-After"] in {"1", "2"}
    assert Session.objects.count() == made


def test_one_agents_handoffs_are_not_anothers(
    desk: Desk, inbox: Channel, settings: Settings
) -> None:
    settings.HANDOFFS_PER_MINUTE = 1
    assert ask(desk, inbox).status_code == 200
    other = Desk(factories.AgentFactory.create())
    assert ask(other, factories.inbox_channel(other.agent)).status_code == 200
    twin = Desk(desk.agent)
    assert ask(twin, inbox).status_code == 429


def test_a_repeat_is_never_held_up_like_a_new_handoff(
    desk: Desk, inbox: Channel, conversation: Conversation, settings: Settings
) -> None:
    settings.HANDOFFS_PER_MINUTE = 2
    key = {"idempotency-key": "once"}
    first = ask(desk, inbox, headers=key).json()
    place = {"conversation": conversation.public_id}
    assert ask(desk, inbox, **place).status_code == 200
    assert ask(desk, inbox).status_code == 429
    for _ in range(5):
        assert ask(desk, inbox, headers=key).json()["result"] == first["result"]
        assert ask(desk, inbox, **place).json()["result"]["already"] is True


def test_a_handoff_that_was_not_made_is_not_counted_as_one(
    desk: Desk, inbox: Channel, settings: Settings
) -> None:
    settings.HANDOFFS_PER_MINUTE = 1
    for _ in range(3):
        assert desk.call("handoff_request", {"channel_id": inbox.pk})["isError"] is True
    assert ask(desk, inbox).status_code == 200


def test_the_twenty_first_turn_of_a_conversation_waits(
    desk: Desk, conversation: Conversation
) -> None:
    assert [turn(desk, conversation, str(number)).status_code for number in range(20)] == [201] * 20
    Bucket.objects.update(full_at=Now() + dt.timedelta(seconds=1))  # as if all came at once
    reply = turn(desk, conversation, "20")
    assert (reply.status_code, reply.headers["Retry-After"]) == (429, "1")
    assert Message.objects.count() == 20
    other = factories.conversation(desk.agent, "another")
    assert turn(desk, other, "20").status_code == 201


def test_a_repeated_turn_gets_its_stored_decision_however_fast_it_comes(
    desk: Desk, conversation: Conversation, settings: Settings
) -> None:
    settings.TURNS_PER_SECOND = 1
    first = turn(desk, conversation, "1").json()["message"]
    for _ in range(5):
        again = turn(desk, conversation, "1")
        assert (again.status_code, again.json()["message"]) == (201, first)


def test_a_chat_goes_on_while_its_agent_may_not_call(
    desk: Desk, inbox: Channel, conversation: Conversation, settings: Settings
) -> None:
    settings.CALLS_PER_MINUTE = 1
    settings.HANDOFFS_PER_MINUTE = 1
    assert desk.get("me").status_code == 200
    assert desk.get("me").status_code == 429
    assert ask(desk, inbox).status_code == 200
    assert ask(desk, inbox).status_code == 429
    assert turn(desk, conversation, "1").status_code == 201


@pytest.mark.parametrize(
    "call",
    [
        lambda desk, talk: desk.get("me"),
        lambda desk, talk: desk.get("events"),
        lambda desk, talk: desk.post("conversations", {"external_id": "x"}),
        lambda desk, talk: desk.post("tool-calls", {"name": "handoff_status"}),
        lambda desk, talk: desk.post("tool-calls", {"name": "handoff_request"}),
        lambda desk, talk: desk.post("tool-calls", {"name": "nothing"}),
        lambda desk, talk: desk.post("tool-calls", b"{"),
        lambda desk, talk: desk.post("tool-calls", {"name": "x", "y": 1}),
        lambda desk, talk: desk.post(f"conversations/{talk.public_id}/messages", {}),
        lambda desk, talk: desk.post("conversations/c_none/messages", {}),
        lambda desk, talk: turn(desk, talk, "again"),
    ],
    ids=range(11),
)
def test_every_other_call_counts_once(
    call: Any, desk: Desk, conversation: Conversation, settings: Settings
) -> None:
    turn(desk, conversation, "again")
    settings.CALLS_PER_MINUTE = 3
    for _ in range(3):
        assert call(desk, conversation).status_code != 429
    reply = call(desk, conversation)
    assert (reply.status_code, reply.json()["code"]) == (429, "too_fast")
    assert int(reply.headers["Retry-After"]) in range(10, 21)


def test_a_flood_of_refused_handoffs_does_not_fill_the_conversations(
    desk: Desk, settings: Settings
) -> None:
    settings.CALLS_PER_MINUTE = 4
    for number in range(20):
        body = {"name": "handoff_request", "conversation": {"external_id": f"v{number}"}}
        desk.post("tool-calls", body)
    assert Conversation.objects.count() <= 4


def test_me_says_the_limits(desk: Desk, settings: Settings) -> None:
    settings.CALLS_PER_MINUTE = 7
    limits = desk.get("me").json()["limits"]
    assert limits["handoffs_per_minute"] == 30
    assert limits["turns_per_second"] == 20
    assert limits["calls_per_minute"] == 7


def test_an_address_that_is_refused_too_often_hears_so_and_a_good_token_still_works(
    desk: Desk,
) -> None:
    assert [wrong() for _ in range(60)] == [401] * 60
    Bucket.objects.update(full_at=Now() + dt.timedelta(minutes=1))  # as if all came at once
    assert wrong() == 429
    assert desk.get("me").status_code == 200


def test_addresses_count_apart_behind_a_trusted_proxy_only(settings: Settings) -> None:
    settings.REFUSALS_PER_MINUTE = 1
    settings.TRUST_PROXY = True
    assert wrong(**{"x-forwarded-for": "203.0.113.7"}) == 401
    assert wrong(**{"x-forwarded-for": "203.0.113.8"}) == 401
    assert wrong(**{"x-forwarded-for": "6.6.6.6, 203.0.113.8"}) == 429
    settings.TRUST_PROXY = False
    assert wrong(**{"x-forwarded-for": "203.0.113.9"}) == 401
    assert wrong(**{"x-forwarded-for": "203.0.113.10"}) == 429


def test_no_address_is_kept(settings: Settings) -> None:
    settings.TRUST_PROXY = True
    wrong(**{"x-forwarded-for": "203.0.113.7"})
    kept = json.dumps(
        [list(Bucket.objects.values_list()), list(AuditEvent.objects.values_list())], default=str
    )
    assert "203.0.113.7" not in kept
    assert Bucket.objects.get().name.startswith("refused:")


def folded() -> Iterator[tuple[str, dict[str, Any]]]:
    for row in AuditEvent.objects.filter(action="tool.calls_folded").order_by("id"):
        yield row.agent, row.details


def test_a_flood_is_one_row_with_its_count(settings: Settings) -> None:
    settings.REFUSALS_PER_MINUTE = 0
    for number in range(100):
        path = "/api/v1/tool-calls" if number % 2 else "/api/v1/me"
        assert wrong(path) == 401
    assert Client().get("/api/v1/me").status_code == 401
    listed = AuditEvent.objects.filter(action__in=["tool.callback_refused", "access.denied"])
    assert listed.count() == folding.ROWS_A_MINUTE
    assert list(folded()) == []
    assert write_folds() == 0
    assert write_folds(unfinished=True) == 1
    assert list(folded()) == [("", {"calls": 41, "malformed": 40, "missing": 1})]
    assert write_folds(unfinished=True) == 0


def a_minute_passes() -> None:
    for fold in folding._folds.values():
        fold.began -= folding.MINUTE


@pytest.mark.parametrize("by", ["the next refusal", "the sweep"])
def test_a_minute_that_is_over_is_written_by(by: str, settings: Settings) -> None:
    settings.REFUSALS_PER_MINUTE = 0
    for _ in range(folding.ROWS_A_MINUTE + 3):
        wrong()
    a_minute_passes()
    if by == "the sweep":
        sweep()
    else:
        wrong()
    assert list(folded()) == [("", {"calls": 3, "malformed": 3})]
    listed = AuditEvent.objects.filter(action="access.denied").count()
    assert listed == folding.ROWS_A_MINUTE + (by == "the next refusal")


def test_what_could_not_be_written_is_not_lost(settings: Settings) -> None:
    settings.REFUSALS_PER_MINUTE = 0
    for _ in range(folding.ROWS_A_MINUTE + 3):
        wrong()
    a_minute_passes()

    def refuse(*_: object) -> None:
        raise OperationalError("the trail is down")

    with connection.execute_wrapper(refuse), pytest.raises(OperationalError):
        write_folds()
    assert wrong() == 401
    assert list(folded()) == [("", {"calls": 3, "malformed": 3})]


def test_an_agent_that_calls_too_fast_is_folded_by_name_and_hides_nobody_else(
    desk: Desk, settings: Settings
) -> None:
    settings.CALLS_PER_MINUTE = 1
    for _ in range(folding.ROWS_A_MINUTE + 11):
        desk.post("tool-calls", {"name": "handoff_status"})
    wrong("/api/v1/tool-calls")
    rows = AuditEvent.objects.filter(action="tool.call_rejected", reason="too_fast")
    assert rows.count() == folding.ROWS_A_MINUTE
    assert AuditEvent.objects.filter(action="tool.callback_refused").count() == 1
    write_folds(unfinished=True)
    assert list(folded()) == [(desk.agent.name, {"calls": 10, "too_fast": 10})]
