"""Who may open a socket, what may be said on it, and how each refusal looks."""

import contextlib
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import pytest
from websockets.exceptions import ConnectionClosed

from handoff import links
from tests.realtime.desk import Desk, closing, receive, send

pytestmark = pytest.mark.slow


def _refused(desk: Desk, path: str, **how: Any) -> tuple[int, str]:
    with desk.socket(path, **how) as socket:
        return closing(socket)


def _chat(ticket: str, **query: object) -> str:
    return "/ws/chat?" + urlencode({"ticket": ticket, **query})


def test_a_ticket_opens_one_socket_once(desk: Desk) -> None:
    ticket = desk.ticket(desk.conversation())
    with desk.socket(_chat(ticket)) as socket:
        assert receive(socket)["type"] == "hello"
    words = "That ticket is not valid: ask for a new one."
    assert _refused(desk, _chat(ticket)) == (4401, words)


def test_of_many_sockets_with_one_ticket_one_is_opened(desk: Desk) -> None:
    path = _chat(desk.ticket(desk.conversation()))
    start = threading.Barrier(5)

    def knock(_: int) -> str:
        start.wait()
        with desk.socket(path) as socket:
            return str(receive(socket)["type"])

    with ThreadPoolExecutor(5) as clients:
        assert sorted(clients.map(knock, range(5))) == ["error"] * 4 + ["hello"]


def test_a_ticket_opens_its_conversation_and_its_role_and_no_other(desk: Desk) -> None:
    mine, other = desk.conversation(), desk.conversation()
    desk.say(other, "not for me")
    desk.hand_over(mine)
    asked = {"conversation": other, "role": "agent", "last_event_id": 0}
    with desk.socket(_chat(desk.ticket(mine), **asked)) as visitor:
        assert receive(visitor, "hello")["conversation"] == mine
        send(visitor, "message.send", client_id="one", text="hello")
        frame = receive(visitor, "message.created")
        assert (frame["conversation"], frame["data"]["message"]["author"]) == (mine, "subscriber")
        claim = {"author": "agent", "conversation": other}
        send(visitor, "message.send", client_id="two", text="hello", **claim)
        assert closing(visitor)[0] == 4400
    with desk.chat(mine, role="agent") as (front_end, _):
        send(front_end, "conversation.resume_bot")
        assert receive(front_end, "error")["data"]["code"] == "not_granted"
        assert desk.get(f"/api/v1/conversations/{mine}")[1]["handoff"]["status"] == "active"


@pytest.mark.parametrize("ticket", ["", "nonsense", links.ticket_token("a" * 26)])
def test_a_ticket_that_was_not_given_opens_nothing(desk: Desk, ticket: str) -> None:
    assert _refused(desk, _chat(ticket))[0] == 4401


def test_a_return_link_and_an_expired_ticket_open_nothing(desk: Desk) -> None:
    ticket = desk.ticket(desk.conversation())
    desk.sql("UPDATE handoff_ticket SET expires_at = datetime('now', '-1 second')")
    assert _refused(desk, _chat(ticket))[0] == 4401
    ticket_id = links.read_ticket_token(desk.ticket(desk.conversation())) or "a" * 26
    assert _refused(desk, _chat(links.return_token(ticket_id)))[0] == 4401


def test_a_page_of_another_site_needs_to_be_on_the_agents_list(desk: Desk) -> None:
    conversation = desk.conversation()
    path = _chat(desk.ticket(conversation))
    assert _refused(desk, path, origin="https://evil.example")[0] == 4403
    own = f"http://127.0.0.1:{desk.server.port}"
    with desk.socket(_chat(desk.ticket(conversation)), origin=own) as socket:
        assert receive(socket)["type"] == "hello"
    desk.sql("UPDATE handoff_agent SET allowed_origins = '[\"https://shop.example\"]'")
    shop = "https://shop.example"
    with desk.socket(_chat(desk.ticket(conversation)), origin=shop) as socket:
        assert receive(socket)["type"] == "hello"
    desk.sql("UPDATE handoff_agent SET allowed_origins = '[]'")
    assert _refused(desk, _chat(desk.ticket(conversation)), origin=shop)[0] == 4403


@pytest.mark.parametrize(
    "frame",
    [
        "not json",
        "[]",
        '{"v": 2, "type": "pong"}',
        '{"v": 1, "type": "hello"}',
        '{"v": 1, "type": "typing", "data": {"on": "yes"}}',
        '{"v": 1, "type": "ack", "data": {}}',
        '{"v": 1, "type": "pong", "extra": 1}',
        '{"v": 1, "type": "message.send", "data": {"client_id": "a", "text": "\\ud800"}}',
        b"\x00",
    ],
)
def test_a_frame_outside_the_contract_closes_the_socket(desk: Desk, frame: str | bytes) -> None:
    with desk.chat(desk.conversation()) as (socket, _):
        socket.send(frame)
        assert closing(socket)[0] == 4400


def test_a_bad_number_to_resume_from_is_refused(desk: Desk) -> None:
    ticket = desk.ticket(desk.conversation())
    assert _refused(desk, _chat(ticket, last_event_id="-1"))[0] == 4400


def test_a_message_over_64_kib_is_too_big(desk: Desk) -> None:
    with desk.chat(desk.conversation()) as (socket, _):
        socket.send("x" * 65_537)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=5)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
    with desk.chat(desk.conversation()) as (socket, _):
        socket.send("x" * 65_536)
        assert closing(socket)[0] == 4400, "64 KiB are taken, and read"


def test_a_flood_of_frames_is_too_fast(desk: Desk) -> None:
    with desk.chat(desk.conversation()) as (socket, _):
        for _ in range(60):
            send(socket, "pong")
        assert closing(socket) == (4429, "Too many frames a second.")
    with desk.chat(desk.conversation()) as (socket, hello):
        for _ in range(19):
            send(socket, "ack", last_event_id=hello["data"]["latest_event_id"])
        send(socket, "message.send", client_id="one", text="the twentieth")
        assert receive(socket)["data"]["message"]["text"] == "the twentieth"


def test_more_frames_than_are_taken_are_too_many_even_while_one_waits(desk: Desk) -> None:
    """A turn waits for another writer's lock; what comes meanwhile must not pile up."""
    with (
        desk.chat(desk.conversation()) as (socket, _),
        contextlib.closing(sqlite3.connect(desk.file, isolation_level=None)) as writer,
    ):
        writer.execute("BEGIN IMMEDIATE")
        send(socket, "message.send", client_id="one", text="hello")
        time.sleep(0.3)
        for _ in range(100):
            send(socket, "pong")
        assert closing(socket, seconds=8) == (4429, "Too many frames at once.")
        writer.execute("ROLLBACK")


def test_a_conversation_has_at_most_five_sockets(desk: Desk) -> None:
    conversation = desk.conversation()
    with contextlib.ExitStack() as sockets:
        for _ in range(4):
            sockets.enter_context(desk.chat(conversation))
        with desk.chat(conversation):
            assert _refused(desk, _chat(desk.ticket(conversation)))[0] == 4429
        with desk.chat(conversation):
            pass


@pytest.mark.parametrize("path", ["/ws/nothing", "/", "/ws/chat/", "/ws/inbox/x?ticket=1"])
@pytest.mark.parametrize("origin", [None, "null", "https://evil.example"])
def test_an_address_without_a_socket_says_so_and_closes(
    desk: Desk, path: str, origin: str | None
) -> None:
    assert _refused(desk, path, origin=origin) == (4410, "There is no socket at this address.")


def test_a_page_without_an_origin_of_its_own_is_told_why_it_may_not_enter(desk: Desk) -> None:
    path = _chat(desk.ticket(desk.conversation()))
    words = "This page may not open that socket."
    assert _refused(desk, path, origin="null") == (4403, words)
    assert _refused(desk, "/ws/inbox", **(_inbox(desk, desk.owner) | {"origin": "null"})) == (
        4403,
        words,
    )
    assert _refused(desk, "/ws/agent", origin="null") == (4403, words)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_the_agents_socket_carries_its_whole_log(desk: Desk) -> None:
    conversation, after = desk.conversation(), desk.newest()
    desk.say(conversation, "before")
    path = f"/ws/agent?last_event_id={after}"
    with desk.socket(path, headers=_bearer(desk.token)) as socket:
        hello = receive(socket)
        assert (hello["data"]["latest_event_id"], hello["data"]["resumed_from"]) == (
            after + 1,
            after,
        )
        desk.hand_over(conversation)
        frames = [receive(socket) for _ in range(3)]
    assert [frame["id"] for frame in frames] == [after + 1, after + 2, after + 3]
    assert [frame["type"] for frame in frames][:2] == ["message.created", "handoff.requested"]
    events = desk.get("/api/v1/events", after=after)[1]["data"]
    assert [frame["data"]["id"] for frame in frames] == [event["id"] for event in events[:3]]
    assert frames[0]["data"] == events[0]


def test_the_agents_socket_needs_its_token_and_takes_no_turns(desk: Desk) -> None:
    assert _refused(desk, "/ws/agent") == (4401, "Not authorised.")
    assert _refused(desk, "/ws/agent", headers=_bearer("hd_no"))[0] == 4401
    with desk.socket("/ws/agent", headers=_bearer(desk.token)) as socket:
        receive(socket)
        send(socket, "message.send", client_id="one", text="hello")
        assert closing(socket)[0] == 4400


def _inbox(desk: Desk, session: str) -> dict[str, Any]:
    """How an owner's own page opens its socket."""
    own = f"http://127.0.0.1:{desk.server.port}"
    return {"headers": {"Cookie": f"sessionid={session}"}, "origin": own}


def test_an_owners_inbox_is_nudged_with_ids_alone(desk: Desk) -> None:
    conversation = desk.conversation()
    with desk.socket("/ws/inbox", **_inbox(desk, desk.owner)) as socket:
        assert receive(socket)["data"]["latest_event_id"] is None
        session = desk.hand_over(conversation)
        nudges = [receive(socket)]
        while nudges[-1]["data"]["handoff"] is None:
            nudges.append(receive(socket))
    assert nudges[-1]["data"] == {"agent": "shop", "conversation": conversation, "handoff": session}
    assert "id" not in nudges[-1]


def test_an_inbox_needs_a_session_an_agent_and_our_own_page(desk: Desk) -> None:
    assert _refused(desk, "/ws/inbox", **_inbox(desk, "nothing"))[0] == 4401
    assert _refused(desk, "/ws/inbox", **_inbox(desk, desk.stranger))[0] == 4403
    elsewhere = _inbox(desk, desk.owner) | {"origin": "https://evil.example"}
    assert _refused(desk, "/ws/inbox", **elsewhere)[0] == 4403
    nowhere = _inbox(desk, desk.owner) | {"origin": None}
    assert _refused(desk, "/ws/inbox", **nowhere)[0] == 4403
