"""One desk on one set of data: servers of it come and go, the data stays."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.conf import settings

from tests import environment
from tests.config.servers import Server
from tests.reliability.desks import UNLIMITED
from tests.reliability.doors import Doors, Seed
from tests.reliability.outside import broken, clocks, points
from tests.reliability.rows import Rows

SETTINGS: Final = "tests.reliability.outside.settings"


class Place:
    """The folder and the database of a desk."""

    def __init__(self, folder: Path, database_url: str, *, smtp_url: str = "smtp://127.0.0.1:9"):
        folder.mkdir(exist_ok=True)
        self.kill_file = folder / "kill"
        self._folder = folder
        self._environ = {
            **environment.clean_environment(folder),
            **UNLIMITED,
            "DATABASE_URL": database_url,
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "SECRET_KEY": settings.SECRET_KEY,  # a test signs return links
            "HANDOFF_WATCHER": "0",
            "HANDOFF_COLLECT_SECONDS": "0.1",
            points.VARIABLE: str(self.kill_file),
        }
        self.rows = Rows(database_url)
        self.seed = self._seed(smtp_url)
        self.logs: list[Path] = []
        self._servers: list[Server] = []

    def _seed(self, smtp_url: str) -> Seed:
        made = subprocess.run(
            [sys.executable, "-m", "tests.reliability.seed", smtp_url],
            cwd=environment.ROOT,
            env=self._environ,
            capture_output=True,
            check=True,
            timeout=120,
        )
        return Seed(**json.loads(made.stdout))

    def start(self, *, short_clocks: bool = False, **environ: str) -> Server:
        """A server that is not waited for."""
        log = self._folder / f"server-{len(self.logs)}.log"
        self.logs.append(log)
        short = {clocks.VARIABLE: "1"} if short_clocks else {}
        server = Server({**self._environ, **short, **environ}, log)
        self._servers.append(server)
        return server

    @property
    def server(self) -> Server:
        """The youngest one that runs."""
        return self._servers[-1]

    def stop(self) -> None:
        """Kill whatever still runs."""
        while self._servers:
            process = self._servers.pop().process
            if process.poll() is None:
                process.kill()
            process.wait(10)

    @contextlib.contextmanager
    def serving(self, *, variant: str = "", **environ: str) -> Iterator[Doors]:
        """The doors of a server that runs for the block, killed at its end."""
        environ[broken.VARIABLE] = variant
        try:
            server = self.start(short_clocks=False, **environ)
            server.wait_until_ready()
            yield Doors(server.port, self.seed)
        finally:
            self.stop()

    def tracebacks(self) -> list[str]:
        """The logs of its servers that hold one."""
        return [
            text
            for text in (log.read_text(errors="replace") for log in self.logs)
            if "Traceback (most recent call last)" in text
        ]
