"""The waiting routes on real rows: polls, the event stream, and who may ask."""

import contextlib
import http.client
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.realtime.desk import Desk, open_desk

pytestmark = pytest.mark.slow

EVENTS = "/api/v1/wait/events"
HANDOFFS = "/api/v1/wait/handoffs"


def test_a_poll_answers_with_the_page_as_soon_as_there_is_something(desk: Desk) -> None:
    conversation, after = desk.conversation(), desk.newest()
    with ThreadPoolExecutor(1) as clients:
        poll = clients.submit(desk.get, EVENTS, after=after, seconds=20)
        time.sleep(0.4)
        assert not poll.done()
        began = time.monotonic()
        turn = desk.say(conversation, "hello")
        status, page = poll.result(5)
        assert time.monotonic() - began < 1
    assert status == 200
    [event] = page["data"]
    assert event["data"]["message"] == turn["message"]
    assert (page["next_after"], page["has_more"]) == (event["id"], False)
    assert desk.get("/api/v1/events", after=after) == (200, page)
    assert desk.get(EVENTS, after=after, seconds=20) == (200, page), "what is there is not awaited"


def test_a_poll_for_nothing_ends_with_an_empty_page(desk: Desk) -> None:
    after, began = desk.newest(), time.monotonic()
    page = {"data": [], "next_after": after, "has_more": False}
    assert desk.get(EVENTS, after=after, seconds=0.5) == (200, page)
    assert 0.4 < time.monotonic() - began < 2
    assert desk.get(EVENTS, after=after, seconds=0) == (200, page)


def test_a_page_is_cut_at_its_limit_and_says_so(desk: Desk) -> None:
    conversation, after = desk.conversation(), desk.newest()
    for number in range(3):
        desk.say(conversation, f"line {number}")
    _, page = desk.get(EVENTS, after=after, limit=2)
    assert (len(page["data"]), page["has_more"]) == (2, True)
    _, rest = desk.get(EVENTS, after=page["next_after"], limit=2)
    assert (len(rest["data"]), rest["has_more"]) == (1, False)


def test_a_wait_for_a_handoff_answers_when_it_moves(desk: Desk) -> None:
    session = desk.hand_over(desk.conversation())
    with ThreadPoolExecutor(2) as clients:
        polls = [
            clients.submit(desk.get, f"{HANDOFFS}/{session}", seconds=20),
            clients.submit(desk.get, f"{HANDOFFS}/{session}", after=desk.newest(), seconds=20),
        ]
        time.sleep(0.4)
        assert not any(poll.done() for poll in polls)
        desk.cancel(session)
        for poll in polls:
            status, handoff = poll.result(5)
            assert (status, handoff["status"], handoff["release"]) == (200, "released", "cancelled")
    assert handoff == desk.get(f"/api/v1/handoffs/{session}")[1]


def test_a_wait_for_a_handoff_answers_at_once_with_what_was_missed(desk: Desk) -> None:
    conversation = desk.conversation()
    after = desk.newest()
    session = desk.hand_over(conversation)
    began = time.monotonic()
    assert desk.get(f"{HANDOFFS}/{session}", after=after)[1]["status"] == "active"
    desk.cancel(session)
    assert desk.get(f"{HANDOFFS}/{session}")[1]["status"] == "released"
    assert time.monotonic() - began < 2
    assert desk.get(f"{HANDOFFS}/{session}", after=desk.newest(), seconds=0.3)[0] == 200


def test_another_agents_handoff_and_an_unknown_one_are_refused_in_the_given_words(
    desk: Desk,
) -> None:
    session = desk.hand_over(desk.conversation())
    denied = "SELECT count(*) FROM audit_event WHERE action = 'access.denied'"
    [(before,)] = desk.sql(denied)
    assert desk.get(f"{HANDOFFS}/{session}", token=desk.other_token) == (
        403,
        {"error": "That token is not for this Bot."},
    )
    assert desk.get(EVENTS, token="hd_nothing") == (401, {"error": "Not authorised."})
    assert desk.sql(denied) == [(before + 2,)]
    status, body = desk.get(f"{HANDOFFS}/hs_nothing")
    assert (status, body["code"]) == (404, "not_found")


def test_a_request_that_cannot_be_used_is_refused_with_every_problem(desk: Desk) -> None:
    status, body = desk.get(EVENTS, after=-1, seconds=26, limit="many")
    assert (status, body["code"]) == (400, "invalid_arguments")
    fields = {problem["field"] for problem in body["details"]["problems"]}
    assert fields == {"after", "seconds", "limit"}
    assert desk.call("POST", EVENTS, {})[0] == 405
    many = EVENTS + "?" + "a=1&" * 21 + "seconds=0"
    assert desk.call("GET", many)[0] == 200, "many fields are no fault"
    assert desk.server.get(EVENTS, headers={"Host": "evil.example"})[0] == 400


def test_the_answers_carry_the_headers_that_middleware_would_set(desk: Desk) -> None:
    with contextlib.closing(desk.server.connection()) as connection:
        connection.request("GET", EVENTS)
        response = connection.getresponse()
        response.read()
    assert response.getheader("WWW-Authenticate") == "Bearer"
    assert response.getheader("Cache-Control") == "no-store"
    assert response.getheader("X-Content-Type-Options") == "nosniff"
    assert response.getheader("X-Request-Id")
    with contextlib.closing(desk.server.connection()) as connection:
        connection.request("PUT", EVENTS)
        assert connection.getresponse().getheader("Allow") == "GET"


@contextlib.contextmanager
def _stream(desk: Desk, after: int, **headers: str) -> Iterator[http.client.HTTPResponse]:
    with contextlib.closing(desk.server.connection(timeout=5)) as connection:
        headers["Authorization"] = f"Bearer {desk.token}"
        connection.request("GET", f"/api/v1/wait/stream?after={after}", headers=headers)
        response = connection.getresponse()
        assert (response.status, response.getheader("Content-Type")) == (200, "text/event-stream")
        yield response


def _next_event(response: http.client.HTTPResponse) -> dict[str, str]:
    """The fields of the next event; comments and `retry` are passed over."""
    fields: dict[str, str] = {}
    while line := response.readline().decode():
        if line.strip():
            name, _, text = line.rstrip("\n").partition(": ")
            fields[name] = text
        elif "data" in fields:
            return fields
        else:
            fields = {}
    raise AssertionError("the stream ended")


def test_the_stream_replays_after_a_number_and_goes_on_with_what_comes(desk: Desk) -> None:
    conversation, after = desk.conversation(), desk.newest()
    desk.say(conversation, "before")
    with _stream(desk, after) as response:
        first = _next_event(response)
        desk.say(conversation, "while\nit is open")
        second = _next_event(response)
    texts = [json.loads(event["data"])["data"]["message"]["text"] for event in (first, second)]
    assert texts == ["before", "while\nit is open"]
    assert (first["id"], first["event"]) == (str(after + 1), "message.created")
    with _stream(desk, 0, **{"Last-Event-ID": first["id"]}) as response:
        assert _next_event(response) == second


@pytest.mark.parametrize("last", ["-1", "x", "٣", "1e3", str(2**63), "9" * 5000])
def test_a_stream_after_what_is_no_event_number_is_refused(desk: Desk, last: str) -> None:
    headers: dict[str, str | bytes] = {
        "Authorization": f"Bearer {desk.token}",
        "Last-Event-ID": last.encode(),
    }
    with contextlib.closing(desk.server.connection(timeout=5)) as connection:
        connection.request("GET", "/api/v1/wait/stream?after=0", headers=headers)
        response = connection.getresponse()
        [problem] = json.loads(response.read())["details"]["problems"]
    assert (response.status, problem["field"]) == (400, "Last-Event-ID")


def test_a_stream_longer_than_a_page_is_replayed_whole(desk: Desk) -> None:
    conversation, after = desk.conversation(), desk.newest()
    for number in range(60):
        desk.say(conversation, f"line {number}")
    with _stream(desk, after) as response:
        ids = [int(_next_event(response)["id"]) for _ in range(60)]
    assert ids == list(range(after + 1, after + 61))


def test_past_the_cap_a_waiter_is_answered_at_once_and_one_who_left_makes_room(
    tmp_path: Path, empty_desk: Path
) -> None:
    with (
        open_desk(tmp_path, empty_desk, HANDOFF_MAX_WAITERS="2") as desk,
        contextlib.ExitStack() as leaving,
    ):
        for path in (f"{EVENTS}?seconds=25", "/api/v1/wait/stream"):
            connection = leaving.enter_context(contextlib.closing(desk.server.connection()))
            connection.request("GET", path, headers={"Authorization": f"Bearer {desk.token}"})
        time.sleep(0.5)
        began = time.monotonic()
        assert desk.get(EVENTS, seconds=20)[0] == 200
        with _stream(desk, 0) as response:
            assert b"retry" in response.read(), "the stream said what there was and ended"
        assert time.monotonic() - began < 1
        leaving.close()
        time.sleep(0.5)
        began = time.monotonic()
        assert desk.get(EVENTS, seconds=1)[0] == 200
        assert time.monotonic() - began > 0.9
