"""`/ws/chat` on a real server: frames, replay, turns, typing. The watcher is off."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.realtime.desk import Desk, closing, open_desk, receive, send

pytestmark = pytest.mark.slow

SUBSCRIBER_KEYS = frozenset(
    {"id", "status", "release", "channel_kind", "channel_label", "idle_at", "late"}
) | {"estimated_response", "undelivered"}

EPHEMERAL = frozenset({"v", "type", "at", "conversation", "handoff", "data"})


def test_a_turn_typed_into_the_socket_reaches_both_sides_once(desk: Desk) -> None:
    conversation = desk.conversation()
    with (
        desk.chat(conversation) as (visitor, hello),
        desk.chat(conversation, role="agent") as (front_end, _),
    ):
        assert (hello["v"], hello["conversation"]) == (1, conversation)
        assert hello["data"] == {"latest_event_id": 0, "resumed_from": 0, "heartbeat_s": 25.0}
        assert "id" not in hello
        for _ in range(2):  # a client that is not sure sends again
            send(visitor, "message.send", client_id="one", text=" where is order 1234? ")
        send(visitor, "message.send", client_id="two", text="hello?")
        seen = [receive(visitor) for _ in range(2)]
        assert [receive(front_end)["id"] for _ in range(2)] == [1, 2]
    assert [frame["id"] for frame in seen] == [1, 2]
    message = seen[0]["data"]["message"]
    assert (message["client_id"], message["author"]) == ("one", "subscriber")
    assert (message["text"], message["routed_to"]) == ("where is order 1234?", "agent")


def test_an_agent_front_end_answers_in_the_agents_name(desk: Desk) -> None:
    conversation = desk.conversation()
    with (
        desk.chat(conversation) as (visitor, _),
        desk.chat(conversation, role="agent") as (front_end, _),
    ):
        send(front_end, "message.send", client_id="one", text="How can I help?")
        message = receive(visitor)["data"]["message"]
        assert (message["author"], message["name"]) == ("agent", "Shop bot")
        desk.hand_over(conversation)
        send(front_end, "message.send", client_id="two", text="I am still here")
        assert receive(front_end, "error")["data"]["code"] == "superseded"


def test_a_client_that_comes_back_gets_what_it_missed_and_nothing_twice(desk: Desk) -> None:
    conversation = desk.conversation()
    for number in range(3):
        desk.say(conversation, f"line {number}")
    with desk.chat(conversation, after=1) as (socket, hello):
        assert (hello["data"]["latest_event_id"], hello["data"]["resumed_from"]) == (3, 1)
        desk.say(conversation, "line 3")
        assert [receive(socket)["id"] for _ in range(3)] == [2, 3, 4]
    with desk.chat(conversation) as (socket, hello):
        assert hello["data"]["resumed_from"] == 4, "without a number: from now"
        desk.say(conversation, "line 4")
        assert receive(socket)["id"] == 5


def test_a_client_ahead_of_the_desk_is_told_to_start_again(desk: Desk) -> None:
    conversation = desk.conversation()
    desk.say(conversation, "line 0")
    with desk.chat(conversation, after=99) as (socket, hello):
        assert hello["data"]["resumed_from"] == 0
        assert receive(socket)["data"] == {"reason": "ahead"}
        assert receive(socket)["id"] == 1


def test_a_history_longer_than_one_read_is_replayed_whole(desk: Desk) -> None:
    conversation = desk.conversation()
    for number in range(120):
        desk.say(conversation, f"line {number}")
    with desk.chat(conversation, after=0) as (socket, _):
        assert [receive(socket)["id"] for _ in range(120)] == list(range(1, 121))


def test_the_visitor_sees_the_handoff_and_never_what_was_written_for_the_recipient(
    desk: Desk,
) -> None:
    conversation = desk.conversation()
    with desk.chat(conversation) as (visitor, _):
        desk.hand_over(conversation)
        started = receive(visitor, "handoff.started")
        assert set(started["data"]["handoff"]) <= SUBSCRIBER_KEYS
        assert started["handoff"] == started["data"]["handoff"]["id"]
        send(visitor, "conversation.resume_bot")
        released = receive(visitor, "handoff.released")
        assert released["data"]["handoff"]["release"] == "subscriber"
        send(visitor, "conversation.resume_bot")
        assert receive(visitor, "error")["data"]["code"] == "already_released"
    with desk.chat(conversation, after=0) as (visitor, hello):
        frames = [receive(visitor)]
        while frames[-1]["id"] < hello["data"]["latest_event_id"]:
            frames.append(receive(visitor))
    assert "I cannot see orders" not in str(frames)
    notes = [f for f in frames if "[Bot resumed" in str(f)]
    assert len(notes) == 1


def test_typing_is_shown_to_the_other_side_and_goes_off_by_itself(desk: Desk) -> None:
    conversation = desk.conversation()
    with (
        desk.chat(conversation) as (visitor, _),
        desk.chat(conversation, role="agent") as (front_end, _),
    ):
        send(visitor, "typing", on=True)
        assert receive(front_end)["data"] == {"on": True, "author": "subscriber"}
        assert receive(front_end, seconds=8)["data"] == {"on": False, "author": "subscriber"}
        with pytest.raises(TimeoutError):
            visitor.recv(timeout=0.2)


def test_frames_without_a_number_carry_what_is_listed_here_and_nothing_else(desk: Desk) -> None:
    conversation = desk.conversation()
    desk.say(conversation, "hello")
    listed = {
        "hello": {"latest_event_id", "resumed_from", "heartbeat_s"},
        "reset": {"reason"},
        "typing": {"on", "author"},
        "error": {"code", "error"},
    }
    found = {}
    with desk.chat(conversation, after=99) as (visitor, hello):
        found["hello"] = hello
        found["reset"] = receive(visitor, "reset")
        with desk.chat(conversation, role="agent") as (front_end, _):
            send(front_end, "typing", on=True)
            found["typing"] = receive(visitor, "typing")
        send(visitor, "conversation.resume_bot")
        found["error"] = receive(visitor, "error")
    for type_, keys in listed.items():
        of_error = {"code", "error"} if type_ == "error" else set()
        assert set(found[type_]) == EPHEMERAL | of_error
        assert set(found[type_]["data"]) == keys


def test_a_turn_that_cannot_be_kept_is_refused_and_the_socket_stays(desk: Desk) -> None:
    with desk.chat(desk.conversation()) as (visitor, _):
        for text, word in (("x" * 8001, "8000"), ("  ", "blank")):
            send(visitor, "message.send", client_id="one", text=text)
            refusal = receive(visitor, "error")
            assert refusal["data"]["code"] == "invalid_arguments"
            assert word in refusal["data"]["error"]
        send(visitor, "message.send", client_id="one", text="first")
        send(visitor, "message.send", client_id="one", text="other words")
        assert receive(visitor, "error")["data"]["code"] == "idempotency_reused"
        send(visitor, "message.send", client_id="two", text="still here")
        assert receive(visitor, "message.created")["data"]["message"]["client_id"] in ("one", "two")


def test_every_line_is_seen_once_and_in_order_by_clients_that_come_and_go(desk: Desk) -> None:
    conversation = desk.conversation()
    writers, lines = 4, 40
    seen: list[list[int]] = [[], []]
    done = threading.Event()

    def write(number: int) -> None:
        for line in range(lines):
            desk.say(conversation, f"writer {number} line {line}")

    def follow(ids: list[int], *, leaves_after: int) -> None:
        while not done.is_set() or len(ids) < writers * lines:
            with desk.chat(conversation, after=ids[-1] if ids else 0) as (socket, _):
                for _ in range(leaves_after):
                    if len(ids) == writers * lines:
                        return
                    ids.append(receive(socket, "message.created", seconds=20)["id"])

    with ThreadPoolExecutor(writers + 2) as threads:
        readers = [
            threads.submit(follow, seen[0], leaves_after=1000),
            threads.submit(follow, seen[1], leaves_after=7),
        ]
        for writing in [threads.submit(write, number) for number in range(writers)]:
            writing.result(60)
        done.set()
        for reader in readers:
            reader.result(60)
    assert seen[0] == seen[1] == list(range(1, writers * lines + 1))


def test_a_client_that_never_answers_is_closed_with_4408(tmp_path: Path, empty_desk: Path) -> None:
    with open_desk(tmp_path, empty_desk, HANDOFF_HEARTBEAT_SECONDS="0.5") as desk:
        conversation = desk.conversation()
        with desk.chat(conversation) as (silent, _), desk.chat(conversation) as (alive, _):
            beats = 0
            began = time.monotonic()
            while beats < 5:
                beat = receive(alive, "heartbeat")
                assert set(beat) == EPHEMERAL
                assert beat["data"] == {}
                send(alive, "pong")
                beats += 1
            assert 2 < time.monotonic() - began < 5
            assert closing(silent)[0] == 4408
            desk.sql("UPDATE handoff_agent SET enabled = 0 WHERE name = 'shop'")
            assert closing(alive)[0] == 4403
