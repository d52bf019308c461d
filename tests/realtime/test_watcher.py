"""Without a nudge that reaches them, listeners still learn of new rows within seconds."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.config.servers import running
from tests.realtime.desk import PRODUCT, Desk, open_desk, receive

pytestmark = pytest.mark.slow


def test_rows_of_another_process_are_found_by_their_counters(
    tmp_path: Path, empty_desk: Path
) -> None:
    with (
        open_desk(tmp_path, empty_desk, HANDOFF_WATCHER="1") as desk,
        running(tmp_path / "two", f"sqlite:///{desk.file}", settings=PRODUCT) as second,
        ThreadPoolExecutor(1) as clients,
    ):
        seed = {name: getattr(desk, name) for name in ("token", "other_token", "channel")}
        other = Desk(second, desk.file, seed | {"owner": desk.owner, "stranger": desk.stranger})
        conversation = desk.conversation()
        with desk.chat(conversation) as (socket, _):
            poll = clients.submit(desk.get, "/api/v1/wait/events", after=desk.newest())
            time.sleep(2.5)  # the counters were seen once before they move
            began = time.monotonic()
            other.say(conversation, "hello")
            assert receive(socket, "message.created")["data"]["message"]["text"] == "hello"
            assert poll.result(5)[1]["data"]
            assert time.monotonic() - began < 3.5
