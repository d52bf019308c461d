"""Whoever may no longer be on a socket is off it within seconds; heartbeats are 25 s apart here."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from websockets.sync.client import ClientConnection

from tests.realtime.desk import Desk, closing, open_desk, receive

pytestmark = pytest.mark.slow

WITHIN_SECONDS: Final = 12.0


@pytest.fixture(scope="module")
def desk(empty_desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One whose watcher looks, as everybody's does."""
    with open_desk(tmp_path_factory.mktemp("desk"), empty_desk, HANDOFF_WATCHER="1") as opened:
        yield opened


@contextlib.contextmanager
def greeted(desk: Desk, path: str, **how: Any) -> Iterator[ClientConnection]:
    with desk.socket(path, **how) as socket:
        assert receive(socket)["type"] == "hello"
        yield socket


def agent_socket(desk: Desk, token: str) -> contextlib.AbstractContextManager[ClientConnection]:
    return greeted(desk, "/ws/agent", headers={"Authorization": f"Bearer {token}"})


def inbox(desk: Desk) -> contextlib.AbstractContextManager[ClientConnection]:
    own = f"http://127.0.0.1:{desk.server.port}"
    return greeted(desk, "/ws/inbox", headers={"Cookie": f"sessionid={desk.owner}"}, origin=own)


def codes(*sockets: ClientConnection) -> list[int]:
    """With which codes these are closed, all of them soon."""
    began = time.monotonic()
    found = [closing(socket, seconds=WITHIN_SECONDS)[0] for socket in sockets]
    assert time.monotonic() - began < WITHIN_SECONDS
    return found


def test_what_is_taken_away_while_a_socket_is_open_ends_it_with_the_right_code(desk: Desk) -> None:
    gone, kept = desk.conversation(), desk.conversation()
    owners = desk.sql("SELECT agent_id, user_id FROM handoff_agent_owners")
    with (
        desk.chat(kept) as (untouched, _),
        agent_socket(desk, desk.token) as own,
        agent_socket(desk, desk.other_token) as revoked,
        desk.chat(gone) as (chat, _),
        inbox(desk) as owner,
    ):
        of_other = "(SELECT id FROM handoff_agent WHERE name = 'other')"
        desk.sql(f"UPDATE handoff_token SET revoked_at = '2026-01-01' WHERE agent_id = {of_other}")
        of_gone = f"(SELECT id FROM handoff_conversation WHERE public_id = '{gone}')"
        desk.sql(f"DELETE FROM handoff_ticket WHERE conversation_id = {of_gone}")
        desk.sql(f"DELETE FROM handoff_conversation WHERE public_id = '{gone}'")
        desk.sql("DELETE FROM handoff_agent_owners")
        assert codes(revoked, chat, owner) == [4401, 4410, 4403]

        for agent, user in owners:
            desk.sql(
                "INSERT INTO handoff_agent_owners (agent_id, user_id) VALUES (?, ?)", agent, user
            )
        desk.say(kept, "still here?")
        assert receive(untouched)["type"] == "message.created"
        assert receive(own)["type"] == "message.created"
        with inbox(desk) as signed_out:
            desk.sql("DELETE FROM django_session")
            desk.sql("UPDATE handoff_agent SET enabled = 0 WHERE name = 'shop'")
            assert codes(untouched, own, signed_out) == [4403, 4401, 4401]
    assert "Traceback" not in desk.server.log()
