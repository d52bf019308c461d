"""Events, waits and turns over connections that break, and the words when the desk says no."""

import asyncio
import json
import threading
import time
from typing import Any

import pytest

from handoff_client import AsyncDesk, Desk, Events
from tests.client.raw_server import (
    Peer,
    RawServer,
    Script,
    answer,
    hang,
    hang_after_head,
    reset,
)
from tests.client.test_reading import INCOMPLETE, TOKEN

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 2000\n\n"
REFUSED = "Refused. Tool callback returned HTTP 401. Not authorised."


def event(number: int) -> dict[str, Any]:
    return {"id": number, "type": "message.created", "data": {}}


def page(*numbers: int) -> bytes:
    return answer(200, {"data": [event(n) for n in numbers], "next_after": 9, "has_more": False})


def said(*numbers: int) -> bytes:
    """Events on the wire, with a comment between them and every kind of line end."""
    lines = b": still here\n\n"
    for number in numbers:
        data = json.dumps(event(number)).replace(", ", ",\ndata:").encode()
        lines += b"id: %d\r\nevent: message.created\ndata: %s\n\n" % (number, data)
    return lines


def numbers(events: Events) -> list[int]:
    return [found["id"] for found in events]


@pytest.mark.slow
def test_polls_go_on_behind_the_last_event_through_every_break() -> None:
    scripts: list[Script] = [page(1, 2), reset, answer(503), page(2, 3), page(), b"", page(4)]
    with RawServer(*scripts, answer(401, {"error": "Not authorised."})) as server:
        events = Desk(server.url, TOKEN).events(after=0, seconds=60)
        assert numbers(events) == [1, 2, 3, 4]
    assert (events.after, events.refusal and events.refusal.text) == (4, REFUSED)
    after = [asked.target.partition("after=")[2].partition("&")[0] for asked in server.asked]
    assert after == ["0", "2", "2", "2", "3", "3", "3", "4"]
    assert all("limit=200&seconds=25.0" in asked.target for asked in server.asked)


@pytest.mark.slow
def test_a_stream_is_taken_up_where_it_broke() -> None:
    half = said(3)[:-9]
    scripts: list[Script] = [STREAM + said(1, 2) + half, reset, STREAM, STREAM + said(2, 3)]
    with RawServer(*scripts, answer(403, {"error": "No."})) as server:
        events = Desk(server.url, TOKEN).events(after=0, seconds=60, stream=True)
        assert numbers(events) == [1, 2, 3]
    assert events.refusal is not None
    assert events.refusal.text == "Refused. Tool callback returned HTTP 403. No."
    assert [asked.headers["last-event-id"] for asked in server.asked] == ["0", "2", "2", "2", "3"]
    assert server.asked[1].target == "/api/v1/wait/stream?after=2"
    assert server.asked[0].headers["accept"] == "text/event-stream"


def test_an_event_comes_out_while_the_stream_is_open() -> None:
    def script(peer: Peer, over: threading.Event) -> None:
        peer.sendall(STREAM + said(7))
        over.wait(20)

    with RawServer(script) as server:
        events = Desk(server.url, TOKEN).events(stream=True)
        began = time.monotonic()
        assert next(events) == event(7)
        assert time.monotonic() - began < 5
        events.close()
        assert list(events) == []


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("script", [hang, hang_after_head, page(), reset, answer(503)])
def test_events_end_with_their_seconds(script: Script, stream: bool) -> None:
    with RawServer(script) as server:
        began = time.monotonic()
        events = Desk(server.url, TOKEN).events(seconds=1, stream=stream)
        assert numbers(events) == []
        assert 0.8 < time.monotonic() - began < 6
        assert events.refusal is None


def test_without_a_token_nothing_is_waited_for() -> None:
    desk = Desk("http://127.0.0.1:1", None)
    for stream in (False, True):
        events = desk.events(stream=stream)
        assert list(events) == []
        assert events.refusal is not None
        assert events.refusal.code == "no_credential"
    assert desk.wait_resumed("hs_1", seconds=60).code == "no_credential"
    turn = desk.post_turn("c_1", "hello")
    assert turn.refusal is not None
    assert turn.refusal.code == "no_credential"


def handoff(status: str) -> bytes:
    return answer(200, {"id": "hs_1", "status": status})


NOTE = {"text": "[Bot resumed — …]", "isError": False, "result": {"handoff": {"values": {"n": 1}}}}


@pytest.mark.slow
def test_a_wait_lasts_through_restarts_until_the_release() -> None:
    scripts: list[Script] = [handoff("active"), reset, answer(502), handoff("released")]
    with RawServer(*scripts, answer(200, NOTE)) as server:
        found = Desk(server.url, TOKEN).wait_resumed("hs_1", seconds=60)
    assert (found.text, found.handoff) == ("[Bot resumed — …]", {"values": {"n": 1}})
    assert [asked.target for asked in server.asked] == [
        *["/api/v1/wait/handoffs/hs_1?seconds=25.0"] * 4,
        "/api/v1/tool-calls",
    ]
    assert server.asked[-1].json()["args"] == {"handoff_session_id": "hs_1"}


@pytest.mark.slow
def test_a_wait_that_is_over_says_what_holds() -> None:
    open_still = {"text": "Sales was notified and has not answered yet.", "isError": False}
    with RawServer(handoff("active"), answer(200, open_still)) as server:
        began = time.monotonic()
        found = Desk(server.url, TOKEN).wait_resumed("hs_1", seconds=0.5)
        assert 0.4 < time.monotonic() - began < 6
    assert found.text == open_still["text"]


@pytest.mark.slow
def test_an_end_whose_words_are_lost_is_asked_for_again() -> None:
    scripts: list[Script] = [handoff("released"), reset, reset, handoff("released")]
    with RawServer(*scripts, answer(200, NOTE)) as server:
        found = Desk(server.url, TOKEN).wait_resumed("hs_1", seconds=30)
    assert found.text == "[Bot resumed — …]"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 302])
def test_a_wait_that_is_refused_is_an_answer_at_once(status: int) -> None:
    with RawServer(answer(status, {"error": "No."})) as server:
        found = Desk(server.url, TOKEN).wait_resumed("hs/../1", seconds=60)
    assert found.text == f"Refused. Tool callback returned HTTP {status}. No."
    [asked] = server.asked
    assert asked.target.startswith("/api/v1/wait/handoffs/hs%2F..%2F1?")


@pytest.mark.slow
def test_an_event_loop_is_free_while_it_waits() -> None:
    with RawServer(reset, handoff("active"), handoff("released"), answer(200, NOTE)) as server:
        desk = AsyncDesk(Desk(server.url, TOKEN))

        async def waited() -> tuple[str, int]:
            wait, ticks = asyncio.create_task(desk.wait_resumed("hs_1", seconds=30)), 0
            while not wait.done():
                await asyncio.sleep(0.01)
                ticks += 1
            return wait.result().text, ticks

        text, ticks = asyncio.run(waited())
    assert text == "[Bot resumed — …]"
    assert ticks > 20


@pytest.mark.slow
def test_a_cancelled_call_is_not_answered() -> None:
    with RawServer(hang) as server:
        desk = AsyncDesk(Desk(server.url, TOKEN, timeout=1))

        async def cancelled() -> None:
            call = asyncio.create_task(desk.call("x", {}))
            await asyncio.sleep(0.2)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

        asyncio.run(cancelled())


def turn(*notes: int) -> bytes:
    body = {
        "message": {"routed_to": "agent"},
        "bypass": False,
        "handoff": None,
        "context": [{"event_id": number, "text": f"note {number}"} for number in notes],
    }
    return answer(201, body)


def test_notes_are_acknowledged_by_the_next_line_that_was_stored() -> None:
    scripts = [turn(4, 6), answer(429, {"error": "Slow down."}), turn(6, 8), turn(), turn()]
    with RawServer(*scripts) as server:
        desk = Desk(server.url, TOKEN)
        first = desk.post_turn("c_1", "hello")
        assert [note["text"] for note in first.notes] == ["note 4", "note 6"]
        refused = desk.post_turn("c_1", "again", author="agent")
        assert refused.refusal is not None
        assert refused.refusal.code == "http_429"
        desk.post_turn("c_1", "again", author="agent", client_id="a")
        desk.post_turn("c_1", "more", acknowledge=False)
        desk.post_turn("c_1", "and more")
        desk.post_turn("c_1", "the last")
    sent = [asked.json() for asked in server.asked]
    assert [body.get("ack_event_id") for body in sent] == [None, 6, 6, None, 8, None]
    assert sent[2] == {"client_id": "a", "author": "agent", "text": "again", "ack_event_id": 6}
    assert len({body["client_id"] for body in sent}) == 6


def test_what_a_turn_says() -> None:
    bypassed = answer(201, {"message": {}, "bypass": True, "handoff": {}, "context": None})
    late = answer(200, {"message": {}, "bypass": True, "code": "superseded", "context": []})
    with RawServer(bypassed, late, answer(201, {"bypass": False}), reset) as server:
        desk = Desk(server.url, TOKEN, timeout=5)
        first, second, odd, lost = (desk.post_turn("c_1", "hello") for _ in range(4))
    assert (first.bypass, first.superseded, first.notes, first.refusal) == (True, False, [], None)
    assert (second.bypass, second.superseded) == (True, True)
    assert odd.refusal is not None
    assert odd.refusal.code == "unreadable"
    assert lost.refusal is not None
    assert lost.refusal.text == INCOMPLETE
    assert lost.result == {}


def test_a_conversation_may_be_named_by_your_own_id() -> None:
    made = answer(201, {"id": "c_9", "external_id": "v/1"})
    with RawServer(made, turn()) as server:
        assert Desk(server.url, TOKEN).post_turn({"external_id": "v/1"}, "hi").refusal is None
    assert server.asked[0].json() == {"external_id": "v/1", "subscriber": {}}
    assert server.asked[1].target == "/api/v1/conversations/c_9/messages"


@pytest.mark.parametrize("body", [b"", answer(200, {"id": 7})[:-1], b"[]"])
def test_a_conversation_that_cannot_be_read_is_a_refusal(body: bytes) -> None:
    with RawServer(body if body.startswith(b"HTTP") else answer(200, body)) as server:
        turn = Desk(server.url, TOKEN, timeout=3).post_turn({"external_id": "v"}, "hi")
    assert turn.refusal is not None


TOOLS = [{"name": "handoff_request", "inputSchema": {}}]


def test_tools_are_the_ones_that_the_desk_lists() -> None:
    with RawServer(answer(200, {"tools": TOOLS})) as server:
        assert Desk(server.url, TOKEN).tools("openai", strict=True) == TOOLS
    assert server.asked[0].target == "/api/v1/tools?format=openai&strict=1"


@pytest.mark.parametrize("sent", [answer(503), answer(200, {"tools": [1]}), answer(200), reset])
def test_a_desk_that_lists_none_leaves_the_tools_that_every_agent_has(sent: Script) -> None:
    with RawServer(sent) as server:
        desk = Desk(server.url, TOKEN, timeout=3)
        names = ["handoff_request", "handoff_status", "handoff_cancel", "ask_a_person"]
        assert [tool["name"] for tool in desk.tools()] == names
        assert [tool["function"]["name"] for tool in desk.tools("openai")] == names
        assert [tool["parameters"]["type"] for tool in desk.tools("openai_responses")] == [
            "object"
        ] * 4
        assert all(tool["input_schema"] for tool in desk.tools("anthropic"))
