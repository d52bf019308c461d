"""Processes of one deployment that are restarted one after the other, with other settings."""

import contextlib
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from types import TracebackType
from typing import Self

from tests import environment, programs
from tests.config.servers import Server, running
from tests.reliability.desks import SETTINGS, UNLIMITED


class Fleet:
    """So many processes at ports that stay the same."""

    def __init__(self, folder: Path, database_url: str, count: int) -> None:
        self._folder = folder
        self._database_url = database_url
        self._ports = [programs.free_port() for _ in range(count)]
        self._stacks = [contextlib.ExitStack() for _ in range(count)]
        self.servers: list[Server] = []
        self.logs: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for stack in self._stacks:
            stack.close()

    def start(self, environ: Mapping[str, str]) -> None:
        self.servers = [self._started(place, environ) for place in range(len(self._ports))]

    def restart(self, environ: Mapping[str, str]) -> None:
        """One after the other; each drains before it ends."""
        for place, server in enumerate(self.servers):
            server.terminate()
            assert server.wait(30) == 0
            self.logs.append(server.log())
            self._stacks[place].close()
            self.servers[place] = self._started(place, environ)

    def manage(self, *arguments: str, **environ: str) -> str:
        """What a command of `manage.py` says."""
        finished = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=environment.ROOT,
            env=environment.clean_environment(self._folder)
            | {"DATABASE_URL": self._database_url, **environ},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return finished.stdout

    def _started(self, place: int, environ: Mapping[str, str]) -> Server:
        folder = self._folder / f"process-{place}"
        os.makedirs(folder, exist_ok=True)
        whole = {**UNLIMITED, **environ}
        return self._stacks[place].enter_context(
            running(
                folder,
                self._database_url,
                settings=SETTINGS,
                port=self._ports[place],
                environ=whole,
            )
        )


@contextlib.contextmanager
def visiting(fleet: Fleet, paths: Sequence[str]) -> Iterator[Counter[int]]:
    """Fetches the paths at every process over and over; counts the answers by status.

    `paths` may grow meanwhile. Whoever does not answer at the moment is passed over.
    """
    statuses: Counter[int] = Counter()
    stopped = threading.Event()

    def visit() -> None:
        while not stopped.wait(0.02):
            for server in list(fleet.servers):
                for path in list(paths):
                    with contextlib.suppress(OSError, HTTPException):
                        statuses[server.get(path, timeout=5)[0]] += 1

    thread = threading.Thread(target=visit)
    thread.start()
    try:
        yield statuses
    finally:
        stopped.set()
        thread.join()
