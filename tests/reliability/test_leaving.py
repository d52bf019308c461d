"""SIGTERM while a line is on its way to a recipient: it arrives, and the desk knows that it did."""

import time
from pathlib import Path

import pytest

from tests import factories
from tests.fakes.smtp import SmtpServer
from tests.reliability.doors import Doors
from tests.reliability.place import Place


@pytest.mark.slow
def test_a_line_on_its_way_arrives_before_the_process_ends(
    tmp_path: Path, database_url: str
) -> None:
    with SmtpServer() as smtp:
        place = Place(tmp_path / "desk", database_url, smtp_url=smtp.url)
        try:
            server = place.start()
            server.wait_until_ready()
            doors = Doors(server.port, place.seed)
            asked = {
                "channel_id": place.seed.email,
                "summary": factories.SUMMARY,
                "expected_action": factories.EXPECTED_ACTION,
            }
            assert doors.tool("handoff_request", asked, conversation="ana").status == 200
            smtp.may_answer.clear()
            assert doors.say(doors.conversation("ana"), "on its way", client_id="1").status == 201
            assert "on its way" in smtp.wait_for_message(number=2).text

            server.terminate()
            time.sleep(1.5)
            assert server.process.poll() is None, "it did not wait for its courier"
            smtp.may_answer.set()
            assert server.wait(5) == 0
            assert "left behind" not in server.log()
            [row] = place.rows.read("SELECT status, attempts, lease_until FROM handoff_delivery")
            assert (row["status"], row["attempts"], row["lease_until"]) == ("done", 1, None)
        finally:
            place.stop()
