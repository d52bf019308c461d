"""A client who leaves while the desk talks is no fault of the desk."""

import threading
import time
from typing import Final

import pytest

from tests.realtime.desk import Desk

ROUNDS: Final = 40
LINES: Final = 4


@pytest.mark.slow
def test_it_is_not_logged_as_a_failed_socket(desk: Desk) -> None:
    """Each round closes the chat at another moment of a burst of lines."""
    conversation = desk.conversation()
    before = len(desk.server.log())
    for number in range(ROUNDS):
        burst = threading.Thread(target=_say, args=(desk, conversation))
        with desk.chat(conversation):
            burst.start()
            time.sleep(number % 20 * 0.005)
        burst.join()
    logged = desk.server.log()[before:]
    assert "a socket failed" not in logged
    assert "Traceback" not in logged


def _say(desk: Desk, conversation: str) -> None:
    for _ in range(LINES):
        desk.say(conversation, "Is anybody there?")
