"""The demo as `bin/run` starts it, with a mail server beside it, for tests that tell a story."""

import contextlib
import dataclasses
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect

from tests import environment, programs
from tests.config.servers import Server, running
from tests.fakes.smtp import SmtpServer

SETTINGS: Final = "config.settings"
_LINK: Final = re.compile(r"http://127\.0\.0\.1:\d+/r/\S+/")


@dataclasses.dataclass(frozen=True)
class Demo:
    """A running demo: its servers share one database; the chat is on the first."""

    servers: tuple[Server, ...]
    smtp: SmtpServer

    def address(self, path: str, *, server: int = 0) -> str:
        return f"http://127.0.0.1:{self.servers[server].port}{path}"

    def mailed_link(self, *, number: int = 1, server: int = 0) -> str:
        """The return link in a mail, as the people behind one of the servers open it."""
        found = _LINK.search(self.smtp.wait_for_message(number=number).text)
        assert found is not None
        own = f"//127.0.0.1:{self.servers[server].port}/"
        return re.sub(r"//127\.0\.0\.1:\d+/", own, found[0])


@contextlib.contextmanager
def demo(folder: Path, database_url: str, *, servers: int = 1, **more: str) -> Iterator[Demo]:
    """Prepared and started; the further servers have no bot of their own."""
    port = programs.free_port()
    with SmtpServer() as smtp, contextlib.ExitStack() as stack:
        shared = {
            "EMAIL_URL": smtp.url,
            "PUBLIC_BASE_URL": f"http://127.0.0.1:{port}",
            "SECRET_KEY": "one key for all the processes of this deployment",
            "HANDOFF_ENCRYPTION_KEYS": "A" * 43 + "=",
            **more,
        }
        first = {**shared, "HANDOFF_DEMO": "1"}
        _prepare(folder, {**first, "DATABASE_URL": database_url})
        started = [
            stack.enter_context(
                running(folder, database_url, settings=SETTINGS, port=port, environ=first)
            )
        ]
        for number in range(1, servers):
            beside = folder.with_name(f"{folder.name}-{number}")
            _prepare(beside, {**shared, "DATABASE_URL": database_url})
            started.append(
                stack.enter_context(
                    running(beside, database_url, settings=SETTINGS, environ=shared)
                )
            )
        yield Demo(tuple(started), smtp)


def _prepare(folder: Path, environ: dict[str, str]) -> None:
    folder.mkdir(mode=0o700)
    subprocess.run(
        [sys.executable, "manage.py", "prepare"],
        cwd=environment.ROOT,
        env=environment.clean_environment(folder) | environ,
        check=True,
        capture_output=True,
        timeout=120,
    )


def say(page: Page, text: str) -> None:
    """Type a line into the chat and send it."""
    box = page.get_by_role("textbox", name="Message")
    expect(box).to_be_enabled()
    box.fill(text)
    box.press("Enter")
