"""A real server process for a test: started, asked, looked at, stopped."""

import contextlib
import http.client
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests import environment, programs

START_SECONDS: Final = 30.0
PROBE: Final = "tests.config.probe.settings"


class Server:
    """`python -m config.serve` on a free port of 127.0.0.1."""

    def __init__(self, environ: dict[str, str], log: Path, *, port: int | None = None) -> None:
        self.port = port or programs.free_port()
        self.log_path = log
        with log.open("wb") as written:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "config.serve", "--port", str(self.port)],
                cwd=environment.ROOT,
                env=environ,
                stdout=written,
                stderr=written,
            )

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.get("/readyz")[0] == 200:
                    return
            time.sleep(0.05)
        raise AssertionError("the server did not become ready:\n" + self.log())

    def get(
        self, path: str, *, timeout: float = 30.0, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Status and body, on a connection of its own."""
        with contextlib.closing(self.connection(timeout)) as connection:
            connection.request("GET", path, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.read()

    def connection(self, timeout: float = 30.0) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float) -> int:
        """The exit code."""
        return self.process.wait(seconds)

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def figure(self, name: str) -> int:
        """A number of /proc: `Threads`, or `VmRSS` in kB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
        assert found is not None
        return int(found[1])


@contextlib.contextmanager
def running(
    folder: Path,
    database_url: str,
    *,
    settings: str = PROBE,
    port: int | None = None,
    environ: Mapping[str, str] | None = None,
    **more: str,
) -> Iterator[Server]:
    """A ready server that keeps its state in `folder`; killed at the end if it still runs."""
    folder.mkdir(exist_ok=True)
    whole = environment.clean_environment(folder) | {
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": settings,
        **(environ or {}),
        **more,
    }
    server = Server(whole, folder / "server.log", port=port)
    try:
        server.wait_until_ready()
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait(10)
