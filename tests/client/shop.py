"""A running desk with an agent and a mailbox, for clients in other processes."""

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests import environment, programs
from tests.config.servers import Server, running
from tests.fakes.smtp import SmtpServer

SETTINGS: Final = "config.settings"
_LINK: Final = re.compile(r"http://127\.0\.0\.1:\d+/r/\S+/")


class Shop:
    """One agent `shop` with an email channel. `server` may be stopped and started again."""

    def __init__(self, folder: Path, database_url: str, smtp: SmtpServer, **environ: str) -> None:
        self.smtp = smtp
        self.port = programs.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._database_url = database_url
        self._environ = {
            "DATABASE_URL": database_url,
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "EMAIL_URL": smtp.url,
            "PUBLIC_BASE_URL": self.url,
            **environ,
        }
        folder.mkdir(mode=0o700)
        self.manage("prepare")
        self.token: str = self.made("new_agent", "shop")["token"]
        config = {"to": "sales@example.org", "estimated_response": "within 1 business day"}
        channel = ["--kind", "email", "--label", "Sales support", "--config", json.dumps(config)]
        self.channel: int = self.made("new_channel", "--agent", "shop", *channel)["channel_id"]

    def manage(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=environment.ROOT,
            env=environment.clean_environment(self._folder) | self._environ,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout

    def made(self, *arguments: str) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(self.manage(*arguments, "--json"))
        return made

    @contextlib.contextmanager
    def served(self) -> Iterator[Server]:
        """Ready until the end of the block, then killed."""
        with running(
            self._folder,
            self._database_url,
            settings=SETTINGS,
            port=self.port,
            environ=self._environ,
        ) as server:
            yield server

    def mailed_link(self, number: int = 1) -> str:
        found = _LINK.search(self.smtp.wait_for_message(number=number).text)
        assert found is not None
        return found[0]


@contextlib.contextmanager
def shop(folder: Path, database_url: str, **environ: str) -> Iterator[Shop]:
    """Prepared, and not started yet; `environ` adds to its settings."""
    with SmtpServer() as smtp:
        yield Shop(folder, database_url, smtp, **environ)
