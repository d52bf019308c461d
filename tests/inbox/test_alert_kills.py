"""A server is killed while it mails an owner: the mail is neither lost nor two different ones."""

import datetime as dt
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import environment
from tests.config.servers import running
from tests.fakes.smtp import Mode, SmtpServer
from tests.reliability.rows import Rows

pytestmark = pytest.mark.slow


def test_an_alert_survives_the_process_that_was_sending_it(
    tmp_path: Path, database_url: str
) -> None:
    folder = tmp_path / "desk"
    folder.mkdir(mode=0o700)
    rows = Rows(database_url)
    with SmtpServer() as smtp:
        environ = {"EMAIL_URL": smtp.url, "HANDOFF_WATCHER": "0", "HANDOFF_WORKER_SECONDS": "0.2"}
        whole = environment.clean_environment(folder) | environ | {"DATABASE_URL": database_url}
        for program in (["manage.py", "prepare"], ["-m", "tests.inbox.alert_story"]):
            command = [sys.executable, *program]
            subprocess.run(command, cwd=environment.ROOT, env=whole, check=True, timeout=120)

        smtp.mode = Mode.HANG_AFTER_DOT
        with running(folder, database_url, settings="config.settings", environ=environ) as server:
            first = smtp.wait_for_message(seconds=30)
            server.process.kill()
            server.wait(10)
        assert rows.read("SELECT status, attempts FROM handoff_alert") == [
            {"status": "due", "attempts": 1}
        ]

        smtp.mode = Mode.ACCEPT
        long_ago = dt.datetime.now(dt.UTC) - dt.timedelta(days=1)
        rows.write(f"UPDATE handoff_alert SET lease_until = '{long_ago:%Y-%m-%d %H:%M:%S}'")
        with running(folder, database_url, settings="config.settings", environ=environ):
            second = smtp.wait_for_message(number=2, seconds=30)
            deadline = time.monotonic() + 10
            while rows.read("SELECT status FROM handoff_alert") != [{"status": "done"}]:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            time.sleep(1)
        assert len(smtp.messages) == 2, "what is done is not sent again"
    assert first.message["Message-ID"] == second.message["Message-ID"]
    assert "Nobody has opened it yet." in second.text
